#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace merge makes a log: of several hosts, whose processes have the same pids, of many files, and of damaged ones.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
check=${PERFETTO_CHECK:-$(pwd)/tests/tool/perfetto_check}
cd "$scratch" || exit 99
mklog=$(dirname "$tool")/../tests/tool/mklog

rows()
{
	columns=$1
	shift
	"$tool" print --format csv --columns "$columns" "$@" | tail -n +2 | tr -d '\r'
}

merge()
{
	nr_checks=$((nr_checks + 1))
	"$tool" merge --force "$@" 2>err || complain "merge $*: $(cat err)"
}

"$mklog" a.trx 100 24 worker || complain 'no log could be written'
cp a.trx b.trx
on_host a.trx alpha 1
on_host b.trx beta 2
merge -o m.trx a.trx b.trx
nr_checks=$((nr_checks + 4))
"$tool" check --strict m.trx >checked || complain "TraceX does not accept the merged log: $(cat checked)"

# Each host has the events of its log. The processes with one pid are two.
rows ns,cpu,pid,thread,event,size,hex a.trx >expected
rows ns,cpu,pid,thread,event,size,hex -f host=alpha m.trx >got
cmp -s expected got || complain "the events of the first host: $(diff expected got | head -4)"
rows ns,cpu,pid,event,size,hex a.trx | awk -F, -v OFS=, '{ $2 += 10000; $3 += 10000000; print }' >expected
rows ns,cpu,pid,event,size,hex -f host=beta m.trx >got
cmp -s expected got || complain "the events of the second host: $(diff expected got | head -4)"
# shellcheck disable=SC2046  # pid and tid of the thread of each host
set -- $("$tool" info --objects a.trx | awk '$2 == "thread" && /worker/ { print $4, $5 }') $(
	"$tool" info --objects m.trx | awk '$2 == "thread" && /worker/ { print $4, $5, $NF }')
[ "$1 $2 $2" = "$3 $4 $5" ] && [ "$(($1 + 10000000)) $(($2 + 10000000)) $(($2 + 10000000))" = "$6 $7 $8" ] ||
	complain "the threads of two hosts: $*"

# The names of the hosts are shown where there are several.
nr_checks=$((nr_checks + 9))
"$tool" print m.trx | head -1 | grep -q ' host ' || complain 'print does not show the host'
[ "$("$tool" print --columns all --format csv m.trx | head -1 | tr -d '\r')" = \
	'number,ns,time,delta,clock,host,cpu,pid,thread,context,priority,event,type,address,size,cut,data,hex' ] ||
	complain 'all columns are without the host'
"$tool" export --to csv --force -o m.csv m.trx && head -1 m.csv | grep -q ',host,' || complain 'a table has no host'
"$tool" export --to jsonl --force -o m.jsonl m.trx && sed -n '$p' m.jsonl | grep -q '"host":"' ||
	complain 'JSON has no host'
"$tool" export --to csv --force -o a.csv a.trx && ! head -1 a.csv | grep -q ',host,' ||
	complain 'a table has the only host'
"$tool" print a.trx | head -1 | grep -q ' host ' && complain 'print shows the host of the only one'
rows host -f odd_step m.trx | sort | uniq -c | tr -s ' ' | tr '\n' ';' | grep -qx ' 50 alpha; 50 beta;' ||
	complain "hosts: $(rows host -f odd_step m.trx | sort | uniq -c)"
"$tool" info m.trx | grep -Eq "^beta +1 +b.trx +$(($1 + 10000000)) +\\+0 ns +\\+0 ns +not known" ||
	complain "info: $("$tool" info m.trx)"
"$tool" info --format json m.trx | grep -q '"host_name": *"beta"' || complain 'info --format json lacks the hosts'

# Tables tell the host of each event and of each thread.
if "$tool" sql m.trx 'SELECT 1' >out 2>&1; then
	rows host m.trx | sort | uniq -c | awk '{ print $2 "," $1 }' >expected
	"$tool" sql --format csv m.trx 'SELECT host, count(*) FROM events GROUP BY host' | tr -d '\r"' | sed 1d | cmp -s expected - ||
		complain "the hosts of the events: $("$tool" sql m.trx 'SELECT host, count(*) FROM events GROUP BY host')"
	"$tool" sql --format csv m.trx 'SELECT DISTINCT e.host, t.host FROM events e JOIN threads t USING (context)
		WHERE t.pid > 0 ORDER BY 1' | tr -d '\r"' | sed 1d | tr '\n' ' ' | grep -qx 'alpha,alpha beta,beta ' ||
		complain 'the hosts of the threads are not those of their events'
