#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace print.
. "${srcdir:-.}/tests/tool/lib.sh"

bad_files print
fails 2 'takes one file' print
fails 2 'takes one file' print a b
fails 2 '--format takes' print --format xml "$scratch/empty"
fails 2 'no column' print --columns time,nonsense "$scratch/empty"
fails 2 'no column ""' print --columns '' "$scratch/empty"
fails 2 'no column ""' print --columns time,,data "$scratch/empty"
fails 2 'a ) is missing' print -f '(event:a' "$scratch/empty"
fails 2 'a value is missing, at its end' print -f 'event:' "$scratch/empty"
fails 2 'no such field' print -f 'thraed:a' "$scratch/empty"
fails 2 'is empty' print -f '"lock:wait" or event:lock:wait' "$scratch/empty"
fails 2 'nested too deeply' print -f "$(printf '%0100000d' 0 | tr 0 '(')" "$scratch/empty"
fails 2 'is empty' print -f "$(printf '%099d' 0 | tr 0 '(')a$(printf '%099d' 0 | tr 0 ')')" "$scratch/empty"
fails 2 'a number is missing' print -f 'cpu=x' "$scratch/empty"
fails 2 'more text after the expression' print -f 'a)' "$scratch/empty"
fails 2 'is not a time' print --from soon "$scratch/empty"
fails 2 'needs an argument' print --from

fails 2 'a number is missing' print -f 'data.owner>x' "$scratch/empty"
fails 2 'a value is missing' print -f 'data.owner=' "$scratch/empty"

for option in limit tail; do
	for number in 0 -1 x 1x '' 99999999999999999999; do
		fails 2 "--$option takes a number of events" print --$option="$number" "$scratch/empty"
	done
done

# The first events and the last ones, of those that the filter selects.
"$mktrx" <"$top/tests/data/threadx.txt" >"$scratch/limits.trx"
for filter in '*' 'event:*MUTEX*' 'event:nothing'; do
	"$tool" print --format csv -f "$filter" "$scratch/limits.trx" | sed 1d >"$scratch/rows"
	for number in 1 2 7 222 223 224 100000; do
		nr_checks=$((nr_checks + 3))
		head -n $number "$scratch/rows" >"$scratch/expected"
		"$tool" print --format csv -f "$filter" --limit $number "$scratch/limits.trx" | sed 1d |
			cmp -s - "$scratch/expected" || complain "--limit $number -f $filter prints other events"
		tail -n $number "$scratch/rows" >"$scratch/expected"
		"$tool" print --format csv -f "$filter" --tail $number "$scratch/limits.trx" 2>/dev/null | sed 1d |
			cmp -s - "$scratch/expected" || complain "--tail $number -f $filter prints other events"
		head -n 2 "$scratch/expected" >"$scratch/both"
		"$tool" print --format csv -f "$filter" --tail $number --limit 2 "$scratch/limits.trx" | sed 1d |
			cmp -s - "$scratch/both" || complain "--tail $number --limit 2 -f $filter prints other events"
	done
done

# The places where the program called the trace system: a function, and a line of it with such a call.
make_log=$(dirname "$tool")/../tests/tool/make_log
"$make_log" "$scratch/own.trx" whole || complain 'make_log fails'
nr_checks=$((nr_checks + 1))
"$tool" print --format csv --columns where -f 'step_*' "$scratch/own.trx" | tail -n +2 | tr -d '\r"' >"$scratch/where"
[ -s "$scratch/where" ] || complain 'there is no column where'
fails 2 'no call and no described event type has the field' print -f 'data.nonsense=1' "$scratch/own.trx"
fails 2 'no call and no described event type has the field' print -f 'a or not data.Mutex=1' "$scratch/own.trx"
if "$tool" print --columns where "$scratch/own.trx" 2>&1 | grep -q 'make_log.c:'; then
	while read -r where; do
		line=$(expr "$where" : 'work+0x[0-9a-f]* (make_log.c:\([0-9]*\))')
		sed -n "${line:-1},+2p" "$top/tests/tool/make_log.c" | grep -q posix_trace_event ||
			complain "nothing is traced at '$where'"
	done <"$scratch/where"
else
	# Without libdw, the tool prints the file.
	grep -qv '^\(lt-\)\{0,1\}make_log+0x[0-9a-f]*$' "$scratch/where" &&
		complain "where is $(sort -u "$scratch/where")"
fi

