#!/bin/sh
# SPDX-License-Identifier: MIT
# export --to clickhouse, against real servers: each table has the same rows as in txtrace sql, and the queries of
# doc/fleet.md find what those of txtrace-sql(1) find. A trace is loaded once, an interrupted load is found out, and the
# rows of several traces can be spread over two servers.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

if "$tool" sql "$scratch/none" 'SELECT 1' 2>&1 | grep -q 'without SQLite'; then
	echo 'SKIP: txtrace was built without SQLite'
	exit 77
fi
command -v clickhouse-server >/dev/null && command -v clickhouse-client >/dev/null || {
	echo 'SKIP: ClickHouse is not installed'
	exit 77
}
own_streams
waits_make
cd "$scratch" || exit 99
fails 2 '--to clickhouse writes more than one file' export --to clickhouse -o - convoy
mklog=$(dirname "$tool")/../tests/tool/mklog
export HOME="$scratch" # clickhouse-client writes a history there

# A small system has no name for this machine.
client()
{
	clickhouse-client --host 127.0.0.1 "$@"
}

# The servers.

# begin_server NAME PORT: a server that listens to this port, in a folder of its own
begin_server()
{
	mkdir -p "$1"
	cat >"$1/config.xml" <<END
<yandex>
	<logger><level>warning</level><log>$scratch/$1/log</log><errorlog>$scratch/$1/errors</errorlog></logger>
	<listen_host>127.0.0.1</listen_host>
	<tcp_port>$2</tcp_port>
	<path>$scratch/$1/data/</path>
	<tmp_path>$scratch/$1/tmp/</tmp_path>
	<users_config>users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size>
	<remote_servers><fleet>
		<shard><replica><host>127.0.0.1</host><port>$one</port></replica></shard>
		<shard><replica><host>127.0.0.1</host><port>$two</port></replica></shard>
	</fleet></remote_servers>
</yandex>
END
	cat >"$1/users.xml" <<END
<yandex>
	<profiles><default/></profiles>
	<users><default>
		<password></password>
		<networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile>
		<quota>default</quota>
	</default></users>
	<quotas><default/></quotas>
</yandex>
END
	(cd "$1" && exec clickhouse-server --config-file=config.xml >out 2>&1) &
	servers="${servers-} $!"
}

end_servers()
{
	[ -z "${servers-}" ] || kill $servers 2>/dev/null
	for server in ${servers-}; do
		wait "$server" 2>/dev/null
	done
	servers=
}

answers()
{
	[ "$(client --port "$1" --query 'SELECT 1' 2>/dev/null)" = 1 ]
}

trap 'end_servers; rm -rf "$scratch"' EXIT
# Ports that another program has are found when a server ends at once.
for try in 1 2 3 4 5; do
	one=$((20000 + ($$ * 2 + try * 7001) % 12000))
	two=$((one + 1))
	begin_server first "$one"
	begin_server second "$two"
	waited=0
	until answers "$one" && answers "$two"; do
		waited=$((waited + 1))
		kill -0 $servers 2>/dev/null && [ "$waited" -lt 300 ] || break
		sleep 0.2
	done
	if answers "$one" && answers "$two"; then
		break
	fi
	end_servers
	rm -rf first second
done
[ -n "$servers" ] || {
	complain 'no server begins'
	finish
}

# house QUERY: ask the first server
house()
{
	client --port "$one" --database "${database-txtrace}" --query "$1"
}

# put NAME FILE OPTION...: export the trace and load it as NAME
put()
{
	name=$1
	file=$2
	shift 2
	"$tool" export --to clickhouse "$@" -o "$name.clickhouse" "$file" >out 2>err || complain "export fails: $(cat err)"
	"$name.clickhouse/load.sh" --host 127.0.0.1 --port "$one" >out 2>err || complain "load.sh of $name fails: $(cat err)"
}

# same WHAT: the files `expected` and `found` are equal
same()
{
	nr_checks=$((nr_checks + 1))
	[ -s expected ] || complain "$1: there is nothing to compare"
	cmp -s expected found || complain "$1: not the same:
$(diff expected found | head -10)"
}

# Tables. The text of each row is made by both, from all columns but the number of the file.

