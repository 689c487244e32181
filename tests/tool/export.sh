#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace export: perfetto, chrome, csv and jsonl. tests/tool/perfetto_check reads the first of these with protobuf-c.
. "${srcdir:-.}/tests/tool/lib.sh"

make_log=${MAKE_LOG:-tests/tool/make_log}
check=${PERFETTO_CHECK:-tests/tool/perfetto_check}
formats=$("$tool" export --help | sed -n 's/.*--to=\([a-z|]*\).*/\1/p')
first=${formats%%|*}
[ "$first" = perfetto ] || echo 'SKIP traces for Perfetto: the tool was built without protobuf-c'
for program in "$make_log" "$check"; do
	[ -x "$program" ] || { [ "$program,$first" = "$check,chrome" ]; } ||
		{ echo "FAIL: there is no $program"; exit 99; }
done
bad_files export -o "$scratch/output"
[ ! -e "$scratch/output" ] || complain 'a file that is none leaves an output'
fails 2 'takes one file' export
fails 2 'takes one file' export a b
fails 2 'unknown format nonsense' export --to nonsense "$scratch/empty"
fails 2 '--to chrome has no --columns' export --to chrome --columns time "$scratch/empty"
fails 2 'is not a time' export --until soon "$scratch/empty"

# The output of perfetto_check, without what differs in each run.
decode()
{
	"$check" "$1" 2>"$scratch/err" || complain "$1: $(cat "$scratch/err")"
}

# same_as_golden NAME FILE
same_as_golden()
{
	nr_checks=$((nr_checks + 1))
	if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
		cp "$2" "$golden_dir/$1"
	elif ! cmp -s "$2" "$golden_dir/$1"; then
		complain "$1 is something else:"
		diff -u "$golden_dir/$1" "$2" | head -20
	fi
}

# The name of the program and its numbers differ, and so do times, and the bytes of a filter.
normalise()
{
	sed -E -e 's/^(begin|end|instant) [0-9]+/\1 TIME/' -e 's/(lt-)?make_log [0-9]+/MADE/g' \
		-e 's/^(process|thread) [0-9]+( [0-9]+)?/\1 PID/' -e 's/^clock 1 [0-9]+/clock 1 TIME/' \
		-e 's/ cpu=[0-9]+/ cpu=CPU/' -e 's/hex=(00){100,}/hex=ZEROS/' "$1"
}

# The Perfetto file has each event of the trace, with its time to the nanosecond, its thread and its name.
compare_events()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns ns,thread,event -f \
		'not (*ISR_* or posix_trace_overflow or posix_trace_resume)' \
		"$1" 2>/dev/null | tr -d '\r"' | sed -e 1d -e 's/,/ /' -e 's/,/ /' | sort >"$scratch/expected"
	sed -n 's/^instant \([0-9]*\) \[\([^]]*\)\] \([A-Za-z_0-9]*\).*/\1 \2 \3/p' "$2" |
		grep -v -e ' held: ' -e ' events lost ' | sort >"$scratch/found"
	cmp -s "$scratch/expected" "$scratch/found" ||
		complain "$1: Perfetto has other events: $(diff "$scratch/expected" "$scratch/found" | head -5)"
}

# Babeltrace finds the events with their times, threads and names.
compare_ctf()
{
	case "|$formats|" in *'|ctf|'*) ;; *) return ;; esac
	has_program babeltrace2 "$1 in CTF" || return
	nr_checks=$((nr_checks + 1))
	"$tool" export --to ctf -o "$scratch/ctf" "$1" 2>/dev/null || complain "$1: --to ctf fails"
	babeltrace2 --clock-cycles --no-delta "$scratch/ctf" 2>"$scratch/err" |
		sed -n 's/^\[0*\([0-9][0-9]*\)\] \(.*\): { cpu_id.*, thread = "\([^"]*\)", priority = .*/\1,\3,\2/p' \
			>"$scratch/found"
	"$tool" print --format csv --columns ns,thread,event -f 'not (posix_trace_overflow or posix_trace_resume)' \
		"$1" 2>/dev/null |
		sed -e 1d -e 's/\r$//' -e 's/,"\(.*\)"$/,\1/' -e 's/""/"/g' -e 's/\xff/?/' >"$scratch/expected"
	cmp -s "$scratch/expected" "$scratch/found" ||
		complain "$1: CTF has other events: $(diff "$scratch/expected" "$scratch/found" | head -5)"
	[ "$(grep -c 'discarded' "$scratch/err")" -eq "$2" ] || complain "$1: not $2 gaps: $(head -3 "$scratch/err")"
	nr_lost=$("$tool" info "$1" 2>/dev/null | awk '/^lost: (overwritten|dropped|log)/ {nr += $3} END {print nr + 0}')
	[ "$2" -ne 1 ] || grep -q "discarded $nr_lost events\? " "$scratch/err" ||
		complain "$1: lost $nr_lost events, and Babeltrace says: $(head -3 "$scratch/err")"
	fails 2 'exists' export --to ctf -o "$scratch/ctf" "$scratch/whole.trx"
	fails 2 'not empty' export --to ctf --force -o "$scratch/ctf" "$scratch/whole.trx"
	fails 2 'more than one file' export --to ctf -o - "$scratch/whole.trx"
	[ "$(find "$scratch" -name 'ctf*' | wc -l)" -eq 1 ] || complain 'CTF leaves something behind'
	rm -r "$scratch/ctf"
}

