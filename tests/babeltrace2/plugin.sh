#!/bin/sh
# SPDX-License-Identifier: MIT
# The plugin of Babeltrace 2 makes the events that the tool prints.  It is found by itself, works with Babeltrace's
# filters and beside other traces, and does not end the process, whatever is in a file.
. "${srcdir:-.}/tests/tool/lib.sh"

plugins=$(cd "$(dirname "$tool")/../babeltrace2/.libs" 2>/dev/null && pwd)
[ -e "$plugins/babeltrace-plugin-txtrace.so" ] || { echo 'SKIP: the plugin of Babeltrace 2 was not built'; exit 77; }
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP: a sanitizer must be loaded before Babeltrace'; exit 77; }
command -v babeltrace2 >/dev/null || { echo 'SKIP: babeltrace2 is missing'; exit 77; }
tests=$(dirname "$tool")/../tests
BABELTRACE_PLUGIN_PATH=$plugins LD_LIBRARY_PATH=$(cd "$(dirname "$tool")/../lib/.libs" && pwd) TXTRACE=$tool
PYTHONDONTWRITEBYTECODE=1
export BABELTRACE_PLUGIN_PATH LD_LIBRARY_PATH TXTRACE PYTHONDONTWRITEBYTECODE
python=
for program in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$program" -c 'import bt2' 2>/dev/null || python=$program
done

own_streams

# events [OPTION...] FILE...: the times and the names of the events, as Babeltrace prints them
events()
{
	babeltrace2 --clock-cycles --no-delta "$@" 2>"$scratch/err" | sed 's/^\[0*\([0-9]*\)\] *\([^{]*\): { .*/\1 \2/'
}

make_samples
"$tests/python/described" "$scratch/described.trx" 30 "$(date +%s)" <"$top/tests/python/descriptions.txt" ||
	complain 'described fails'
for kind in whole gap lossy; do
	"$tests/tool/make_log" "$scratch/$kind.trx" "$kind" || complain 'make_log fails'
done
set -- "$scratch/described.trx" "$scratch/whole.trx" "$scratch/gap.trx" "$scratch/lossy.trx"
! make_mixture "$scratch/mixture.trx" || set -- "$@" "$scratch/mixture.trx"
set -- "$@" "$samples"/*.trx

# The exporter to CTF makes the same messages, which Babeltrace's own source reads from files.  (Babeltrace 2.0.4 shows
# an empty text in CTF as the text of an event before, so described.trx is left out.)
for file in "$@"; do
	[ "$file" != "$scratch/described.trx" ] || continue
	nr_checks=$((nr_checks + 1))
	babeltrace2 "$file" >"$scratch/ours" 2>"$scratch/err" || complain "babeltrace2 fails: $(cat "$scratch/err")"
	rm -rf "$scratch/ctf"
	"$tool" export --to ctf -o "$scratch/ctf" "$file" 2>/dev/null || complain "$file: export fails"
	babeltrace2 "$scratch/ctf" >"$scratch/theirs" 2>/dev/null
	sed -i 's/_*[a-z0-9_]*_len = [0-9]*, //g' "$scratch/theirs" # CTF has fields for the lengths of arrays
	[ -s "$scratch/ours" ] || complain "$file: there are no events"
	cmp -s "$scratch/ours" "$scratch/theirs" || {
		complain "$file: not the events of the CTF trace:"
		diff "$scratch/ours" "$scratch/theirs" | cut -c1-300 | head -6
	}
done

nr_checks=$((nr_checks + 1))
babeltrace2 "$scratch/whole.trx" 2>/dev/null | grep -q ' posix_trace_start: .*{ filter = "none" }$' ||
	complain "the filter of START is not shown: $(babeltrace2 "$scratch/whole.trx" 2>&1 | head -1 | cut -c1-300)"

# A trimmer cuts at times; a second trace is mixed in by time.
nr_checks=$((nr_checks + 1))
log=$scratch/whole.trx
events "$log" >"$scratch/all"
middle=$(sed -n '6s/ .*//p' "$scratch/all")
second=$((middle / 1000000000))
begin=$second.$(printf '%09d' $((middle % 1000000000)))
events --begin="$begin" "$log" >"$scratch/cut"
awk -v from="$middle" '$1 "" >= from ""' "$scratch/all" | cmp -s - "$scratch/cut" ||
	complain "a trimmer at $begin: $(head -3 "$scratch/cut")"
nr_checks=$((nr_checks + 1))
rm -rf "$scratch/ctf"
"$tool" export --to ctf -o "$scratch/ctf" "$scratch/gap.trx" 2>/dev/null
events "$log" "$scratch/ctf" >"$scratch/mixed"
[ "$(wc -l <"$scratch/mixed")" -eq $(($(events "$scratch/ctf" | wc -l) + $(wc -l <"$scratch/all"))) ] ||
	complain 'the trace and a CTF trace together have another number of events'
cut -d ' ' -f 1 "$scratch/mixed" | sort -nc 2>/dev/null || complain 'two traces are not mixed by time'
nr_checks=$((nr_checks + 1))
babeltrace2 "$scratch/gap.trx" 2>&1 >"$scratch/out" | grep -q 'discarded [0-9]* events' ||
	complain "Babeltrace reports no discarded events"
"$tests/tool/mklog" "$scratch/looped.trx" 30000 16 worker 200000 || complain 'mklog fails'
by_log=$("$tool" info "$scratch/looped.trx" 2>/dev/null | sed -n 's/^lost: log  *//p')
nr_checks=$((nr_checks + 1))
babeltrace2 "$scratch/looped.trx" 2>&1 >"$scratch/out" |
	grep -q "discarded $by_log events between \[\([^]]*\)\] and \[\1\]" ||
	complain "Babeltrace does not report the $by_log events that a full log has lost"