else
	grep -q 'without SQLite' out || complain "sql: $(cat out)"
fi

# A trace in the Common Trace Format tells the host of each event, if there are several.
if command -v babeltrace2 >/dev/null && "$tool" export --to ctf -o ctf.out m.trx 2>err; then
	nr_checks=$((nr_checks + 2))
	rows host m.trx | sort | uniq -c >expected
	babeltrace2 ctf.out 2>/dev/null | sed -n 's/.*host = "\([^"]*\)".*/\1/p' | sort | uniq -c | cmp -s expected - ||
		complain "the hosts of a CTF trace: $(babeltrace2 ctf.out 2>&1 | head -2)"
	rm -r ctf.out
	"$tool" export --to ctf -o ctf.out a.trx
	cp "$(find ctf.out -name metadata)" meta
	if grep -a 'host' meta; then complain 'the host of one log'; fi
fi

# The reports keep the CPUs and processes of two hosts apart.
nr_checks=$((nr_checks + 2))
"$tool" report --format csv --cpus m.trx >report || complain 'report fails'
[ "$(rows cpu -f '*_step' m.trx | sort -nu | tr '\n' ' ')" = \
	"$(awk -F, '$1 == "cpus_by_thread" && /worker/ { print $16 }' report | sort -nu | tr '\n' ' ')" ] ||
	complain "the CPUs of two hosts: $(cat report)"

# What the commands tell of each host is what they tell of its log alone: the end of a log, and its gaps, say nothing about
# another host.
# twins FILE: merge the log with itself as that of another host, and compare the rows of the commands
twins()
{
	cp "$1" twin.trx
	on_host "$1" alpha 1
	on_host twin.trx beta 2
	merge -o twins.trx "$1" twin.trx
	nr_checks=$((nr_checks + 2))
	"$tool" states --format csv "$1" 2>/dev/null | tr -d '\r' | sed "s/$1/twins.trx/" | sort >expected
	"$tool" states --format csv twins.trx 2>/dev/null | tr -d '\r' | sort >got
	grep -v ',1[0-9]\{7\},' got | cmp -s expected - || complain "states of $1: $(diff expected got | head -4)"
	grep ',1[0-9]\{7\},' got | sed 's/\([ ,]\)1\([0-9]\{7\}\)\([, ]\|$\)/\1\2\3/g; s/\([ ,]\)0*\([1-9]\)/\1\2/g' | sort >second
	# Without scheduling records, no thread of a recorded log has states.
	[ "$(wc -l <expected)" -le 1 ] || [ "$(wc -l <second)" -gt 0 ] || complain "no states of the second host of $1"
	for command in waits locks; do
		nr_checks=$((nr_checks + 1))
		"$tool" $command --format csv "$1" 2>/dev/null | tr -d '\r' | tr ',' '\n' | grep -E '^[0-9]+\.[0-9]+$' |
			sort >expected
		"$tool" $command --format csv twins.trx 2>/dev/null | tr -d '\r' | tr ',' '\n' |
			grep -E '^[0-9]+\.[0-9]+$' | sort >got
		sort expected expected | cmp -s - got || complain "$command of two hosts: $(sort expected expected | diff - got | head -4)"
	done
}

if make_mixture mixture.trx; then
	twins mixture.trx
fi

# Of a log without scheduling records, merged with one that has them, nobody knows how long its threads ran.
"$mksched" scheduled.trx 0 100 <<'END' || complain 'no log could be written'
0 start
0 thread 11 running first
100 out 11 0 blocked
200 in 11 0
210 event 11 0
220 stop
END
merge -o half.trx scheduled.trx a.trx
"$tool" report --format csv half.trx 2>/dev/null | tr -d '\r' | awk -F, '$1 == "execution_profile" { print $16, $12, $18 }
	$1 == "performance_statistics_by_thread" { print $16, $28, $29 }' >got
nr_checks=$((nr_checks + 2))
[ "$(grep -cE '^worker( [0-9]+)?  $' got)" -eq 2 ] || complain "the time of a thread without records: $(cat got)"
grep -Eq '^first 0.000120' got || complain "the time of a thread with records: $(cat got)"

