#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace export --to trx and trxc: check accepts the result without a warning, and it has the same events as the input.
. "${srcdir:-.}/tests/tool/lib.sh"

mklog=$(pwd)/tests/tool/mklog
[ -x "$mklog" ] || { echo "FAIL: there is no $mklog"; exit 99; }
TXTRACE_DIR=$scratch
export TXTRACE_DIR

bad_files export --to trx -o "$scratch/out.trx"
bad_files export --to trxc -o "$scratch/out.trxc"
[ ! -e "$scratch/out.trx" ] || complain 'bad input left a file'

# export_trx IN OUT ARGUMENT...
export_trx()
{
	in=$1
	out=$2
	shift 2
	nr_checks=$((nr_checks + 1))
	"$tool" export --to trx -o "$out" "$@" "$in" 2>"$scratch/err" ||
		complain "export $* of $in: $(cat "$scratch/err")"
}

passes()
{
	nr_checks=$((nr_checks + 1))
	"$tool" check --strict "$1" >"$scratch/checked" || complain "$1 does not pass check: $(cat "$scratch/checked")"
	# The other checker of this project accepts it, too.
	"$(pwd)/tests/tool/secondview" "$1" >"$scratch/checked" 2>&1
	[ ! -s "$scratch/checked" ] || complain "$1 does not pass the other checker: $(cat "$scratch/checked")"
}

# rows COLUMNS FILE ARGUMENT...: the rows without the header line, and without the CR of RFC 4180
rows()
{
	columns=$1
	file=$2
	shift 2
	"$tool" print --format csv --columns "$columns" "$@" "$file" | tr -d '\r' | sed 1d
}

# All columns of an event, except the name of its thread, to which export may have added the handle.
events_of()
{
	rows ns,cpu,context,priority,event,type,size,hex "$1"
}

same_events()
{
	nr_checks=$((nr_checks + 1))
	events_of "$1" >"$scratch/events1"
	events_of "$2" >"$scratch/events2"
	cmp -s "$scratch/events1" "$scratch/events2" ||
		complain "$2 has other events than $1: $(diff "$scratch/events1" "$scratch/events2" | head -4)"
}

# A difficult trace: handles that collide, contexts without a thread, names of all kinds, a core in the id, a clock that
# falls.
cat >"$scratch/awkward" <<END
big
object 1 0x1001 5 alpha (1)
object 1 0x1002 6 alpha (1)
object 1 0xF0F0F0F8 7 odd_one
object 5 0x5001 0 alpha (1)
object 5 0x1002 0 the handle of a thread
object 4 0 0 no handle
object 3 0x7001 0
object 1 0x1003 9 the longest name that can be in it
event 0x1001 4100 1000
event 0x2222 0x0200F001 900
event 0x5001 4100 800
event 0xF0F0F0F8 4102 700
event 0x1001 52 600 0x9999 0 0x8888 0
event 0x1001 57 500 0x5001 0x1001 1 0
event 0x1001 2 400 0x1001 4 0 0x7777
event 0xFFFFFFFF 3 300
event 0xF0F0F0F0 4103 200
event 0 4103 100
END
"$mktrx" <"$scratch/awkward" >"$scratch/awkward.trx"
export_trx "$scratch/awkward.trx" "$scratch/awkward-out.trx"
passes "$scratch/awkward-out.trx"
"$tool" print --columns time,cpu,priority,thread,context,event,data "$scratch/awkward-out.trx" >"$scratch/out"
"$tool" info --objects "$scratch/awkward-out.trx" | sed '1,/^$/d' >>"$scratch/out"
golden_file trx-awkward "$scratch/out"