# A stream that record -o - has sent, and compressed files, are found by themselves, too.
own_streams
nr_checks=$((nr_checks + 1))
"$tool" record -o - "$subject" -n 20 2>"$scratch/err" >"$scratch/stream" || complain "record -o - fails: $(cat "$scratch/err")"
"$tool" pack -o "$scratch/packed.trx" "$scratch/stream" 2>"$scratch/err" || complain "pack fails: $(cat "$scratch/err")"
events "$scratch/packed.trx" >"$scratch/all"
[ -s "$scratch/all" ] || complain 'the stream has no events'
for program in gzip xz zstd; do
	! has_program $program "files made by $program" || $program -c "$scratch/stream" >"$scratch/stream.$program"
done
# Only compressions that the build has are read.
for file in "$scratch/stream" "$scratch"/stream.*; do
	"$tool" info "$file" >/dev/null 2>&1 || continue
	nr_checks=$((nr_checks + 1))
	events "$file" | cmp -s - "$scratch/all" || complain "$file: $(cat "$scratch/err")"
done
echo 'no trace' | gzip -c >"$scratch/text.gz"
nr_checks=$((nr_checks + 1))
babeltrace2 "$scratch/text.gz" >"$scratch/out" 2>&1 && complain 'a compressed text is taken for a trace'

# Errors are those of Babeltrace, not exits of the plugin.
# refuses TEXT ARGUMENT...
refuses()
{
	nr_checks=$((nr_checks + 1))
	what=$1
	shift
	babeltrace2 "$@" >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ "$code" -eq 1 ] || complain "babeltrace2 $* ends with $code"
	grep -qF -e "$what" "$scratch/err" || complain "babeltrace2 $*: no message '$what'"
}
head -c 3000 "$log" >"$scratch/cut.trx"
printf 'BTXT and no trace' >"$scratch/false.trx"
refuses 'the trace cannot be read' "$scratch/false.trx"
refuses 'the parameter inputs' --component=source.txtrace.file
refuses 'the parameter tick-ns' --component=source.txtrace.file --params="inputs=[\"$log\"],tick-ns=\"a\""
refuses 'there is no parameter tick_ns' --component=source.txtrace.file --params="inputs=[\"$log\"],tick_ns=5"
nr_checks=$((nr_checks + 1))
babeltrace2 help source.txtrace.file >"$scratch/out" 2>&1
grep -q 'tick-ns=NUMBER' "$scratch/out" && grep -q 'inputs=' "$scratch/out" || complain "help: $(cat "$scratch/out")"

# No memory: at each of the first allocations, and at some later ones.
object=$scratch/fail_alloc.so
if ${CC:-cc} -shared -fPIC -O1 "$top/tests/babeltrace2/fail_alloc.c" -o "$object" -ldl 2>/dev/null; then
	nr_failed=0
	for i in 1 2 3 4 5 6 8 10 13 17 22 29 38 50 70 100 150 220 330 500; do
		nr_checks=$((nr_checks + 1))
		FAIL_ALLOC=$i LD_PRELOAD=$object babeltrace2 "$scratch/described.trx" >"$scratch/out" 2>"$scratch/err"
		code=$?
		[ "$code" -le 1 ] || complain "without memory at allocation $i, babeltrace2 ends with $code"
		nr_failed=$((nr_failed + code))
	done
	[ "$nr_failed" -ge 10 ] || complain "only $nr_failed allocations failed"
else
	echo 'SKIP memory: the object that refuses memory cannot be built'
fi

if [ -n "$python" ]; then
	mkdir "$scratch/hostile"
	"$tests/fuzz/seeds" "$scratch/hostile" || complain 'seeds fails'
	cp "$top"/tests/fuzz/findings/* "$scratch/hostile"
	seed=$(date +%s)
	echo "seed $seed"
	"$python" "$top/tests/python/damage.py" "$seed" "$scratch/hostile" "$@" || complain 'damage.py fails'
	for command in events seek; do
		nr_checks=$((nr_checks + 1))
		"$python" "$top/tests/babeltrace2/check.py" "$command" "$@" 2>"$scratch/err" ||
			complain "check.py $command fails, with $?: $(tail -3 "$scratch/err")"
	done
	# One type has several native events: the image of a log that is cut is not what its records say.
	[ ! -e "$scratch/mixture.trx" ] || "$python" - "$scratch/mixture.trx" "$scratch/hostile/native.trx" <<'END' ||
import struct, sys
log = bytearray(open(sys.argv[1], "rb").read())
log = log[:len(log) * 9 // 10]
header = struct.unpack_from("=7I", log)
first = header[6] - header[2] # the entries, behind the registry
places = [at for at in range(first + 8, len(log) - 4, 32) if 50 < struct.unpack_from("=I", log, at)[0] < 100]
for at in places[::2]:
    struct.pack_into("=I", log, at, 60)
open(sys.argv[2], "wb").write(log)
sys.exit(not places)
END
		complain 'the image of the mixture has no calls'
	nr_checks=$((nr_checks + 1))
	"$python" "$top/tests/babeltrace2/check.py" hostile "$scratch"/hostile/* 2>"$scratch/err" ||
		complain "check.py hostile fails, with $?: $(tail -3 "$scratch/err")"
else
	echo 'SKIP events, seeking and damaged files: Python has no bt2 (Debian: apt-get install python3-bt2)'
fi
finish
