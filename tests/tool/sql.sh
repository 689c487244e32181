#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace sql. The queries of txtrace-sql(1) return the same numbers as the commands; the tool refuses statements that
# write; a query with a range of times, a type or a thread returns the same events as a full scan.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

if "$tool" sql "$scratch/none" 'SELECT 1' 2>&1 | grep -q 'without SQLite'; then
	echo 'SKIP: txtrace was built without SQLite'
	exit 77
fi
own_streams
bad_files sql
fails 2 'takes one or more files' sql
fails 2 'takes one or more files' sql 'SELECT 1'
fails 2 '--format takes text, json or csv' sql --format jsonl "$scratch/empty"
waits_make
make_samples
cd "$scratch" || exit 99
# A result that is larger than the buffer ends early on a full device, and there is a message all the same.
if [ -w /dev/full ]; then
	for format in text csv json; do
		nr_checks=$((nr_checks + 1))
		"$tool" sql --format $format "$samples/threadx.trx" 'WITH RECURSIVE n(x) AS
			(SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 200000) SELECT x FROM n' >/dev/full 2>err
		[ $? -eq 2 ] && [ "$(grep -c 'No space' err)" -eq 1 ] ||
			complain "sql --format $format: no message says that the device is full: $(cat err)"
	done
fi
mklog=$(dirname "$tool")/../tests/tool/mklog
manual=$top/doc/man/txtrace-sql.1

# example N: the N-th query of the manual
example()
{
	awk -v wanted="$1" '
	/^\.Sh EXAMPLES/ { is_inside = 1 }
	/^\.Ed/ { is_text = 0 }
	is_text && nr == wanted { print }
	is_inside && /^\.Bd/ { is_text = 1; nr++ }' "$manual"
}

# ask FILE... QUERY: the rows, with "," between the values, without titles
ask()
{
	"$tool" sql --format csv "$@" 2>err | tr -d '\r' | sed 1d
}

# same WHAT: the files `expected` and `found` are equal
same()
{
	nr_checks=$((nr_checks + 1))
	[ -s expected ] || complain "$1: there is nothing to compare"
	cmp -s expected found || complain "$1: not the same:
$(diff expected found | head -10)
$(cat err)"
}

# member NAME COMMAND...: the values of a member in the JSON of a command, one on each line
member()
{
	name=$1
	shift
	"$tool" "$@" --format json | grep -o "\"$name\": [^,}]*" | sed -e 's/^[^:]*: //' -e 's/"//g'
}

# In seconds with nine digits, as tables have them
to_ns()
{
	awk '{ printf "%.0f\n", $1 * 1e9 }'
}

# 1: the longest waits are those of txtrace waits.
for file in convoy flags "$samples/threadx.trx"; do
	member number waits --sort duration --top 10 "$file" >expected
	ask "$file" "$(example 1)" | cut -d , -f 1 >found
	same "the longest waits of $file"
	member duration_s waits --sort duration --top 10 "$file" | to_ns >expected
	ask "$file" "$(example 1)" | cut -d , -f 3 >found
	same "the durations of the longest waits of $file"
done

# 2: which thread woke which.
"$tool" waits --format csv convoy | tr -d '\r' | awk -F , 'NR > 1 && $10 != "" { times[$10 "," $4]++ }
	END { for (pair in times) print pair "," times[pair] }' | sort >expected
ask convoy "$(example 2)" | cut -d , -f 1-3 | sort >found
same 'who woke whom'

# 3: how long locks are held.
for file in convoy turns "$samples/threadx.trx"; do
	member p99_s locks --sort name "$file" | to_ns | sort -n >expected
	ask "$file" "$(example 3)" | cut -d , -f 3 | sort -n >found
	same "the percentiles of $file"
	member taken locks --sort name "$file" | sort -n >expected
	ask "$file" "$(example 3)" | cut -d , -f 2 | sort -n >found
	same "how often locks of $file are taken"
done