# Names from a hostile file: in a file, CSV keeps their bytes; on a terminal, it makes them harmless.
mklog=$(dirname "$tool")/../tests/tool/mklog
hostile=$(printf 'a\033[3m\233\377\303\251')
"$mklog" "$scratch/hostile.trx" 3 4 "$hostile" || complain 'mklog fails'
csv="print --format csv --columns thread -f even_step $scratch/hostile.trx"
nr_checks=$((nr_checks + 2))
# shellcheck disable=SC2086
"$tool" $csv | grep -aqF -e "$hostile" ||
	complain "a file of CSV has not the bytes of the name: $("$tool" $csv | cat -v)"
if has_program script 'output on a terminal'; then
	PAGER=cat script -qec "'$tool' $csv" /dev/null </dev/null >"$scratch/out"
	grep -aqF -e "$(printf 'a?[3m??\303\251')" "$scratch/out" || complain "on a terminal: $(cat -v "$scratch/out")"
	LC_ALL=C grep -aq "$(printf '[\033\233\377]')" "$scratch/out" && complain 'a terminal gets control characters'
	# A pager that cannot be started takes no output away.
	nr_checks=$((nr_checks + 1))
	PAGER=/nonexistent script -qec "'$tool' $csv" /dev/null </dev/null >"$scratch/out" || complain 'no pager is a failure'
	grep -aqF -e "$(printf 'a?[3m??\303\251')" "$scratch/out" && grep -q '/nonexistent: not found' "$scratch/out" ||
		complain "without a pager: $(cat -v "$scratch/out")"
fi

# The calls of a preloaded program: their fields, in all formats and in filters.
if own_preload; then
	# The program waits until the recorder has inspected it.  No output shows this, so if a pause was too short, try
	# a longer one.
	for pause in 0.5 2 8 32; do
		rm -f "$scratch/gate"
		(
			sleep "$pause"
			: >"$scratch/gate"
		) &
		"$tool" record --preload --force -q -o "$scratch/calls.trx" -- "$plain" 2 "$scratch/gate"
		! "$tool" info --modules "$scratch/calls.trx" | grep -q 'libc\.so' || break
	done
	cat >"$scratch/expected" <<'END'
event,data
pthread_mutex_lock,mutex=0xX owner=0 count=0 result=0
pthread_mutex_unlock,mutex=0xX owner=N count=1 result=0
pthread_mutex_lock,mutex=0xX owner=0 count=0 result=0
pthread_mutex_unlock,mutex=0xX owner=N count=1 result=0
END
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns event,data -f 'pthread_mutex_*' "$scratch/calls.trx" | tr -d '"\r' |
		sed -e 's/mutex=[^ ]*/mutex=0xX/' -e 's/owner=plain [0-9]*/owner=N/' >"$scratch/fields"
	cmp -s "$scratch/expected" "$scratch/fields" ||
		complain "fields of calls: $(diff "$scratch/expected" "$scratch/fields")"
	# If symbols can be read, a global object has its own name; otherwise it has the name of the place that used it
	# first.
	name=plain+0x
	if "$tool" print --columns where "$scratch/calls.trx" | grep -q '^main'; then
		name=queue_lock
	fi
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns data -f pthread_mutex_lock "$scratch/calls.trx" | grep -qF "mutex=$name" ||
		complain "the mutex is not called $name: $("$tool" info --objects "$scratch/calls.trx" | tail -3)"
	"$tool" info --objects "$scratch/calls.trx" |
		grep -Eq "^[0-9a-f]{8}   mutex .* $name.* 0x[0-9a-f]* +(main|plain)\\+0x" ||
		complain "info --objects has no mutex $name: $("$tool" info --objects "$scratch/calls.trx" | tail -3)"
	# takes NUMBER FILTER
	takes()
	{
		nr_checks=$((nr_checks + 1))
		taken=$("$tool" print --format csv --columns event -f "$2" "$scratch/calls.trx" | tail -n +2 | wc -l)
		[ "$taken" -eq "$1" ] || complain "$2 takes $taken events, not $1"
	}
	takes 4 'pthread_mutex_* data.mutex!=0'
	takes 4 "data.mutex:$name*"
	takes 0 'data.mutex:nothing'
	takes 2 'pthread_mutex_* data.owner=0'
	takes 2 'data.owner>0 and data.count<=1'
	takes 4 'pthread_mutex_* data.result:0'
	takes 4 'pthread_mutex_* data.result!=EBUSY'
	takes 0 'data.result:E*'
	takes 0 'pthread_mutex_* data.readers>=0'
	if has_program python3 'fields of calls in JSON'; then
		"$tool" print --format json -f 'pthread_mutex_*' "$scratch/calls.trx" >"$scratch/json"
		python3 - "$scratch/json" <<'END' || complain 'fields of calls in JSON'