# Logs.
for kind in whole gap lossy; do
	sh "$top/tests/support/with-own-dir.sh" "$make_log" "$scratch/$kind.trx" $kind ||
		complain "make_log $kind fails"
done
sh "$top/tests/support/with-own-dir.sh" "$make_log" "$scratch/large.trx" large 360000 256 ||
	complain 'make_log large fails'

"$tool" export --to csv "$scratch/whole.trx" || complain 'export --to csv fails'
"$tool" print --format csv --columns all "$scratch/whole.trx" | cmp -s - "$scratch/whole.csv" ||
	complain '--to csv is not the listing'
"$tool" export --to jsonl --columns event,data -o - "$scratch/whole.trx" >"$scratch/out"
"$tool" print --format jsonl --columns event,data "$scratch/whole.trx" | cmp -s - "$scratch/out" ||
	complain '--to jsonl is not the listing'
nr_checks=$((nr_checks + 2))

"$tool" export --to chrome -o /dev/null --force "$scratch/large.trx" 2>"$scratch/err" || complain 'large JSON fails'
[ "$(grep -c 'more JSON than' "$scratch/err")" -eq 1 ] || complain 'large JSON is not warned of, or more than once'
"$tool" export --to chrome -o /dev/null --force --until 1ms "$scratch/large.trx" 2>"$scratch/err"
[ ! -s "$scratch/err" ] || complain "small JSON is warned of: $(cat "$scratch/err")"
rm "$scratch/large.trx"
nr_checks=$((nr_checks + 2))

if [ "$first" = perfetto ]; then
	"$tool" export "$scratch/whole.trx" || complain 'export of a log fails'
	decode "$scratch/whole.perfetto-trace" >"$scratch/whole.text"
	normalise "$scratch/whole.text" >"$scratch/normal"
	same_as_golden export-log.perfetto "$scratch/normal"

	"$tool" export "$scratch/lossy.trx" 2>"$scratch/err" || complain 'export of a lossy log fails'
	grep -q 'events were lost' "$scratch/err" || complain 'no message says that events were lost'
	decode "$scratch/lossy.perfetto-trace" >"$scratch/lossy.text"
	compare_events "$scratch/lossy.trx" "$scratch/lossy.text"
	[ "$(grep -c '^lost$' "$scratch/lossy.text")" -eq 2 ] || complain 'not each gap drops a packet'
	[ "$(grep -c 'lost in all: [1-9]' "$scratch/lossy.text")" -eq 1 ] || complain 'the losses are not in the export'
	"$tool" print --format csv --columns ns -f 'posix_trace_overflow or posix_trace_resume' \
		"$scratch/lossy.trx" 2>/dev/null | tr -d '\r' | sed 1d >"$scratch/expected"
	sed -n -E 's/^(begin|end) ([0-9]+) \[events lost\].*/\2/p' "$scratch/lossy.text" >"$scratch/found"
	[ "$(wc -l <"$scratch/found")" -eq 4 ] || complain 'there are not two gaps'
	cmp -s "$scratch/expected" "$scratch/found" || complain 'gaps have other times'
	nr_checks=$((nr_checks + 6))
fi

compare_ctf "$scratch/whole.trx" 0
compare_ctf "$scratch/gap.trx" 1
compare_ctf "$scratch/lossy.trx" 2
# Only the log was full: there is no OVERFLOW, and its oldest events are missing before the first one.
"$(dirname "$tool")/../tests/tool/mklog" "$scratch/looped.trx" 30000 16 worker 200000 || complain 'mklog fails'
compare_ctf "$scratch/looped.trx" 1

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	compare_ctf "$samples/$sample.trx" 0
done

# The default name of the output, and which files export does not overwrite.
cp "$samples/threadx.trx" "$scratch/board.v1.trx"
"$tool" export --to chrome "$scratch/board.v1.trx" && [ -s "$scratch/board.v1.json" ] || complain 'no default output'
fails 2 'exists' export --to chrome "$scratch/board.v1.trx"
"$tool" export --to chrome --force "$scratch/board.v1.trx" || complain '--force does not overwrite'
fails 2 'is an input file' export --to csv --force -o "$scratch/board.v1.trx" "$scratch/board.v1.trx"
fails 2 'No such file' export --to csv -o "$scratch/no/directory" "$scratch/board.v1.trx"
mkdir "$scratch/directory"
fails 2 'is a directory' export --to csv -o "$scratch/directory" "$scratch/board.v1.trx"
fails 2 'is a directory' export --to csv --force -o "$scratch/directory" "$scratch/board.v1.trx"
cmp -s "$samples/threadx.trx" "$scratch/board.v1.trx" || complain 'the trace was written over'
[ "$(find "$scratch" -name 'board*' | wc -l)" -eq 2 ] || complain 'export leaves a part of a file'
nr_checks=$((nr_checks + 4))
if [ -w /dev/full ]; then
	fails 2 'No space' export --to csv --force -o /dev/full "$scratch/board.v1.trx"