# 4, 5, 7, 8, 10: events and their data.  The queries of the manual name other types.
"$mklog" plain.trx 30000 16 worker || complain 'mklog fails'
"$mklog" other.trx 30000 16 worker || complain 'mklog fails'
mine()
{
	example "$1" | sed -e "s/'put'/'even_step'/g" -e "s/'take'/'odd_step'/g"
}
"$tool" print --format csv --columns number,ns,time,event plain.trx | tr -d '\r' | sed 1d >events
awk -F , '{ n[int($3)]++ } END { for (s in n) print s "," n[s] }' events | sort -n >expected
ask plain.trx "$(example 4)" >found
same 'events a second'
awk -F , 'NR > 1 { print $1, $2 - last } { last = $2 }' OFMT=%.0f CONVFMT=%.0f events | sort -k2,2nr -k1,1n | head -10 |
	cut -d ' ' -f 1 >rough
ask plain.trx "$(example 5)" >found
nr_checks=$((nr_checks + 1))
[ "$(wc -l <found)" -eq 10 ] && [ "$(wc -l <rough)" -eq 10 ] || complain 'there are not ten pauses'
cut -d , -f 1 found >numbers
while read -r number; do
	sed -n "$number,$((number + 1))p" events | cut -d , -f 2 | tr '\n' ' '
done <numbers | awk '{ for (i = 1; i < NF; i += 2) print substr($(i + 1), 6) - substr($i, 6) }' OFMT=%.0f >expected
cut -d , -f 3 found >pauses
mv pauses found
same 'the pauses'
awk -F , '$4 == "even_step" { print $1 "," ++n } $4 == "odd_step" { print $1 "," --n }' events >expected
ask plain.trx "$(mine 7)" | cut -d , -f 1,3 >found
same 'the length of a queue'
nr_checks=$((nr_checks + 1))
# The number of an odd event is not that of an even one, so join each odd event to the event before it.
ask plain.trx other.trx "$(mine 8 |
	sed "s/u32(bytes) AS id, ns FROM events\$/u32(bytes) \/ 2 AS id, ns FROM events/")" >found
[ "$(wc -l <found)" -eq 10 ] || complain "two files are not joined: $(cat err)"
ask plain.trx other.trx 'SELECT file, events FROM files' >found
for n in 1 2; do
	echo "$n,$("$tool" info --format json "$(sed -n ${n}p <<END
plain.trx
other.trx
END
)" | sed -n 's/^ *"events": \([0-9]*\),*/\1/p')"
done >expected
same 'the numbers of events of two files'
ask plain.trx "$(mine 10 | sed 's/u32(bytes) AS id/u32(bytes) \/ 2 AS id/')" | cut -d , -f 1 >found
echo 15000 >expected
same 'the latency of pieces of work'

# 6, 9: scheduling records, and calls with errors.
"$mksched" core <"$top/tests/data/sched/one_cpu.txt" || complain 'no log could be written'
"$tool" report --format json core | sed -n '/"thread_states"/,/]/p' | grep -o '"tid": [0-9]*, "ran_s": [0-9.]*' |
	awk -F '[ ,]+' '{ printf "%d,%.0f\n", $2, $4 * 1e9 }' | sort >expected
ask core "$(example 6)" | cut -d , -f 2,3 | sort >found
same 'the CPU times'
# All that lasted is in one view.
for file in convoy core; do
	for part in 'waits wait object ending' 'holds hold object ending' 'spans span span ending' 'states state state NULL'; do
		# shellcheck disable=SC2086  # four words
		set -- $part
		ask "$file" "SELECT '$2', $3, ns, duration_ns, thread, $4 FROM $1 ORDER BY 3, 4, 2, 5"
	done >expected
	for kind in wait hold span state; do
		ask "$file" "SELECT kind, name, ns, duration_ns, thread, ending FROM slices WHERE kind = '$kind' ORDER BY 3, 4, 2, 5"
	done >found
	same "the slices of $file"
done

if own_preload; then
	cat >failing.c <<'END'
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	pthread_mutex_lock(&lock);
	return pthread_mutex_trylock(&lock) + pthread_mutex_trylock(&lock) - 32;
}
END
	${CC:-cc} -g -pthread failing.c -o failing
	"$tool" record --quiet --preload -o failing.trx ./failing 2>err || complain "record fails: $(cat err)"
	ask failing.trx "$(example 9)" | cut -d , -f 4,5 >found
	echo 'pthread_mutex_trylock,16' >expected
	same 'the first error'
	ask failing.trx "$(example 9)" | cut -d , -f 1 >found
	"$tool" print --format csv --columns number,event failing.trx | tr -d '\r' |
		sed -n 's/,pthread_mutex_trylock$//p' | head -1 >expected
	same 'the number of the first error'