# Two programs of one host, each with its log: the beginning, the end and the gaps of one log say nothing about the threads
# of the other.
"$mksched" long.trx 0 100 <<'END' || complain 'no log could be written'
0 start
0 thread 11 running first
10 out 11 0 blocked
200 in 11 0
210 event 11 0
220 out 11 0 blocked
300 in 11 0
310 out 11 0 ended
320 stop
END
"$mksched" short.trx 0 200 <<'END' || complain 'no log could be written'
20 start
20 thread 12 running second
30 gap 0
40 resume 0 3
50 out 12 0 blocked
60 in 12 0
70 stop
END
# states_of FILE PROCESS: without times of the beginning, which count from the first event, and without the number of the host
states_of()
{
	"$tool" states --format csv "$1" 2>/dev/null | tr -d '\r' | awk -F, -v OFS=, -v pid="$2" '$4 == pid {
		$1 = ""
		$4 %= 10000000
		$5 %= 10000000
		if ($8 != "")
			$8 %= 10000
		print
	}'
}
merge -o concurrent.trx long.trx short.trx
merge -o backward.trx short.trx long.trx
# A host of its own before them: this log has other events, and its records say nothing about them.
cp long.trx other.trx
on_host other.trx other 7
merge -o pair.trx long.trx short.trx
merge -o third.trx other.trx pair.trx
for file in 'concurrent.trx 0' 'backward.trx 0' 'third.trx 10000000'; do
	for log in 'long.trx 100' 'short.trx 200'; do
		nr_checks=$((nr_checks + 1))
		states_of "${log% *}" "${log#* }" >expected
		states_of "${file% *}" $((${log#* } + ${file#* })) >got
		cmp -s expected got && [ -s got ] ||
			complain "the threads of ${log% *} in ${file% *}: $(diff expected got | head -6)"
	done
done

# The first process of a log is the same if a filter leaves its first events out, or if they were overwritten: the code
# of the log is the code of this process.
"$mksched" looped.trx 1000 300 <<'END' || complain 'no log could be written'
20 gap 0
END
merge -o first.trx -f 'pid=100 or pid=200' long.trx short.trx looped.trx
nr_checks=$((nr_checks + 1))
[ "$("$tool" info first.trx 2>/dev/null | awk '$3 ~ /trx$/ && $2 == 0 { printf "%s ", $4 }')" = '100 200 300 ' ] ||
	complain "the first processes: $("$tool" info first.trx 2>/dev/null | tail -4)"

# A merged log can be merged, copied and packed, and keeps its hosts.
cp a.trx c.trx
on_host c.trx gamma 3
merge -o mc.trx m.trx c.trx
nr_checks=$((nr_checks + 4))
rows host -f odd_step mc.trx | sort | uniq -c | tr -s ' ' | tr '\n' ';' | grep -qx ' 50 alpha; 50 beta; 50 gamma;' ||
	complain 'a merged log loses its hosts when it is merged'
rows cpu,pid,host,event,hex mc.trx >expected
"$tool" pack -o packed.trx mc.trx >/dev/null || complain 'pack fails'
rows cpu,pid,host,event,hex packed.trx | cmp -s expected - || complain 'a packed log is another one'
fails 2 'hold the same log' merge -o x.trx m.trx a.trx
printf 'object 1 0x1001 5 worker\nevent 0x1001 4100 1000\n' | "$mktrx" >buffer.trx
fails 2 'is a trace buffer' merge --to log -o x.trx a.trx buffer.trx
[ ! -e x.trx ] || complain 'a refused merge left a file'

# For Perfetto, the hosts are machines: an archive with a trace of each, in which processes have their own pids.
if "$tool" export --help | grep -q 'perfetto|' && [ -x "$check" ]; then
	nr_checks=$((nr_checks + 6))
	"$tool" export --to perfetto -o hosts.tar m.trx 2>err || complain "export of two hosts: $(cat err)"
	tar tf hosts.tar | tr '\n' ' ' | grep -qx 'perfetto_manifest.json 0-alpha.perfetto-trace 1-beta.perfetto-trace ' ||
		complain "the archive has $(tar tf hosts.tar | tr '\n' ' ')"
	tar xf hosts.tar || complain 'tar cannot read the archive'
	"$check" 0-alpha.perfetto-trace | grep -v "^process 1 " >first || complain 'the trace of the first host is wrong'
	"$check" 1-beta.perfetto-trace | grep -v "^process 1 " >second || complain 'the trace of the second host is wrong'
	cmp -s first second || complain "the second host: $(diff first second | head -4)"
	grep -q "^process $1 " second || complain "the process $1 of the second host is not there: $(head -3 second)"
	if has_program python3 'the manifest for Perfetto, and compressed packets'; then
		nr_checks=$((nr_checks + 2))
		python3 - perfetto_manifest.json <<'PYTHON' || complain "the manifest: $(cat perfetto_manifest.json)"
import json, sys
manifest = json.load(open(sys.argv[1]))["perfetto_manifest"]
assert manifest["version"] == 1 and manifest["trace_time"]["clock"] == "REALTIME"
assert [(file["path"], file["machine"]["name"]) for file in manifest["files"]] == [
    ("0-alpha.perfetto-trace", "alpha"), ("1-beta.perfetto-trace", "beta")]
assert open(sys.argv[1]).read().startswith('{"perfetto_manifest"')
PYTHON
		if "$tool" export --to perfetto --compress -o packed.pf a.trx 2>err; then
			"$tool" export --to perfetto -o plain.pf a.trx 2>err
			python3 - plain.pf packed.pf <<'PYTHON' || complain 'compressed packets are not the same packets'
import sys, zlib


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 == 2
        length, at = varint(data, at)
        yield key >> 3, data[at:at + length]
        at += length


plain, packed = (open(name, "rb").read() for name in sys.argv[1:])
unpacked = b""
for number, packet in fields(packed):
    assert number == 1 and len(packet) < 512 * 1024
    (number, deflated), = fields(packet)
    assert number == 50
    unpacked += zlib.decompress(deflated)
assert unpacked == plain and 2 * len(packed) < len(plain)
PYTHON
		else
			grep -q 'without zlib' err || complain "export --compress: $(cat err)"
		fi
	fi
fi

# Options: a filter, other times, and standard output.
merge -o f.trx -f 'even_step and host=beta' a.trx b.trx
nr_checks=$((nr_checks + 4))
[ "$(rows host f.trx | uniq -c | tr -s ' ')" = ' 50 beta' ] || complain 'merge -f takes other events'
merge -o o.trx --offset b.trx=1s a.trx b.trx
[ "$(rows ns -f 'host=beta' o.trx | head -1)" = "$(($(rows ns b.trx | head -1) + 1000000000))" ] ||
	complain 'merge --offset does not move the log'
for offset in 2150-01-01T00:00:00Z 1969-12-31T00:00:00Z; do
	fails 2 'before 1970 or after 2116' merge --force -o x.trx --offset "b.trx=$offset" a.trx b.trx
done
"$tool" merge -o - a.trx b.trx >out.trx 2>err || complain "merge -o -: $(cat err)"
# A FIFO or a device stays what it is.
mkfifo fifo || complain 'no FIFO could be made'
nr_checks=$((nr_checks + 2))
cat fifo >piped.trx &
"$tool" merge --force -o fifo a.trx b.trx 2>err || complain "merge -o FIFO: $(cat err)"
wait $!
[ -p fifo ] && [ "$(rows cpu,pid,host,event,hex piped.trx | wc -l)" -eq "$(rows event out.trx | wc -l)" ] ||
	complain "merge -o FIFO writes something else, or the FIFO is gone: $(ls -l fifo)"
"$tool" export --to sqlite --force -o fifo a.trx 2>err
[ -p fifo ] && grep -qE 'not a regular file|SQLite' err || complain "export to a FIFO: $(cat err)"
rows cpu,pid,host,event,hex out.trx >got
rows cpu,pid,host,event,hex m.trx | cmp -s - got || complain 'merge -o - writes another log'

# With --force, a symbolic link stays, and what it leads to is written.
mkdir target
for command in 'merge -o link.trx a.trx b.trx' 'export --to trx -o link.trx a.trx' \
	'export --to sqlite -o link.trx a.trx'; do
	rm -f link.trx target/it.trx
	echo old >target/it.trx
	ln -s target/it.trx link.trx
	# shellcheck disable=SC2086  # a command and its arguments
	"$tool" ${command%% *} --force ${command#* } 2>err || grep -q 'without SQLite' err || complain "$command: $(cat err)"
	nr_checks=$((nr_checks + 1))
	[ -L link.trx ] && { grep -q 'without SQLite' err || [ "$(wc -c <target/it.trx)" -gt 1000 ]; } && [ "$(ls -A target)" = it.trx ] ||
		complain "$command: $(ls -lA link.trx target)"
done
rm -f link.trx target/it.trx
ln -s it.trx target/second
ln -s target/second link.trx
merge -o link.trx a.trx b.trx
nr_checks=$((nr_checks + 1))
[ -L link.trx ] && [ -L target/second ] && [ "$(wc -c <target/it.trx)" -gt 1000 ] ||
	complain "links to a file that does not exist: $(ls -lA link.trx target)"

# A signal leaves nothing: not beside the output, and not in the directory of temporary files.
mkdir large temporary
"$mklog" large/0 60000 64 worker || complain 'no log could be written'
i=1
while [ $i -lt 26 ]; do
	cp large/0 large/$i
	other_recording "large/$i" "$(printf 'large-%010d' $i)" $i
	i=$((i + 1))
done
has_open()
{
	find "/proc/$1/fd" -lname "$2/*" 2>/dev/null | grep -q .
}
for number in TERM KILL; do
	for files in 'large/?' 'large/*'; do
		[ "$number$files" = 'KILLlarge/*' ] && continue # those are in the directory of temporary files
		rm -rf out.d
		mkdir out.d
		# shellcheck disable=SC2086  # a list of files
		(TMPDIR=$scratch/temporary exec "$tool" merge -o out.d/x.trx $files 2>err) &
		writer=$!
		case $files in *'*') directory=$scratch/temporary ;; *) directory=$scratch/out.d ;; esac
		while kill -0 $writer 2>/dev/null && ! has_open $writer "$directory"; do :; done
		kill -$number $writer || complain "merge of $files ended too early"
		wait $writer 2>err
		nr_checks=$((nr_checks + 1))
		[ -z "$(ls -A out.d temporary)" ] || [ "$(ls -A out.d temporary | tr -d '\n ')" = 'out.d:temporary:' ] ||
			complain "SIG$number leaves $(ls -A out.d temporary)"
	done
done

# In a trace buffer, too, the threads of two hosts are two.  The CPUs of two hosts cannot be files of their own.
merge --to trx -o both.trx a.trx b.trx
nr_checks=$((nr_checks + 1))
[ "$("$tool" info --objects both.trx | grep -c 'worker')" -eq 2 ] || complain 'threads of two hosts are one in a trace buffer'
# A host of another kind: its data become those of this machine (machines.sh).
for packed in "$top/tests/data/machines"/*.machine.trx.gz; do
	gzip -dc "$packed" >other.trx || complain "cannot unpack $packed"
	merge -o x.trx a.trx other.trx
	nr_checks=$((nr_checks + 3))
	[ "$(($(rows ns a.trx | wc -l) + $(rows ns other.trx | wc -l)))" -eq "$(rows ns x.trx | wc -l)" ] ||
		complain "a merge with $packed has lost events"
	"$tool" info x.trx | grep -q '^data of machine' && complain "the data of a merge with $packed are of another machine"
	case $(getconf LONG_BIT)-${packed##*/} in
	32-i386.* | 64-*) ;;
	*) rm x.trx; continue ;; # a machine of 32 bits has no addresses of 64 bits
	esac
	[ "$(rows data -f 'event == "packet"' other.trx)" = "$(rows data -f 'event == "packet"' x.trx)" ] ||
		complain "the merge with $packed has other data: $(rows data -f 'event == "packet"' x.trx)"
	rm x.trx