import json, sys
for event in json.load(open(sys.argv[1])):
    fields = event["data"]
    assert list(fields) == ["mutex", "owner", "count", "result", "object"], fields
    assert isinstance(fields["mutex"], str) and fields["result"] == 0 and (fields["owner"] > 0) == (fields["count"] == 1)
END
	fi

	# A call that waits: its result is known when it has ended.
	cat >"$scratch/waits.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return argument;
}
int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, work, NULL);
	usleep(300000);
	pthread_mutex_unlock(&lock);
	return pthread_join(thread, NULL);
}
END
	${CC:-cc} -g -pthread "$scratch/waits.c" -o "$scratch/waits"
	"$tool" record --preload -q -o "$scratch/waits.trx" -- "$scratch/waits"
	cat >"$scratch/expected" <<'END'
pthread_mutex_lock,mutex=X owner=0 count=0 result=0
pthread_mutex_lock,mutex=X owner=T count=1 wait=begins
pthread_mutex_unlock,mutex=X owner=T count=1 result=0
pthread_mutex_lock,mutex=X owner=0 count=0 result=0 wait=ends
pthread_mutex_unlock,mutex=X owner=T count=1 result=0
END
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns event,data -f 'pthread_mutex_*' "$scratch/waits.trx" | tail -n +2 |
		tr -d '"\r' | sed -e 's/mutex=[^ ]*/mutex=X/' -e 's/owner=waits [0-9]*/owner=T/' >"$scratch/fields"
	cmp -s "$scratch/expected" "$scratch/fields" ||
		complain "a call that waits: $(diff "$scratch/expected" "$scratch/fields")"
fi

make_samples
golden print-threadx print -f "number<60" "$samples/threadx.trx"
golden print-netx.csv print --format csv -f "number<50" "$samples/netx_tcp.trx"
golden print-filex.jsonl print --format jsonl -f "number<50" --tick 100 "$samples/filex.trx"
golden print-range print --from 10ms --until 0.02s "$samples/threadx.trx"
golden print-threadx print -f "number<60" --from 0001-01-01 --until 9999-12-31 "$samples/threadx.trx"
nr_checks=$((nr_checks + 1))
"$tool" print --format csv --from 9999-12-31 "$samples/threadx.trx" | tail -n +2 | grep -q . &&
	complain 'there are events in the year 9999'
golden print-filter print -f '(*MUTEX_PUT or *QUEUE_SEND) not thread:control and number<100' "$samples/threadx.trx"
golden print-object print -f 'object:samples and u32[12]<1' --columns number,time,thread,event,data \
	"$samples/threadx.trx"
golden print-columns print --columns \
	number,time,delta,clock,ns,cpu,pid,thread,context,priority,event,type,address,size,cut,data,hex \
	-f 'number>=30 and number<36' "$samples/netx_udp.trx"
golden print-nothing print -f 'event:nothing' --format json "$samples/threadx.trx"