fi

# A query with bounds returns what a full scan returns. "+" keeps SQLite from passing the bound on.
first=$(ask plain.trx 'SELECT first_ns FROM files')
for where in 'time >= 0.001' 'time > 0.0005 AND time < 0.002' 'time = 0' "ns <= $first" "ns < $first" \
	"ns > $((first + 1000000))" 'ns > 1e30' 'ns < -1e30' "ns BETWEEN $((first + 200000)) AND $((first + 900000))" \
	"event = 'odd_step'" "thread = 'worker'" "thread = 'WORKER' COLLATE NOCASE" 'type = 20' \
		'type IN (1, 2, 4, 16, 17, 18)' \
	"type = 'x'" 'context = 5' 'file = 1' 'file = 2' "time >= 'a'" 'time < NULL' \
	'type IN (17, 18) AND type IN (18, 19)' "event IN ('odd_step', 'x', NULL)" \
		"event IN (SELECT event FROM types WHERE type = 17)" \
	"thread IN ('worker', 5)" 'type IN (17.0, 18.5)' "type IN (17, 'x', x'00')" 'type IN (NULL)' \
		'context NOT IN (5)' \
	'time IN (0, 0.001)' "ns IN ($first, $((first + 500000)), 'x')" 'file IN (2, 1)' 'file IN (2, 3)' \
	"event = 'even_step' AND time > 0.001 AND time < 0.003"; do
	ask plain.trx "SELECT count(*), sum(number), max(ns) FROM events WHERE $where" >found
	ask plain.trx "SELECT count(*), sum(number), max(ns) FROM events WHERE $(echo "$where" |
		sed -E 's/\b(time|ns|event|thread|type|context|file) /+\1 /g')" >expected
	same "events with $where"
done
nr_checks=$((nr_checks + 1))
ask plain.trx "EXPLAIN QUERY PLAN SELECT * FROM events WHERE type IN (1, 2) AND thread IN ('a', 'b')" |
	grep -q 'INDEX [0-9]*:FIII' ||
	complain "a list of values is not passed on: $(ask plain.trx 'EXPLAIN QUERY PLAN SELECT * FROM events WHERE type IN (1, 2)')"
ask plain.trx 'SELECT number, ns, time, event FROM events' | cut -d , -f 1,2,4 >found
cut -d , -f 1,2,4 events >expected
same 'all events'

# Described types: the columns of their tables are the fields, as the program has recorded them.
"$(dirname "$tool")/../tests/tool/orders" orders.trx >account || complain 'orders fails'
sed -n '/"load"/p' account | sed -E 's/"at": \[\{"x": ([^,]*), "y": ([^}]*)\}, \{"x": ([^,]*), "y": ([^}]*)\}\]/"at0x": \1, "at0y": \2, "at1x": \3, "at1y": \4/' |
	sed -E 's/.*"id": ([^,]*), .*"state": "?([^,"]*)"?, "at0x": [^,]*, "at0y": [^,]*, "at1x": [^,]*, "at1y": ([^,]*), .*"urgent": ([^,]*), "kind": "([^"]*)", "name": "(.*)", "key".*/\1|\2|\3|\4|\5|\6/' |
	sed -e 's/|true|/|1|/' -e 's/|false|/|0|/' -e 's/\\"/"/g' >expected
"$tool" sql orders.trx "SELECT id || '|' || state || '|' || \"at[1].y\" || '|' || urgent || '|' || kind || '|' || name FROM type_order" 2>err |
	sed -e 1d -e 's/ *$//' >found
same 'the fields of orders'
"$tool" print -f 'event=order and data.load > 60' --format csv --columns number,data.id orders.trx | tr -d '\r' |
	sed 1d >expected