# Few events: TraceX could not decide the direction of time.
for stamps in '' '7' '7 9' '7 7' '7 9 9' '7 7 7 7' '7 4294967295'; do
	{ echo 'object 1 0x1001 5 alpha'; for stamp in $stamps; do echo "event 0x1001 4100 $stamp"; done
		echo 'event 0 0 0'; } | "$mktrx" >"$scratch/few.trx"
	export_trx "$scratch/few.trx" "$scratch/few-out.trx" --force
	passes "$scratch/few-out.trx"
	nr_checks=$((nr_checks + 1))
	rows delta,event,context "$scratch/few-out.trx" -f 'not event:TX_TRACE_RUNNING' | sed 1d >"$scratch/events1"
	rows delta,event,context "$scratch/few.trx" | sed 1d >"$scratch/events2"
	# A step of this size is one that TraceX regards as a wrap.
	case $stamps in '7' | '7 7' | '7 7 7 7') cmp -s "$scratch/events1" "$scratch/events2" ||
		complain "few events: $stamps" ;; esac
done
printf '%s\n' 'event 0xFFFFFFFF 3 10' 'event 0xFFFFFFFF 4 20' 'object 0 0 0' | "$mktrx" >"$scratch/few.trx"
export_trx "$scratch/few.trx" "$scratch/few-out.trx" --force
passes "$scratch/few-out.trx"

# The result of a text is binary, and equals that of the binary file.
od -An -v -tx1 "$scratch/awkward.trx" | tr -d ' ' >"$scratch/awkward.hex"
export_trx "$scratch/awkward.hex" "$scratch/hex-out.trx"
cmp -s "$scratch/hex-out.trx" "$scratch/awkward-out.trx" || complain 'text comes out as something else'
"$tool" export --to trx -o - "$scratch/awkward.trx" >"$scratch/stdout.trx" 2>"$scratch/err"
cmp -s "$scratch/stdout.trx" "$scratch/awkward-out.trx" || complain 'on standard output it is something else'
nr_checks=$((nr_checks + 2))

# If a pause is too long for the stamps, the tick becomes longer.
printf '%s\n' 'object 1 0x1001 5 alpha' 'event 0x1001 4100 0' 'event 0x1001 4100 10' 'event 0x1001 4100 20' \
	'event 0x1001 4100 0x30000000' 'event 0x1001 4100 0x30000010' | "$mktrx" >"$scratch/pause.trx"
export_trx "$scratch/pause.trx" "$scratch/pause-out.trx"
grep -q 'for TraceX, 0.1 ticks per microsecond' "$scratch/err" || complain "a long pause: $(cat "$scratch/err")"
passes "$scratch/pause-out.trx"
rows ns "$scratch/pause-out.trx" --tick 10000 >"$scratch/out"
[ "$(sed -n 4p "$scratch/out")" = 805306370000 ] || complain "a long pause ends at $(sed -n 4p "$scratch/out") ns"
nr_checks=$((nr_checks + 1))

# A part of the trace: by time, by core, by number of events.
export_trx "$scratch/awkward.trx" "$scratch/part.trx" --from 200us --until 600us
[ "$(rows ns "$scratch/part.trx" | wc -l)" -eq 4 ] || complain 'a part has other events than 4'
passes "$scratch/part.trx"
export_trx "$scratch/awkward.trx" "$scratch/core.trx" --per-core
[ ! -e "$scratch/core.trx" ] || complain '--per-core makes a file with all events'
[ "$(rows cpu,event "$scratch/core-cpu2.trx" -f 'not event:TX_TRACE_RUNNING')" = 2,TX_TRACE_USER_EVENT_61441 ] ||
	complain '--per-core: the file of CPU 2 has other events'
passes "$scratch/core-cpu0.trx"
passes "$scratch/core-cpu2.trx"
[ "$(cd "$scratch" && ls core-*)" = "$(printf 'core-cpu0.trx\ncore-cpu2.trx')" ] ||
	complain "--per-core: $(cd "$scratch" && ls core-*)"