# The JSON is valid, and CSV has the same number of fields in each row.
if has_program python3 'print --format json is JSON, and csv is CSV'; then
	for sample in "$samples"/*.trx; do
		"$tool" print --format json "$sample" >"$scratch/json"
		"$tool" print --format csv "$sample" >"$scratch/csv"
		python3 - "$scratch/json" "$scratch/csv" <<'END' || complain "$sample: JSON or CSV cannot be read"
import csv, json, sys
events = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2], newline='')))
assert len(events) == len(rows) > 0
for event, row in zip(events, rows):
    assert row.keys() == event.keys() and None not in row
    assert int(row["ns"]) == event["ns"] and row["hex"] == event["hex"] and row["data"] == event["data"]
END
	done
fi

# A name never sends a control sequence to the terminal; the JSON has the exact name.
printf 'object 1 0x1000 5 a\033[2J\177\302\2330\nevent 0x1000 20 1\n' | "$mktrx" >"$scratch/odd.trx" ||
	complain 'mktrx fails'
for format in text json jsonl; do
	nr_checks=$((nr_checks + 1))
	"$tool" print --format "$format" "$scratch/odd.trx" >"$scratch/out" || complain "print --format $format fails"
	LC_ALL=C grep -q "$(printf '[\033\177\233]')" "$scratch/out" && complain "print --format $format gives orders"
done
grep -qF 'a\u001b[2J\u007f\u009b0' "$scratch/out" || complain "JSON has another name: $(cat "$scratch/out")"

# print -o overwrites an existing file only with --force, and leaves nothing after a failure.
"$tool" print -f "number<60" -o "$scratch/file" "$samples/threadx.trx" || complain 'print -o fails'
cmp -s "$scratch/file" "$golden_dir/print-threadx" || complain 'print -o writes something else'
fails 2 'exists' print -f "number<60" -o "$scratch/file" "$samples/threadx.trx"
"$tool" print --force -o "$scratch/file" "$samples/netx_tcp.trx" || complain 'print --force fails'
cmp -s "$scratch/file" "$golden_dir/print-threadx" && complain 'print --force does not overwrite'
[ "$(find "$scratch" -maxdepth 1 -name 'file*' | wc -l)" -eq 1 ] || complain 'print -o leaves a part of a file'
cp "$samples/threadx.trx" "$scratch/own.trx"
for command in print report; do
	fails 2 'is an input file' "$command" --force -o "$scratch/own.trx" "$scratch/own.trx"
done
cmp -s "$samples/threadx.trx" "$scratch/own.trx" || complain 'a trace is written over'
# A signal leaves no file either if the system has files without a name. Here the signal of a limit comes in the middle
# of a write.
if python3 -c 'import os, sys; os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR)' "$scratch" 2>/dev/null; then
	nr_checks=$((nr_checks + 1))
	(ulimit -f 16 && exec "$tool" print --force -o "$scratch/file" "$samples/threadx.trx") 2>/dev/null &&
		complain 'there is no limit'
	[ "$(find "$scratch" -maxdepth 1 -name 'file*' | wc -l)" -eq 1 ] || complain 'a signal leaves a part of a file'
fi
if [ -w /dev/full ]; then
	"$tool" print "$samples/threadx.trx" >/dev/full 2>"$scratch/err" && complain 'no error for a full device'
	grep -q 'No space' "$scratch/err" || complain "the message for a full device is: $(cat "$scratch/err")"
fi

# Ctrl-C goes to the pager, which has the terminal until it ends.
if has_program python3 'Ctrl-C in a pager'; then
	nr_checks=$((nr_checks + 1))
	PAGER='trap "" INT; echo begin; cat >/dev/null; sleep 0.5; echo end' \
		python3 - "$tool" print "$samples/threadx.trx" >"$scratch/out" 2>&1 <<'END' ||
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
while True:
    try:
        bytes = os.read(terminal, 4096)
    except OSError:
        break
    if not bytes:
        break
    if b"begin" not in said and b"begin" in said + bytes:
        os.write(terminal, b"\x03")
    said += bytes
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert code == 0 and b"end" in said, (code, said)
END
		complain "Ctrl-C in a pager: $(cat "$scratch/out")"
fi

# A reader may close the pipe early.
"$tool" print "$samples/threadx.trx" 2>"$scratch/err" | head -1 >/dev/null
[ ! -s "$scratch/err" ] || complain "print | head says: $(cat "$scratch/err")"
# Names that are not ASCII: unchanged if the character set of the user has them, and aligned in columns.
"$(pwd)/tests/tool/mklog" "$scratch/utf8.trx" 2 8 "$(printf 'w\303\266rker\001\342\200\256')" || complain 'mklog fails'
nr_checks=$((nr_checks + 1))
"$tool" print --columns thread,event -f 'event:*step' "$scratch/utf8.trx" 2>/dev/null |
	sed 's/ [0-9]*  */|/' >"$scratch/out"
sed -n 2p "$scratch/out" | grep -qF 'w??rker????|' || complain "not ASCII: $(cat "$scratch/out")"
if locale -a 2>/dev/null | grep -qix 'C.utf-\{0,1\}8'; then
	nr_checks=$((nr_checks + 2))
	LC_ALL=C.UTF-8 "$tool" print --columns thread,event,number -f 'event:*step' "$scratch/utf8.trx" \
		>"$scratch/out" 2>/dev/null
	sed -n 2p "$scratch/out" | grep -q "^$(printf 'w\303\266rker')?? [0-9]*  even_step" ||
		complain "UTF-8: $(cat "$scratch/out")"
	sed 's/\xc3\xb6/o/' "$scratch/out" | awk '{ print length($0) }' | uniq | wc -l | grep -qx 1 ||
		complain "UTF-8 is not aligned: $(cat "$scratch/out")"