ask orders.trx 'SELECT number, id FROM type_order WHERE load > 60' >found
same 'orders with a large load'
echo '7,513,"hello"
7,,' >expected
ask orders.trx 'SELECT level, code, text FROM type_note' | sed 's/,hello$/,"hello"/' >found
same 'an open text, and data that are too short'
# Columns that the table has already, other descriptions in another file, and names that are no identifiers.
mkdir -p one
cp orders.trx one/orders.trx
echo 'plain=u8 a; u8 number; u8 A; char rest[]' >.txtrace-types
echo 'plain=u8 a; u16 b' >one/.txtrace-types
ask orders.trx one/orders.trx 'SELECT file, a, "data.number", "data.A", b FROM type_plain' >found
printf '1,1,2,3,\n2,1,,,770\n' >expected
same 'two descriptions of one type'
rm -r one .txtrace-types
"$tool" sql --type 'even_step=u32 n' --type 'odd_step=u32 n' plain.trx "SELECT count(*), sum(n) FROM type_even_step" \
	>found 2>err
"$tool" sql plain.trx "SELECT count(*), sum(u32(bytes)) FROM events WHERE event = 'even_step'" |
	sed 's/sum(u32(bytes))/sum(n)/' >expected
sed -i 's/  */ /g' expected found
same 'the fields of --type'
nr_checks=$((nr_checks + 1))
"$tool" sql --type 'nothing=u32 n' plain.trx 'SELECT 1' 2>&1 | grep -q 'the trace has no user event type "nothing"' ||
	complain 'a type that the trace does not have is not reported'

# The name of a table is that of its event, whatever the order of the types.
tables=$(dirname "$tool")/../tests/tool/tables
"$tables" named.trx 'order new' order-new Order order order_12ab34cd x_y 'x y' || complain 'tables fails'
"$tables" turned.trx 'x y' x_y order_12ab34cd order Order order-new 'order new' || complain 'tables fails'
for file in named.trx turned.trx; do
	for table in $(echo .tables | "$tool" sql "$file" 2>err | sed -n 's/^\(type_[A-Za-z0-9_]*\) .*/\1/p'); do
		echo "$table,$(ask "$file" "SELECT event FROM events JOIN $table USING (number)")"
	done | sort >"tables.$file"
done
cp tables.named.trx expected
cp tables.turned.trx found
same 'the names of tables'
sed -e 's/^\(type_.*\)_[0-9a-f]\{8\},/\1_HASH,/' found | sort >hashed
printf '%s\n' type_Order_HASH,Order type_order,order type_order_12ab34cd_HASH,order_12ab34cd type_order_new_HASH,order-new \
	'type_order_new_HASH,order new' 'type_x_y,x_y' 'type_x_y_HASH,x y' | sort >expected
mv hashed found
same 'the tables of types whose names are no identifiers'
"$tables" capital.trx Order || complain 'tables fails'
echo 1 >expected
ask capital.trx 'SELECT n FROM type_Order' >found
same 'a name with a capital letter'

# Two names with the same hash: the tables are different here, but in the tables of many traces, none of them may be taken.
"$tables" equal.trx 'w-.=/^' 'w-.= #' || complain 'tables fails'
echo .tables | "$tool" sql equal.trx 2>err | grep -o '^type_w[^ ]*' | sed 's/_[0-9a-f]\{8\}/_HASH/' >found
printf '%s\n' type_w______HASH type_w______HASH_2 >expected
same 'the tables of names with the same hash'
fails 2 'two event types have the same table: type_w_____' export --to clickhouse equal.trx
nr_checks=$((nr_checks + 1))
[ ! -e equal.clickhouse ] || complain 'an export that failed leaves a directory'