done
fails 2 'several hosts' export --to trx --per-core -o cores.trx m.trx
fails 2 'several hosts' merge --per-core -o cores.trx a.trx b.trx

# Two logs of one process on one host: its threads are one, and its events are there twice only if they were.
cp a.trx d.trx
set_bytes d.trx 48 another-recordin 16
fails 2 'are logs of one stream from the same time' merge -o x.trx a.trx d.trx
other_recording d.trx another-recordin 1
merge -o d2.trx a.trx d.trx
nr_checks=$((nr_checks + 2))
[ "$("$tool" info --objects d2.trx | grep -c ' worker')" -eq 1 ] || complain 'a thread of two logs is two'
[ "$(rows event -f odd_step d2.trx | wc -l)" -eq 100 ] || complain 'the events of one process in two logs'

# Two containers of one host: other processes with the same pids, at the same time, or one after the other.
if [ "$(id -u)" -eq 0 ] && unshare -p -f -m true 2>/dev/null && own_preload; then
	cp "$(command -v sleep)" snooze
	cp snooze doze
	# in_container PROGRAM: record it in pid and mount name spaces of its own
	in_container()
	{
		timeout 60 unshare -p -f -m sh -c 'mount --make-rprivate / && mount -t proc proc /proc &&
			mount -t tmpfs -o mode=1777 tmpfs "$1" && chmod 700 "$1" &&
			TXTRACE_DIR=$1 "$2" record --preload --force -q -o "$3.trx" "./$3" 0.5' sh "$TXTRACE_DIR" "$tool" "$1" \
			2>"err.$1" || complain "record in a container fails: $(cat "err.$1")"
	}
	in_container snooze &
	in_container doze
	wait
	merge -o both.trx snooze.trx doze.trx
	nr_checks=$((nr_checks + 4))
	pid=$("$tool" info --objects both.trx | awk '$2 == "thread" && $6 == "snooze" { print $4 }')
	[ -n "$pid" ] && "$tool" info --objects both.trx | grep -q " $((pid + 10000000)) .* doze $((pid + 10000000))\$" ||
		complain "two containers are one: $("$tool" info --objects both.trx | grep thread)"
	for program in snooze doze; do
		[ "$(rows event -f "thread ~ $program" $program.trx | sort)" = "$(rows event -f "thread ~ $program" both.trx | sort)" ] ||
			complain "events of $program in a merged log"
	done
	in_container snooze
	merge -o both.trx doze.trx snooze.trx
	[ "$("$tool" info --objects both.trx | grep -cE ' thread .* (doze|snooze) [0-9]*$')" -eq 2 ] ||
		complain "a process with the pid of an earlier one: $("$tool" info --objects both.trx | grep thread)"