else
	echo 'SKIP names in UTF-8: there is no locale C.UTF-8'
fi

# Times of a log need more digits than a double has.
nr_checks=$((nr_checks + 2))
"$tool" print --format jsonl --columns ns,event "$scratch/utf8.trx" 2>/dev/null |
	sed 's/"ns":\([0-9]*\)/"ns":"\1"/' >"$scratch/expected"
"$tool" print --format jsonl --columns ns,event --ns=string "$scratch/utf8.trx" 2>/dev/null |
	cmp -s "$scratch/expected" - ||
	complain '--ns=string is not ns as a string'
"$tool" export --to jsonl --columns ns,event --ns=string -o - "$scratch/utf8.trx" 2>/dev/null |
	cmp -s "$scratch/expected" - ||
	complain 'export --ns=string is not ns as a string'
fails 2 '--ns takes number or string' print --ns=word "$scratch/utf8.trx"
fails 2 '--to csv has no --ns' export --to csv --ns=string "$scratch/utf8.trx"
# The data of a START event is a set of types: those that are not recorded.
nr_checks=$((nr_checks + 2))
"$tool" print --columns event,data -f posix_trace_start "$scratch/utf8.trx" 2>/dev/null |
	grep -qx 'posix_trace_start  *filter=none' ||
	complain 'a START without a filter does not say so'
own_streams
"$tool" record --quiet -e nothing -o "$scratch/filtered.trx" -- "$subject" -n 2 2>"$scratch/err" ||
	complain "record: $(cat "$scratch/err")"
"$tool" print --columns event,data -f posix_trace_start "$scratch/filtered.trx" 2>/dev/null |
	grep -q '^posix_trace_start  *filter=posix_trace_unnamed_userevent,tick,tock and [0-9]* without a name$' ||
		complain 'a START does not say its filter'

# Times as in RFC 3339, in UTC and with the local zone, and as seconds since 1970.  Each of them is taken as an
# argument.
fails 2 '--time takes relative, utc, local or epoch' print --time=noon "$scratch/utf8.trx"
clock()
{
	TZ=$zone "$tool" print --columns time --time="$1" "$scratch/utf8.trx" 2>/dev/null | sed -e 1d -e 's/ //g'
}
"$tool" print --format csv --columns ns "$scratch/utf8.trx" 2>/dev/null | tr -d '\r' | sed 1d >"$scratch/ns"
for zone in UTC XYZ-5:30 XYZ+3; do
	nr_checks=$((nr_checks + 3))
	clock epoch | tr -d . | cmp -s - "$scratch/ns" || complain "--time=epoch in $zone: $(clock epoch | head -3)"
	for style in utc local; do
		clock $style | head -5 | while read -r time; do date -d "$time" +%s%N; done >"$scratch/found"
		head -5 "$scratch/ns" | cmp -s - "$scratch/found" ||
			complain "--time=$style in $zone: $(clock $style | head -3)"
	done
	number=1
	for style in utc local epoch; do
		nr_checks=$((nr_checks + 1))
		time=$(clock $style | sed -n "$((number + 1))p")
		[ "$("$tool" print --format csv --columns number --from "$time" --limit 1 "$scratch/utf8.trx" 2>/dev/null | tr -d '\r' |
			tail -1)" = $number ] || complain "--from $time does not begin with event $number"
	done
done
nr_checks=$((nr_checks + 4))
clock utc | head -1 | grep -qE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z$' ||
	complain "not RFC 3339: $(clock utc | head -1)"
zone=XYZ-5:30
clock local | head -1 | grep -qE '\.[0-9]{9}\+05:30$' || complain "not RFC 3339: $(clock local | head -1)"
"$tool" print --time=utc --format csv "$scratch/utf8.trx" 2>/dev/null >"$scratch/found"
"$tool" print --format csv "$scratch/utf8.trx" 2>/dev/null | cmp -s - "$scratch/found" || complain '--time changes CSV'
"$tool" print --time=utc "$samples/threadx.trx" >"$scratch/found" 2>/dev/null
"$tool" print "$samples/threadx.trx" 2>/dev/null | cmp -s - "$scratch/found" ||
	complain '--time gives a ThreadX buffer a date'