# Unsigned integers of 64 bits are exact: as those that print shows, in their order, all different.
"$tables" requests.trx request || complain 'tables fails'
"$tool" print --format csv --columns number,data.id requests.trx -f event=request | tr -d '\r' | sed 1d >ids
LC_ALL=C sort -t , -k 2,2n ids >expected
ask requests.trx 'SELECT number, id FROM type_request ORDER BY id' >found
same 'the order of unsigned integers'
{
	echo '18,18'
	cut -d , -f 2 ids | LC_ALL=C sort -rn | sed -n '1p;$p'
	cut -d , -f 2 ids | LC_ALL=C sort -n
} >expected
{
	ask requests.trx 'SELECT count(*), count(DISTINCT id) FROM type_request'
	ask requests.trx 'SELECT max(id) FROM type_request UNION ALL SELECT min(id) FROM type_request'
	ask requests.trx "SELECT u64(bytes) AS id FROM events WHERE event = 'request' GROUP BY id ORDER BY id COLLATE uint"
} >found
same 'different unsigned integers'
# The row of each number, and the numbers that are larger.
while IFS=, read -r number id; do
	quote=$([ "${#id}" -lt 19 ] || [ "$id" = 9223372036854775807 ] || echo "'")
	echo "$number"
	ask requests.trx "SELECT number FROM type_request WHERE id = $quote$id$quote" >&3
	LC_ALL=C sort -t , -k 2,2nr ids | sed "/^$number,/,\$d" | wc -l
	ask requests.trx "SELECT count(*) FROM type_request WHERE id > $quote$id$quote" >&3
	ask requests.trx "SELECT number FROM events WHERE event = 'request' AND u64(bytes) = $quote$id$quote" >&3
	echo "$number"
done <ids 3>found >expected
same 'unsigned integers that are asked for'
echo 2 >expected
ask requests.trx "SELECT count(*) FROM type_request WHERE id IN (5, '18446744073709551615', 'x', NULL)" >found
same 'a list of unsigned integers'
ask requests.trx "SELECT count(*) * 2 FROM type_request a JOIN type_request b USING (id)" >found
echo 36 >expected
same 'unsigned integers that are joined'
for where in '= 18446744073709551615' '> 9300000000000000000' 'IN (5, 1e19)' "= '5'" "<> 18446744073709551615" \
	'NOT IN (18446744073709551615)' 'IS NOT 18446744073709551615' '> 1 AND NOT (id < 18446744073709551615)'; do
	fails 2 'quotes' sql requests.trx "SELECT count(*) FROM type_request WHERE id $where"
done
fails 2 'takes numbers below 2^63' sql requests.trx 'SELECT percentile(id, 50) FROM type_request'
[ "$("$tool" sql --format json requests.trx 'SELECT load FROM type_request WHERE number = 1' | tr -d '\n')" = \
	'[{"load":null}]' ] || complain 'a load that is no number is not NULL'

# A statement that is one word is a query.
fails 2 'the tables can only be read; use SELECT' sql plain.trx begin
fails 2 'is no file, and it does not begin as a query' sql plain.trx nowhere

# Objects, types and modules are those of txtrace info.
"$tool" info --types plain.trx | awk '/^ *type  name/ { is_list = 1; next } is_list { print $1 "," $2 }' >expected
ask plain.trx 'SELECT type, event FROM types' >found
same 'the types'
"$tool" info --modules plain.trx | awk '/^base / { is_list = 1; next } is_list { print $NF }' >expected
ask plain.trx 'SELECT path FROM modules' >found
same 'the modules'
"$tool" info --objects "$samples/threadx.trx" | awk '/^handle / { is_list = 1; next } is_list { print $1 "," $2 }' |
	sort >expected
ask "$samples/threadx.trx" \
	"SELECT printf('%08x', handle), substr(kind || ' ', 1, instr(kind || ' ', ' ') - 1) FROM objects" | sort >found
same 'the objects'

# The table of files says what info says of losses.
"$mklog" looped.trx 30000 16 worker 200000 || complain 'mklog fails'
cp plain.trx damaged.trx
frame=$(grep -abo PXF1 plain.trx | sed -n 9p | cut -d : -f 1)
printf '\377\377\377\377' | dd of=damaged.trx bs=1 seek=$((frame + 500)) conv=notrunc 2>/dev/null
for file in plain.trx looped.trx core damaged.trx; do
	"$tool" info --format json "$file" 2>err |
		sed -n 's/^  "\(lost_[odal][a-z]*\|missing\|gaps\|log_was_full\|log_has_lost_events\|complete\)": \([a-z0-9]*\),*$/\1=\2/p' |
		sed -e 's/true/1/' -e 's/false/0/' -e 's/^lost_log/by_log/' -e 's/^lost_//' | sort >expected
	ask "$file" "SELECT 'overwritten=' || overwritten || ' dropped=' || dropped || ' abandoned=' || abandoned ||
		' by_log=' || by_log || ' missing=' || missing || ' gaps=' || gaps || ' log_was_full=' || log_was_full ||
		' log_has_lost_events=' || log_has_lost_events || ' complete=' || complete AS losses FROM files" | tr ' ' '\n' | sort >found
	same "the losses of $file"
	cat found >>losses