fi

# Many files, with few descriptors: the events of all of them, in the order of time.
"$mklog" small 3 8 worker || complain 'no log could be written'
mkdir many
i=0
while [ $i -lt 300 ]; do
	cp small "many/$i"
	other_recording "many/$i" "$(printf 'many-%011d' $i)" $i
	i=$((i + 1))
done
nr_checks=$((nr_checks + 3))
(ulimit -n 64; exec "$tool" merge -o many.trx many/*) 2>err || complain "merge of 300 files: $(cat err)"
[ "$(rows event -f '*_step' many.trx | wc -l)" -eq 900 ] ||
	complain "of 900 events in 300 files, $(rows event -f '*_step' many.trx | wc -l) are there"
rows ns many.trx | sort -nc || complain 'the events of 300 files are not in order'
# Large data are whole.
"$mklog" big.trx 3 20000 worker || complain 'no log could be written'
cp big.trx other.trx
on_host other.trx beta 2
merge -o bigs.trx big.trx other.trx
nr_checks=$((nr_checks + 1))
[ "$(rows size -f '*_step' bigs.trx | sort | uniq -c | tr -s ' ')" = ' 6 20000' ] ||
	complain "large data are cut: $(rows size -f '*_step' bigs.trx | tr '\n' ' ')"

# If the descriptions have no room, the merged log would lose the fields of some events.
for i in 1 2; do
	awk -v log_number=$i 'BEGIN {
		for (type = 0; type < 12; type++) {
			for (field = 0; field < 120; field++)
				printf "u32 field_%d_%d_%d; ", log_number, type, field
			print ""
		}
	}' | "$(dirname "$tool")/../tests/python/described" long$i.trx 12 || complain "no log with long descriptions"
done
on_host long2.trx gamma 3
fails 2 'descriptions of types' merge -o x.trx long1.trx long2.trx
nr_checks=$((nr_checks + 1))
[ ! -e x.trx ] || complain 'a merge that failed left a file'

# A filter is about the files, not about the temporary logs, in which a pid and the name of a type may be another one.
mkdir some
for i in $(seq 25); do
	cp small "some/$i"
	on_host "some/$i" "host$i" "$i"
done
pid=$("$tool" print --format csv --columns pid small | sed -n '$p' | tr -d '\r')
for nr in 24 25; do
	nr_checks=$((nr_checks + 1))
	# shellcheck disable=SC2046  # a list of files
	merge -o some.trx -f "pid=$pid" $(seq -f some/%g $nr)
	[ "$(rows event -f '*_step' some.trx | wc -l)" -eq $((3 * nr)) ] ||
		complain "a filter with $nr files selects $(rows event -f '*_step' some.trx | wc -l) events"
done
i=0
while [ $i -lt 216 ]; do
	on_host "many/$i" "host$i" $i
	i=$((i + 1))
done
fails 2 'more hosts' merge -o x.trx many/*
[ ! -e x.trx ] || complain 'a merge that failed left a file'

# A merged log says that one of its logs was cut, has overwritten events, or is damaged in the middle, whatever the size of
# the others and their number.  Damage in the middle is found when the events are read.
head -c $(($(stat -c %s c.trx) - 50)) c.trx >cut.trx
merge -o cuts.trx a.trx cut.trx
merge -o loops.trx a.trx looped.trx
cp large/0 holes
dd if=/dev/zero of=holes bs=1 seek=$(($(stat -c %s holes) / 2)) count=70000 conv=notrunc 2>/dev/null
for log in a.trx large/0; do
	nr_checks=$((nr_checks + 1))
	merge -o none.trx $log c.trx
	"$tool" info none.trx | grep -q '^log has lost events *no' || complain "$log lacks no events: $("$tool" info none.trx)"
done
merge -o holed.trx holes a.trx
nr_checks=$((nr_checks + 2))
nr=$(sed -n 's/.*holes: \([0-9]*\) events could not be read.*/\1/p' err)
[ "${nr:-0}" -gt 0 ] && [ "$(rows ns holed.trx 2>/dev/null | wc -l)" -eq $(($(rows ns large/0 | wc -l) + $(rows ns a.trx | wc -l) - nr)) ] ||
	complain "the events of a damaged log: $(cat err)"
merge -o none.trx -f odd_step holes a.trx
"$tool" info none.trx | grep -q '^log has lost events *yes' || complain 'a filter hides that a log is damaged'
merge -o first.trx holed.trx c.trx
"$tool" pack -o second.trx first.trx >/dev/null 2>&1 || complain 'pack fails'
mkdir groups
cp many/? many/?? groups
cp holes groups/30x
merge -o groups.trx groups/*
for log in cuts loops holed first second groups; do
	nr_checks=$((nr_checks + 3))
	"$tool" info $log.trx 2>/dev/null | grep -q '^log has lost events *yes' || complain "$log.trx has lost events"
	"$tool" diff --fail-if 'lost>0' c.trx $log.trx >out 2>err
	code=$?
	nr=$("$tool" info $log.trx 2>/dev/null | sed -n 's/^lost: log *//p')
	{ [ "$nr" -eq 0 ] && [ $code -eq 2 ]; } || { [ "$nr" -gt 1 ] && [ $code -eq 1 ]; } ||
		complain "$log.trx has lost $nr events, and diff exits with $code: $(cat err)"
	"$tool" waits $log.trx >out 2>err
	grep -q "$log.trx: the log is incomplete: one of the logs that were merged" err && ! grep -q 'size was limited' err ||
		complain "nothing says that events are missing in $log.trx: $(cat err)"
done

# What is behind the log can be cut or changed.
nr_checks=$((nr_checks + 6))
size=$(stat -c %s m.trx)
head -c $((size - 10)) m.trx >cut.trx
"$tool" info cut.trx >out 2>err
grep -q 'cut.trx' err && grep -q '^complete *no' out || complain "info of a cut merged log: $(cat err out)"
for at in 40 64 100 300; do
	cp m.trx bad.trx
	printf '~' | dd of=bad.trx bs=1 seek=$((size - at)) conv=notrunc 2>/dev/null
	"$tool" print bad.trx >out 2>&1
	[ $? -le 2 ] || complain "byte $at before the end: $(tail -1 out)"
	"$tool" merge --force -o x.trx bad.trx c.trx >out 2>&1
	[ $? -le 2 ] && ! grep -q 'runtime error' out || complain "merge of a log with another byte: $(tail -1 out)"
done
finish