printf '%s\n' 'object 1 0x1001 5 alpha' 'event 0x1001 4100 5' 'repeat 200007' | "$mktrx" >"$scratch/many.trx"
export_trx "$scratch/many.trx" "$scratch/split.trx" --split
passes "$scratch/split-1.trx"
passes "$scratch/split-2.trx"
[ ! -e "$scratch/split-3.trx" ] || complain '--split makes a third file'
n=$(for i in 1 2; do rows ns "$scratch/split-$i.trx" -f 'not event:TX_TRACE_RUNNING'; done | wc -l)
[ "$n" -eq 200007 ] || complain "--split: $n events of 200007"
rm "$scratch/split-1.trx"
nr_checks=$((nr_checks + 1))
"$tool" export --to trx --split -o "$scratch/split.trx" "$scratch/many.trx" 2>"$scratch/err"
[ $? -eq 2 ] && grep -q 'split-2.trx exists' "$scratch/err" ||
	complain "--split over a file that exists: $(cat "$scratch/err")"
[ ! -e "$scratch/split-1.trx" ] || complain '--split leaves a part behind'
rm "$scratch/many.trx" "$scratch/split-2.trx"

fails 2 'exists' export --to trx -o "$scratch/part.trx" "$scratch/awkward.trx"
fails 2 'is an input file' export --to trx --force -o "$scratch/awkward.trx" "$scratch/awkward.trx"
cp "$scratch/awkward.trx" "$scratch/awkward-1.trx"
fails 2 'is an input file' export --to trx --force --split -o "$scratch/awkward.trx" "$scratch/awkward-1.trx"
cmp -s "$scratch/awkward.trx" "$scratch/awkward-1.trx" || complain '--split writes over what it reads'
rm "$scratch/awkward-1.trx"
fails 2 'No such file' export --to trx -o "$scratch/nowhere/out.trx" "$scratch/awkward.trx"
fails 2 'use -o FILE' export --to trx --split -o - "$scratch/awkward.trx"
fails 2 '--to csv has no --split' export --to csv --split -o - "$scratch/awkward.trx"
fails 2 '--to trx has no --columns' export --to trx --columns ns -o - "$scratch/awkward.trx"

# A log: times to the nanosecond, also as a date; names; data of any size.
"$mklog" "$scratch/log" 500 40 'worker_(ü)' || complain 'no log could be written'
export_trx "$scratch/log" "$scratch/log-out.trx"
passes "$scratch/log-out.trx"
grep -q 'for TraceX, 1000 ticks' "$scratch/err" || complain "a log: $(cat "$scratch/err")"
# The expected result: a row for each 16 bytes of each event; of system events, only the first 16 bytes.
rows cpu,type,event,hex "$scratch/log" | awk -F, -v OFS=, '{
	gsub("_", "-", $3)
	n = $2 < 16 || $4 == "" ? 1 : length($4)
	for (i = 1; i <= n; i += 32) {
		hex = substr($4 "00000000000000000000000000000000", i, 32)
		while (length(hex) < 32)
			hex = hex "0"
		if (i == 1)
			print $1, 65536 + 4096 + $2, $3, hex
		else
			print $1, 65536 + 4096, "TX_TRACE_USER_EVENT_4096", hex
	} }' >"$scratch/rows1"
# Entries that show which thread runs are not in the log.
without_running()
{
	grep -v ',TX_TRACE_RUNNING,0*$'
}
rows cpu,type,event,hex "$scratch/log-out.trx" | without_running >"$scratch/rows2"
nr_checks=$((nr_checks + 1))
[ "$(wc -l <"$scratch/rows2")" -eq 1502 ] ||
	complain "a log of 500 events of 40 bytes has $(wc -l <"$scratch/rows2") rows"
cmp -s "$scratch/rows1" "$scratch/rows2" ||
	complain "a log comes out as something else: $(diff "$scratch/rows1" "$scratch/rows2" | head -4)"
rows time "$scratch/log" | uniq >"$scratch/rows1"
rows time "$scratch/log-out.trx" --tick 1 | uniq >"$scratch/rows2"
cmp -s "$scratch/rows1" "$scratch/rows2" ||
	complain "the times of a log are others: $(diff "$scratch/rows1" "$scratch/rows2" | head -4)"