for time in 2026-11-21T12:30:01Q 2026-11-21T12:30:01+5 2026-11-21T12:30:01+25:00 12345678 123456789x 1795595463.5.5; do
	fails 2 'is not a time such as' print --from "$time" "$scratch/utf8.trx"
done
nr_checks=$((nr_checks + 1))
"$tool" print --format csv --until 999999999999999999 "$samples/threadx.trx" 2>/dev/null >"$scratch/found"
"$tool" print --format csv "$samples/threadx.trx" 2>/dev/null | cmp -s - "$scratch/found" ||
	complain 'a late time is not after all events'

# The last event first.
for format in text csv jsonl; do
	nr_checks=$((nr_checks + 2))
	head=$([ $format = jsonl ] && echo 0 || echo 1)
	"$tool" print --format $format "$scratch/limits.trx" >"$scratch/rows"
	{ head -n "$head" "$scratch/rows"; tail -n "+$((head + 1))" "$scratch/rows" | tac; } >"$scratch/expected"
	"$tool" print --format $format --reverse "$scratch/limits.trx" | cmp -s "$scratch/expected" - ||
		complain "--reverse as $format"
	"$tool" print --format $format --columns number,event --reverse --limit 3 "$scratch/limits.trx" \
		>"$scratch/found"
	"$tool" print --format $format --columns number,event --reverse "$scratch/limits.trx" |
		head -n "$((head + 3))" | cmp -s - "$scratch/found" ||
		complain "--reverse --limit as $format"
done
nr_checks=$((nr_checks + 2))
"$tool" print --format json --reverse --columns number "$scratch/limits.trx" |
	sed -e '/^[][]$/d' -e 's/,$//' >"$scratch/found"
"$tool" print --format jsonl --reverse --columns number "$scratch/limits.trx" | cmp -s - "$scratch/found" ||
	complain '--reverse as json'
[ "$("$tool" print --format csv --columns number --reverse --tail 5 --limit 2 "$scratch/limits.trx" | sed 1d)" = \
	"$("$tool" print --format csv --columns number --reverse --limit 2 "$scratch/limits.trx" | sed 1d)" ] ||
		complain '--reverse --tail --limit'

# A filter that takes nothing names what the trace does not have.  A field that there is not is an error.
says()
{
	expected=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" print "$@" >"$scratch/out" 2>"$scratch/err" || complain "print $* fails"
	grep -qF "$expected" "$scratch/err" || complain "print $* does not say '$expected': $(cat "$scratch/err")"
}
orders=$(dirname "$tool")/../tests/tool/orders
"$orders" "$scratch/orders.trx" >/dev/null || complain 'orders fails'
says 'no event matches the filter' -f ordr "$scratch/orders.trx"
says 'the trace has no event type ordr; like it are order' -f ordr "$scratch/orders.trx"
says 'the trace has no thread oders; like it are orders' -f 'thread:oders' "$scratch/orders.trx"
says 'the trace has no object lock' -f 'object:lock' "$scratch/orders.trx"
says 'no event is in this range of times; the last event is 0.' --from 1h "$scratch/orders.trx"
for range in '2s 1s' '1ms 1ms' '2026-11-21T12:30 2026-11-21T12:29' '12:30 12:29:59.9'; do
	fails 2 'no time is in the range: --from is not before --until' print --from "${range% *}" \
		--until "${range#* }" "$scratch/orders.trx"
done
says 'no event in this range of times matches the filter' --from 1h -f order "$scratch/orders.trx"
nr_checks=$((nr_checks + 4))
"$tool" print -f order "$scratch/orders.trx" 2>&1 | grep -q 'no event' && complain 'a filter that matches is reported'
[ "$("$tool" print --format csv -f thread:orders "$scratch/orders.trx" 2>/dev/null | wc -l)" -gt 200 ] ||
	complain 'a thread without its tid is not found'
[ "$("$tool" print --format csv -f 'thread!=orders and event=order' "$scratch/orders.trx" 2>/dev/null |
	wc -l)" -eq 1 ] ||
	complain 'a thread without its tid is not left out'
"$tool" waits -f ordr "$scratch/orders.trx" 2>&1 | grep -q 'no event type ordr' ||
	complain 'waits does not report a filter that takes nothing'
for filter in 'f64[8]>2.0' 'Event=order' 'a.b=1' 'thraed:x' 'dta.load > 3' 'thraed : x'; do
	fails 2 'there is no such field' print -f "$filter" "$scratch/orders.trx"
done
finish