done
nr_checks=$((nr_checks + 1))
grep -q 'log_has_lost_events=1' losses || complain "no log has lost events: $(cat losses)"
"$tool" print damaged.trx 2>&1 >shown | sed -n 's/.*: \([0-9]*\) events could not be read.*/\1/p' >expected
ask damaged.trx 'SELECT missing FROM files' >found
same 'the events that could not be read'
ask "$samples/threadx.trx" 'SELECT log_was_full IS NULL, log_has_lost_events IS NULL, complete IS NULL FROM files' >found
echo 1,1,1 >expected
same 'the losses of a trace buffer'
head -c $(($(stat -c %s "$samples/threadx.trx") - 1000)) "$samples/threadx.trx" >short.trx
ask short.trx 'SELECT log_was_full IS NULL, log_has_lost_events IS NULL, complete FROM files' >found
echo 1,1,0 >expected
same 'the losses of a trace buffer that was cut'

# No statement can write.
ls >before
for statement in 'CREATE TABLE x(a)' 'CREATE TEMP TABLE x AS SELECT 1' 'CREATE VIEW x AS SELECT 1' "ATTACH 'x' AS y" \
	"VACUUM INTO 'x'" 'PRAGMA writable_schema = 1' 'PRAGMA journal_mode' 'INSERT INTO events(ns) VALUES (1)' \
	'UPDATE events SET ns = 1' 'DELETE FROM events WHERE 1' 'DROP TABLE events' 'ALTER TABLE events RENAME TO x' \
	'BEGIN TRANSACTION' "SELECT load_extension('x')" "SELECT writefile('x', 'y')" 'SELECT * FROM nowhere' \
		'SELECT 1; SELECT 2' \
	'SELECT (' ' ' ' ; -- nothing' 'SELECT percentile(ns, 101) FROM events'; do
	fails 2 'SQL: ' sql plain.trx "$statement"
done
nr_checks=$((nr_checks + 1))
ls >after
grep -vxE 'before|after|out|err' after >rest
grep -vxE 'before|after|out|err' before | cmp -s - rest ||
	complain "a statement has written a file: $(diff before after)"
[ "$(ask plain.trx 'SELECT count(*) FROM events WHERE number < 9')" = 9 ] || complain 'the events are not as before'