fi
mkdir "$scratch/small"
if case "|$formats|" in *'|ctf|'*) unshare -m mount -t tmpfs none "$scratch/small" 2>/dev/null ;; *) false ;; esac; then
	nr_checks=$((nr_checks + 1))
	unshare -m sh -c 'mount -t tmpfs -o size=12k none "$1" && { "$2" export --to ctf -o "$1/ctf" "$3"; echo $?; ls -A "$1"; }' \
		sh "$scratch/small" "$tool" "$samples/netx_tcp.trx" >"$scratch/out" 2>"$scratch/err"
	[ "$(cat "$scratch/out")" = 2 ] || complain "CTF on a full device: $(cat "$scratch/out" "$scratch/err")"
else
	echo 'SKIP CTF on a full device: no tmpfs can be mounted, or the tool has no CTF'
fi

golden export-netx.chrome export --to chrome -o - --until 12ms "$samples/netx_tcp.trx"
golden export-filex.csv export --to csv -o - -f 'number<20' "$samples/filex.trx"
golden export-filex.jsonl export --to jsonl -o - -f 'number<20' --columns number,ns,thread,event,data \
	"$samples/filex.trx"

if [ "$first" = perfetto ]; then
	for sample in threadx filex netx_tcp netx_udp; do
		"$tool" export -o "$scratch/$sample.pf" --tick 1000.5 "$samples/$sample.trx" ||
			complain "$sample: export fails"
		decode "$scratch/$sample.pf" >"$scratch/text"
		"$tool" export --force -o "$scratch/$sample.pf" "$samples/$sample.trx" ||
			complain "$sample: export fails"
		decode "$scratch/$sample.pf" >"$scratch/text"
		compare_events "$samples/$sample.trx" "$scratch/text"
		sed -e '/^instant.*\[held: /p' -e '/^instant/d' -e '/^counter [0-9]/d' "$scratch/text" \
			>"$scratch/slices"
		same_as_golden "export-$sample.slices" "$scratch/slices"
	done
	"$tool" export -o "$scratch/part.pf" --until 4ms "$samples/threadx.trx" || complain '--until fails'
	decode "$scratch/part.pf" >"$scratch/text"
	same_as_golden export-threadx.perfetto "$scratch/text"
fi

# The JSON is valid; slices nest, times do not fall, and are those of the events to the nanosecond.
if has_program python3 'export --to chrome is JSON, a terminal gets no binary data'; then
	for trace in "$samples"/*.trx "$scratch/whole.trx" "$scratch/lossy.trx"; do
		nr_checks=$((nr_checks + 1))
		"$tool" export --to chrome -o - "$trace" >"$scratch/json" 2>/dev/null
		"$tool" print --format csv --columns ns,event \
			-f 'not (*ISR_* or posix_trace_overflow or posix_trace_resume)' "$trace" >"$scratch/csv" \
				2>/dev/null
		python3 - "$scratch/json" "$scratch/csv" <<'END' || complain "$trace: JSON is wrong"
import collections, csv, decimal, json, sys
trace = json.load(open(sys.argv[1], encoding="utf-8"), parse_float=decimal.Decimal)
records, first_ns = trace["traceEvents"], int(trace["otherData"]["first_event_ns"])
names = {(r["pid"], r["tid"]): r["args"]["name"] for r in records if r.get("name") == "thread_name"}
last, depth, flows = {}, collections.Counter(), set()
events = []
for r in records:
    if r["ph"] == "M":
        continue
    track = r["pid"], r["tid"]
    ns = r["ts"] * 1000
    assert ns == int(ns) and ns >= last.get(track, 0), r
    last[track] = ns
    assert r["ph"] == "C" or track in names, r
    depth[track] += {"B": 1, "E": -1}.get(r["ph"], 0)
    assert depth[track] >= 0, r
    if r["ph"] == "s":
        flows.add(r["id"])
    assert r["ph"] not in "tf" or r["id"] in flows, r
    if r["ph"] == "i" and not names[track].startswith(("held: ", "events lost")):
        events.append((first_ns + int(ns), r["name"]))
assert not any(depth.values())
listing = csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8", errors="replace"))
assert sorted(events) == sorted((int(r["ns"]), r["event"]) for r in listing)
END
	done
	# export writes no binary output to a terminal.
	nr_checks=$((nr_checks + 1))
	[ "$first" != perfetto ] || python3 - "$tool" "$samples/threadx.trx" <<'END' || complain 'a terminal gets binary data'
import os, pty, subprocess, sys
master, slave = pty.openpty()
done = subprocess.run([sys.argv[1], "export", "-o", "-", sys.argv[2]], stdout=slave, stderr=subprocess.PIPE)
os.close(slave)
assert done.returncode == 2 and b"terminal" in done.stderr
END
fi
finish