"$tool" info --objects "$scratch/log-out.trx" | grep -q 'thread .* worker-\[?\] [0-9]*$' ||
	complain 'the name of the thread is not as TraceX wants it'
# The date of the file is the time of the last event.
last=$(rows ns "$scratch/log" | tail -1)
dated=$(stat -c %.9Y "$scratch/log-out.trx" | tr -d .)
[ "$last" = "$dated" ] || complain "the last event is of $last ns, the file of $dated"
nr_checks=$((nr_checks + 4))

# An event that is older than the events before it is put in its place: the script sets back three times of the log.
# This is a log of version 2, in which each event has 48 bytes.
gzip -dc "$top/tests/data/version2/steps.trx.gz" >"$scratch/late" || complain 'there is no log of version 2'
slots=$(((48 + 1020 * 76 + 32 * 1048575 + 4095) / 4096 * 4096 + 4096 + 4096 + 4096 * 64 + 65536 + 384 * 96 + (1020 * 112 + 4095) / 4096 * 4096))
for pair in '60 50' '61 50' '90 40'; do
	dd if="$scratch/late" of="$scratch/time" bs=8 skip=$(((slots + ${pair#* } * 48) / 8 + 1)) count=1 2>/dev/null
	dd if="$scratch/time" of="$scratch/late" bs=8 seek=$(((slots + ${pair% *} * 48) / 8 + 1)) conv=notrunc \
		2>/dev/null
done
export_trx "$scratch/late" "$scratch/late-out.trx"
passes "$scratch/late-out.trx"
nr_checks=$((nr_checks + 2))
rows ns,hex "$scratch/late" -f 'event:*_step' >"$scratch/rows1"
sort -t, -k1,1n -s "$scratch/rows1" >"$scratch/sorted"
! cmp -s "$scratch/rows1" "$scratch/sorted" || complain 'the log has no event that is out of order'
rows hex "$scratch/late-out.trx" -f 'event:*-step' | cut -c1-16 >"$scratch/rows2"
cut -d, -f2 "$scratch/sorted" | cmp -s - "$scratch/rows2" || complain 'an event that came late is not in its place'

# The full names of its types. No blank or missing field may break TraceX.
"$tool" export --to trxc -o "$scratch/names.trxc" "$scratch/log" || complain 'export --to trxc'
grep -q '^4113, even_step, ES, ' "$scratch/names.trxc" && grep -q '^4114, odd_step, OS, ' "$scratch/names.trxc" ||
	complain "trxc: $(cat "$scratch/names.trxc")"
[ "$(sed -n '/^Start$/,/^End$/p' "$scratch/names.trxc" | awk -F', ' 'NF == 13' |
	wc -l)" -eq "$(($(sed -n '/^Start$/,/^End$/p' "$scratch/names.trxc" | wc -l) - 2))" ] ||
	complain 'trxc: a line has not 13 fields'
nr_checks=$((nr_checks + 2))

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	export_trx "$samples/$sample.trx" "$scratch/$sample.trx"
	passes "$scratch/$sample.trx"
	same_events "$samples/$sample.trx" "$scratch/$sample.trx"
	nr_checks=$((nr_checks + 1))
	for file in "$samples/$sample.trx" "$scratch/$sample.trx"; do
		"$tool" info --objects "$file" | sed -n '/^handle/,$p' | sed 's/ (deleted)$/ deleted/' | sort
	done >"$scratch/objects"
	# If a name occurred twice, export has added the handle.
	sed 's/^\(0*\([0-9a-f]*\) .*\) \2\( deleted\)*$/\1\3/' "$scratch/objects" | sort | uniq -c |
		awk '$1 != 2' >"$scratch/odd"
	[ ! -s "$scratch/odd" ] || complain "$sample: other objects: $(cat "$scratch/odd")"
done
finish