# Formats, and the commands of the prompt.
nr_checks=$((nr_checks + 4))
"$tool" sql --format json core "SELECT 1 AS a, NULL AS b, 'x\"y' AS c, x'00ff' AS d, 0.5 AS e" >out
[ "$(tr -d '\n' <out)" = '[{"a":1,"b":null,"c":"x\"y","d":"00ff","e":0.5}]' ] || complain "JSON is $(cat out)"
"$tool" sql core "SELECT 1 AS a, NULL AS b, 'xy' AS c" >out
[ "$(cat out)" = 'a  b  c
1  -  xy' ] || complain "text is $(cat out)"
printf '.tables\n.schema waits\n.help\nSELECT count(*)\nFROM events;\n.quit\nSELECT 77;\n' |
	"$tool" sql core >out 2>err ||
	complain "the prompt fails: $(cat err)"
grep -q '^waits ' out && grep -q '^CREATE TABLE waits("file" INTEGER' out && grep -q '^count' out && ! grep -q 77 out ||
	complain "the prompt prints $(cat out)"
printf '.nonsense\n' | "$tool" sql core >out 2>err && complain 'a command that there is not succeeds'
grep -q 'there is no command .nonsense' err || complain "no message: $(cat err)"

# A database in a file has the same rows, with types.
if has_program sqlite3 'the database of export --to sqlite'; then
	for file in plain.trx core convoy "$samples/threadx.trx"; do
		rm -f copy.db
		"$tool" export --to sqlite -o copy.db "$file" >out 2>err || complain "export fails: $(cat err)"
		for table in threads objects types waits holds states spans modules; do
			ask "$file" "SELECT * FROM $table" | tr -d '"' | sort >expected
			sqlite3 -csv copy.db "SELECT * FROM $table" | tr -d '\r"' | sort >found
			[ ! -s expected ] || same "$table of $file"
		done
		ask "$file" 'SELECT number, ns, thread, event, data FROM events' | tr -d '"' >expected
		sqlite3 -csv copy.db 'SELECT number, ns, thread, event, data FROM events' | tr -d '\r"' >found
		same "the events of $file"
	done
	"$tool" export --to sqlite --force -o orders.db orders.trx >out 2>err || complain "export fails: $(cat err)"
	for table in type_order type_note; do
		ask orders.trx "SELECT * FROM $table" | tr -d '"' >expected
		sqlite3 -csv orders.db "SELECT * FROM $table" | tr -d '\r"' >found
		same "the table $table"
	done
	"$tool" export --to sqlite -o requests.db requests.trx >out 2>err || complain "export fails: $(cat err)"
	ask requests.trx 'SELECT number, id, load FROM type_request ORDER BY id' >expected
	sqlite3 -csv requests.db 'SELECT number, id, load FROM type_request ORDER BY length(id), id' | tr -d '\r"' >found
	same 'unsigned integers of 64 bits'
	sqlite3 requests.db "SELECT count(DISTINCT id), sum(id = '18446744073709551615'), sum(id = 5) FROM type_request" >found
	echo '18|1|1' >expected
	same 'unsigned integers that are compared'
	sqlite3 copy.db 'SELECT DISTINCT typeof(ns), typeof(time), typeof(event), typeof(bytes) FROM events' >found
	echo 'integer|real|text|blob' >expected
	same 'the types of columns'
	sqlite3 copy.db "EXPLAIN QUERY PLAN SELECT * FROM events WHERE ns > 5" | grep -o 'INDEX events_ns' >found
	echo 'INDEX events_ns' >expected
	same 'the index of times'
	fails 2 'exists; --force overwrites it' export --to sqlite -o copy.db core
	"$tool" export --to sqlite --force --until 20us -o copy.db core >out 2>&1 ||
		complain "export --force fails: $(cat out)"
	sqlite3 copy.db 'SELECT count(*) FROM events' >found
	"$tool" print --until 20us --format csv core | sed 1d | wc -l >expected
	same 'the events of a range'
	[ -z "$(find . -name 'copy.db.part*')" ] || complain 'export leaves a file'
fi
fails 2 'cannot write to standard output' export --to sqlite -o - core

# A growing log: all tables show the same events.  At first all of them are in the rings.
has_events()
{
	[ "$("$tool" print "$1" 2>/dev/null | wc -l)" -gt 1 ] # the titles are a line, too
}
own_account
recording -l growing.trx -u 200 -p append
await has_events growing.trx
nr_checks=$((nr_checks + 1))
ask growing.trx \
	'SELECT (SELECT count(*) FROM events) = (SELECT count(*) FROM events), (SELECT count(*) FROM events) > 0' >found
ended
[ "$(cat found)" = 1,1 ] || complain "a log that grows: $(cat found err)"

# A hostile file ends a query, but not the tool.
for seed in $(seq 40); do
	nr_checks=$((nr_checks + 1))
	{ cat "$top/tests/data/threadx.txt"; echo "scramble $seed"; } | "$mktrx" >hostile
	"$tool" sql hostile \
		'SELECT count(*), sum(length(data)), (SELECT count(*) FROM waits), (SELECT count(*) FROM holds),
		(SELECT count(*) FROM objects) FROM events WHERE time >= 0.01' >out 2>&1
	[ $? -le 2 ] || complain "seed $seed ends the tool"
done
size=$(wc -c <plain.trx)
for cut in 3 5 9; do
	nr_checks=$((nr_checks + 1))
	head -c $((size * cut / 10)) plain.trx >cut.trx
	ask cut.trx 'SELECT count(*) FROM events WHERE time >= 0' >found
	"$tool" print --format csv cut.trx 2>/dev/null | sed 1d | wc -l >expected
	same "a log that was cut to $cut tenths"
done
finish