# row_texts COLUMNS: the expressions for SQLite and for ClickHouse
row_texts()
{
	awk -F '\t' '
	$1 == "day" || $1 == "host" || $2 ~ /UInt64/ { next }
	{
		lite = "\"" $1 "\""
		house = "`" $1 "`"
	}
	$2 ~ /Float64/ {
		lite = "CAST(round(" lite " * 1e9) AS INTEGER)"
		house = "toInt64(round(" house " * 1e9))"
	}
	$1 == "bytes" && $2 ~ /String/ {
		lite = "hex(" lite ")"
		house = "hex(assumeNotNull(" house "))"
	}
	{
		of_lite = of_lite separator "hex(ifnull(" lite ", \047NULL\047))"
		of_house = of_house comma "hex(ifNull(toString(" house "), \047NULL\047))"
		separator = " || \047,\047 || "
		comma = ", \047,\047, "
	}
	END { print of_lite; print "concat(" of_house ", \047\047)" }' "$1"
}

# compare_tables TRACE: all tables have the same rows
compare_tables()
{
	for columns in "$1.clickhouse"/*.columns; do
		table=$(basename "$columns" .columns)
		row_texts "$columns" >texts
		echo "SELECT '$table' AS name, $(sed -n 1p texts) AS line FROM $table"
		echo "SELECT '$table', $(sed -n 2p texts) FROM $table WHERE file = $(cat "$1.clickhouse/file");" >&3
	done 3>house.sql >lite.sql
	sed '$!s/$/ UNION ALL/' lite.sql >query
	"$tool" sql --format csv "$1" "$(cat query)" 2>err | tr -d '\r"' | sed 1d | sort >expected
	client --port "$one" --database txtrace --multiquery <house.sql | tr '\t' , | sort >found
	same "the rows of $1"
	nr_rows=$((nr_rows + $(wc -l <found)))
}

"$mklog" plain.trx 30000 16 worker || complain 'mklog fails'
"$mklog" other.trx 30000 16 worker || complain 'mklog fails'
"$mksched" core <"$top/tests/data/sched/one_cpu.txt" || complain 'no log could be written'
"$(dirname "$tool")/../tests/tool/orders" orders.trx >account || complain 'orders fails'
nr_rows=0
# Fields that have the names of columns, numbers of 64 bits, and numbers that are none.
"$(dirname "$tool")/../tests/tool/tables" tables.trx request calendar || complain 'tables fails'
"$(dirname "$tool")/../tests/tool/tables" named.trx 'ticket new' ticket-new Ticket ticket || complain 'tables fails'
"$(dirname "$tool")/../tests/tool/tables" turned.trx ticket Ticket ticket-new 'ticket new' || complain 'tables fails'
# A log whose newest events replaced older ones.
"$mklog" looped.trx 30000 16 worker 200000 || complain 'mklog fails'
for trace in plain.trx core convoy orders.trx tables.trx looped.trx deadlock lost; do
	put "$trace" "$trace"
	compare_tables "$trace"
done
nr_checks=$((nr_checks + 1))
[ "$nr_rows" -gt 30500 ] || complain "only $nr_rows rows were compared"

# The queries of doc/fleet.md.

# of_fleet N: the N-th query of doc/fleet.md; of_manual N: that of txtrace-sql(1)
of_fleet()
{
	awk -v wanted="$1" '
	/^```$/ { is_text = 0 }
	is_text && nr == wanted { print }
	/^```sql/ { is_text = 1; nr++ }' "$top/doc/fleet.md"
}

of_manual()
{
	awk -v wanted="$1" '
	/^\.Sh EXAMPLES/ { is_inside = 1 }
	/^\.Ed/ { is_text = 0 }
	is_text && nr == wanted { print }
	is_inside && /^\.Bd/ { is_text = 1; nr++ }' "$top/doc/man/txtrace-sql.1"
}

# The names of events and the numbers of messages are others in these traces: those of an even and an odd event differ
# by 1.
adapt()
{
	sed -e "s/'put'/'even_step'/g" -e "s/'take'/'odd_step'/g" -e 's/u32(bytes) AS id/u32(bytes) \/ 2 AS id/' \
		-e 's/\(reinterpretAsUInt32(substring(assumeNotNull(bytes), 1, 4))\) AS id/intDiv(\1, 2) AS id/'
}

# rows COLUMNS: those of CSV, with times in microseconds
rows()
{
	tr -d '\r"' | sed 's/\\N//g' | cut -d , -f "$1" | awk -F , '{
		for (i = 1; i <= NF; i++)
			if ($i ~ /^[0-9]+\.[0-9]+$/)
				$i = sprintf("%.6f", $i)
		print
	}' OFS=,
}

# agree N FILES [COLUMNS [COLUMNS]]: the N-th queries find the same; the columns are those of the manual, and of the page
agree()
{
	# shellcheck disable=SC2086  # file names
	"$tool" sql --format csv $2 "$(of_manual "$1" | adapt)" 2>err | sed 1d | rows "${3:-1-}" >expected
	numbers=$(for name in $2; do cat "$name.clickhouse/file"; done)
	house "$(of_fleet "$1" | adapt | sed -e "s/{file}/$(echo "$numbers" | sed -n 1p)/g" \
		-e "s/{other}/$(echo "$numbers" | sed -n 2p)/g") FORMAT CSV" | rows "${4:-1-}" >found
	same "query $1 of $2"
}

# The view of all that lasted.
ask_slices()
{
	"$tool" sql --format csv "$1" 'SELECT kind, count(*), sum(duration_ns) FROM slices GROUP BY kind ORDER BY kind' 2>err |
		tr -d '\r' | sed 1d >expected
	house "SELECT kind, count(), sum(duration_ns) FROM slices WHERE file = $(cat "$1.clickhouse/file") GROUP BY kind
		ORDER BY kind FORMAT CSV" | tr -d '"' >found
	same "the slices of $1"
}
ask_slices convoy
ask_slices core

put other.trx other.trx
agree 1 convoy
agree 2 convoy
agree 3 convoy
agree 4 plain.trx
agree 5 plain.trx 1,3
agree 6 core
agree 7 plain.trx 1,3
agree 8 'plain.trx other.trx'
agree 10 plain.trx 1,4 1,4 # of many values, percentile() of txtrace sql is an estimate
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
	put failing.trx failing.trx
	agree 9 failing.trx
fi

# A trace that is there is not loaded again. Its number is that of its contents, not of its name.
house 'SELECT count() FROM events' >expected
cp plain.trx again.trx
put again again.trx
nr_checks=$((nr_checks + 2))
grep -q 'this trace is there already' err || complain "a trace is loaded twice: $(cat err)"
cmp -s plain.trx.clickhouse/file again.clickhouse/file || complain 'one trace has two numbers'
house 'SELECT count() FROM events' >found
same 'the number of events'
put named gate --host=alpha
echo alpha >expected
house "SELECT host FROM files WHERE file = $(cat named.clickhouse/file)" >found
same 'the host'

# An interrupted load: the row of files is the last, so it is missing.
cat >cut.sh <<'END'
#!/bin/sh
case "$*" in *"INSERT INTO txtrace.files"*) exit 1 ;; esac
exec clickhouse-client "$@"
END
chmod +x cut.sh
nr_checks=$((nr_checks + 4))
"$tool" export --to clickhouse -o cut.clickhouse turns >out 2>err || complain "export fails: $(cat err)"
CLICKHOUSE_CLIENT="$scratch/cut.sh" cut.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err && complain 'the load is not cut'
cut.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err && complain 'rows are loaded twice'
grep -q 'an earlier load did not end' err || complain "an interrupted load is not told: $(cat err)"
grep '^ALTER TABLE' err >alter
while read -r statement; do
	house "$statement" </dev/null
done <alter
is_empty()
{
	[ "$(house "SELECT count() FROM events WHERE file = $(cat cut.clickhouse/file)")" = 0 ] &&
		[ "$(house 'SELECT count() FROM system.mutations WHERE is_done = 0')" = 0 ]
}
await is_empty
cut.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err || complain "after the rows were removed: $(cat err)"

# Each type has one table, whatever the order of the types in the traces: the values of a type are 1 and 4, or 2 and 3.
put named.trx named.trx
put turned.trx turned.trx
for columns in named.trx.clickhouse/type_*.columns; do
	table=$(basename "$columns" .columns)
	[ -e "turned.trx.clickhouse/$table.columns" ] || complain "only one trace has the table $table"
	house "SELECT count(), sum(n) FROM $table WHERE file = $(cat named.trx.clickhouse/file) OR
		file = $(cat turned.trx.clickhouse/file)"
done >found
printf '2\t5\n2\t5\n2\t5\n2\t5\n' >expected
same 'types whose names are almost the same'
nr_checks=$((nr_checks + 1))
[ -e named.trx.clickhouse/type_Ticket.columns ] && [ -e named.trx.clickhouse/type_ticket.columns ] ||
	complain "a plain name was changed: $(ls named.trx.clickhouse)"

# What was lost.
printf '0\t1\n1\t1\n' >expected
house "SELECT log_has_lost_events AS lost, count() FROM files WHERE file = $(cat plain.trx.clickhouse/file) OR
	file = $(cat looped.trx.clickhouse/file) GROUP BY lost ORDER BY lost" >found
same 'the logs that have lost events'

# Two trace buffers with one name are two traces, and a copy with another name is the same one.
mkdir one two
make_samples
cp "$samples/threadx.trx" one/board.trx
cp "$samples/filex.trx" two/board.trx
cp one/board.trx two/copy.trx
put one/board one/board.trx
put two/board two/board.trx
"$tool" export --to clickhouse -o renamed.clickhouse two/copy.trx >out 2>err || complain "export fails: $(cat err)"
nr_checks=$((nr_checks + 2))
[ "$(house "SELECT count() FROM files WHERE path LIKE '%board.trx'")" = 2 ] || complain 'two trace buffers of one name are one'
cmp -s renamed.clickhouse/file one/board.clickhouse/file || complain 'a copy of a trace buffer has another number'

# The query of doc/fleet.md lists what a count cannot be trusted in: also a trace buffer that was cut, but not a whole one.
nr_checks=$((nr_checks + 1))
head -c $(($(stat -c %s one/board.trx) - 1000)) one/board.trx >short.trx
put short short.trx
awk '/^    SELECT file, path, overwritten/ { is_text = 1 } is_text && /^$/ { exit } is_text' "$top/doc/fleet.md" >query
house "SELECT path FROM ($(cat query)) WHERE path LIKE '%board.trx' OR path = 'short.trx' OR path = 'plain.trx'" >found
[ "$(cat found)" = short.trx ] || complain "the query for losses finds: $(cat found)"

# A number that is none is NULL, and the largest integer is whole.
printf '6\t18446744073709551615\t18\n' >expected
house 'SELECT countIf(load IS NULL), max(id), uniqExact(id) FROM type_request' >found
same 'numbers that are none, and unsigned ones'

# The fields that have the names of columns.
echo '2	12	22	32	42	52	62	72	82	92' >expected
house 'SELECT `data.day`, `data.Day_2`, `data.file`, `data.number`, `data.ns`, `data.time`, `data.cpu`, `data.thread`,
	`data.context`, host FROM type_calendar ORDER BY number DESC LIMIT 1' >found
same 'fields with the names of columns'

# Two loads at the same time. The client of the first one waits before its first row until the file `go` is there.
cat >slow.sh <<'END'
#!/bin/sh
case "$*" in *"INSERT INTO "*)
	: >held
	until [ -e go ]; do
		sleep 0.1
	done
	;;
esac
exec clickhouse-client "$@"
END
sed -i "s|held|$scratch/held|; s|-e go|-e $scratch/go|" slow.sh
chmod +x slow.sh

# begin_slow DIRECTORY: begin to load it, up to the first row
begin_slow()
{
	rm -f held go
	CLICKHOUSE_CLIENT="$scratch/slow.sh" "$1/load.sh" --host 127.0.0.1 --port "$one" >out.slow 2>err.slow &
	slow=$!
	await [ -e held ]
}

# uneven: a trace that is there more than once, or has not the events that it should have
uneven()
{
	house 'SELECT file FROM (SELECT file, count() AS times, sum(events) AS events FROM files GROUP BY file) ALL LEFT JOIN
		(SELECT file, count() AS rows FROM events GROUP BY file) USING file WHERE times != 1 OR events != rows'
}

"$mklog" twin.trx 500 16 worker || complain 'mklog fails'
"$tool" export --to clickhouse -o twin.clickhouse twin.trx >out 2>err || complain "export fails: $(cat err)"
cp -r twin.clickhouse copy.clickhouse
nr_checks=$((nr_checks + 8))
begin_slow twin.clickhouse
twin.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err &
fast=$!
# Without a lock, the second load ends.
waits_or_ends()
{
	grep -q 'waiting for another load.sh' err || ! kill -0 "$fast" 2>/dev/null
}
await waits_or_ends
: >go
wait "$slow" || complain "the first of two loads fails: $(cat err.slow)"
wait "$fast" || complain "the second of two loads fails: $(cat err)"
grep -q 'this trace is there already' err || complain "the second load has loaded the trace: $(cat err)"
[ -z "$(uneven)" ] || complain "traces that are there twice: $(uneven)"

# remove_by FILE: run the statements that a message of load.sh has, and wait until the rows are not there any more
gone()
{
	[ "$(house "SELECT count() FROM files WHERE file = $(cat twin.clickhouse/file)")" = 0 ] &&
		[ "$(house 'SELECT count() FROM system.mutations WHERE is_done = 0')" = 0 ]
}
remove_by()
{
	grep '^ALTER TABLE' "$1" >alter
	while read -r statement; do
		house "$statement" </dev/null
	done <alter
	await gone
}

# A copy of the directory has another lock, as on another machine: the load that ends last says that the trace is double.
for table in twin.clickhouse/*.columns; do
	echo "ALTER TABLE txtrace.$(basename "$table" .columns) DELETE WHERE file = $(cat twin.clickhouse/file)"
done >all
remove_by all
begin_slow twin.clickhouse
copy.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err || complain "the load of a copy fails: $(cat err)"
: >go
wait "$slow" && complain 'a trace is loaded twice, and load.sh says nothing'
grep -q 'this trace is there 2 times' err.slow || complain "a double trace is not told: $(cat err.slow)"
[ "$(uneven)" = "$(cat twin.clickhouse/file)" ] || complain "the query finds as double: $(uneven)"
twin.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err && complain 'a double trace is taken for a loaded one'
remove_by err.slow
twin.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err || complain "after a double trace was removed: $(cat err)"
[ -z "$(uneven)" ] || complain "a trace is still there twice: $(uneven)"

# Fields: unsigned integers of 64 bits are whole; a new field is a new column; another type is refused.
sed -n 's/.*"key": \([0-9]*\).*/\1/p' account | sort >expected
house 'SELECT key FROM type_order' | sort >found
same 'unsigned integers of 64 bits'
for n in 1 2 3; do
	"$mklog" few$n.trx $((10 + n)) 16 worker || complain 'mklog fails'
done
put few1 few1.trx --type 'even_step=u32 n'
put few2 few2.trx --type 'even_step=u32 n; u32 more'
printf '0\t6\n6\t6\n' >expected
house 'SELECT count(more) AS nr, count(n) FROM type_even_step GROUP BY file ORDER BY nr' >found
same 'a field that is new'
nr_checks=$((nr_checks + 3))
"$tool" export --to clickhouse --type 'even_step=u32 other; f32 n' -o few3.clickhouse few3.trx >out 2>err ||
	complain "export fails: $(cat err)"
few3.clickhouse/load.sh --host 127.0.0.1 --port "$one" >out 2>err && complain 'a field of another type is loaded'
grep -q 'the column n of txtrace.type_even_step is Nullable(Int64), but here it is Nullable(Float64)' err ||
	complain "a field of another type is not named: $(cat err)"
[ "$(house "SELECT count() FROM system.columns WHERE table = 'type_even_step' AND name = 'other'")" = 0 ] ||
	complain 'a trace that is refused has changed a table'

# Two servers. The database fleet stands for the tables of both; each trace is on one of them.
for port in "$one" "$two"; do
	client --port "$port" --query 'CREATE DATABASE IF NOT EXISTS txtrace'
	client --port "$port" --database txtrace --multiquery <plain.trx.clickhouse/schema.sql
done
house 'CREATE DATABASE fleet'
for columns in plain.trx.clickhouse/*.columns; do
	table=$(basename "$columns" .columns)
	echo "TRUNCATE TABLE $table; CREATE TABLE fleet.$table AS $table ENGINE = Distributed(fleet, txtrace, $table, file);"
done | client --port "$one" --database txtrace --multiquery
for trace in plain.trx other.trx core convoy deadlock lost; do
	TXTRACE_DATABASE=fleet "$trace.clickhouse/load.sh" --host 127.0.0.1 --port "$one" --insert_distributed_sync=1 >out 2>err ||
		complain "load.sh of $trace into two servers fails: $(cat err)"
done
# The number of a trace chooses its server.
for trace in plain.trx other.trx core convoy deadlock lost; do
	number=$(cat "$trace.clickhouse/file")
	echo "$((${number#"${number%?}"} % 2)) $number $("$tool" print --format csv "$trace" 2>err | sed 1d | wc -l)"
done | sort >expected
for server in 0 1; do
	client --port "$((one + server))" \
		--query "SELECT '$server', toString(file), count() FROM txtrace.events GROUP BY file"
done | tr '\t' ' ' | sort >found
same 'the events on two servers'
database=fleet
agree 1 convoy
agree 4 plain.trx
agree 5 plain.trx 1,3
agree 8 'plain.trx other.trx'
finish
