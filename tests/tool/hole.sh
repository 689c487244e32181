#!/bin/sh
# SPDX-License-Identifier: MIT
# While a program is recorded, the log cannot be written for a second, as on a full disk.  The program keeps its own
# account.  Exactly the events of that time are missing, and each command tells so.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
steady=${STEADY:-$(pwd)/tests/tool/steady}
command -v prlimit >/dev/null || { echo 'SKIP: prlimit is missing'; exit 77; }
make_log=$(pwd)/tests/tool/make_log
cd "$scratch" || exit 99

nr_writes() { sed -n 's/^syscw: //p' "/proc/$recorder/io"; }
has_tried() { [ "$(nr_writes)" -gt "$before" ]; }

# While this limit of the recorder is 0, it cannot write.
"$tool" record --preload --force -o x.trx -- "$steady" 4000 account >out 2>err &
recorder=$!
await [ -s x.trx ]
sleep 0.6
prlimit --pid "$recorder" --fsize=0: || complain 'no limit could be set'
before=$(nr_writes) # a recorder that gets no CPU for a while has not tried yet
[ -z "$before" ] || await has_tried
sleep 1.5
prlimit --pid "$recorder" --fsize=unlimited: || complain 'the limit could not be taken away'
wait "$recorder"
nr_checks=$((nr_checks + 2))
grep -q 'x.trx is incomplete: File too large' err || complain "record says: $(cat err)"
grep -Eq 'x.trx: [0-9]+ events, others not written' err || complain "record says: $(cat err)"

"$tool" print --format csv --columns ns,event,data x.trx 2>warned | tr -d '\r' >events
from=$(sed -n 's/,posix_trace_overflow,of_log=1$//p' events)
until=$(sed -n 's/,posix_trace_resume,of_log=1$//p' events)
if [ "$(echo "$from $until" | wc -w)" -ne 2 ]; then
	complain "not one hole: $from; $until"
	finish
fi

# Each open() is in the log, but those of the hole.  (awk has no integers of 64 bits: count from the first round.)
nr_checks=$((nr_checks + 2))
zero=$(head -1 account | cut -c1-10)
sed -n 's/,open,.*//p' events | cut -c1-19 >opens
awk -v zero="$zero" -v from="$from" -v until="$until" '
	function ns(text) { return (substr(text, 1, 10) - zero) * 1000000000 + substr(text, 11) }
	FNR == NR { begun[nr++] = ns($1); next }
	{ opened[opens++] = ns($1) }
	END {
		begun[nr] = begun[nr - 1] + 1000000000000
		for (i = k = 0; i < nr; i++) {
			while (k < opens && opened[k] < begun[i])
				k++
			is_there = k < opens && opened[k] < begun[i + 1]
			is_lost = begun[i] > ns(from) && begun[i + 1] < ns(until)
			nr_lost += is_lost
			if (is_there && is_lost || !is_there && (begun[i + 1] < ns(from) || begun[i] > ns(until)))
				print "round", i, is_there ? "is in the hole" : "is missing"
		}
		print nr_lost
	}' account opens >found
[ "$(wc -l <found)" -eq 1 ] || complain "$(head -3 found)"
nr_lost=$(tail -1 found)
[ "$nr_lost" -gt 0 ] || complain 'no round is in the hole'

# Each command tells it, and all tell one number.
nr_checks=$((nr_checks + 7))
by_record=$(sed -n 's/.*x.trx: \([0-9]*\) events, others not written.*/\1/p' err)
by_info=$("$tool" info x.trx 2>/dev/null | sed -n 's/^events  *//p')
[ "$by_record $by_info" = "$(($(wc -l <events) - 1)) $(($(wc -l <events) - 1))" ] ||
	complain "record tells $by_record events, info $by_info, and print has $(($(wc -l <events) - 1))"
by_log=$("$tool" info x.trx 2>/dev/null | sed -n 's/^lost: log  *//p')
[ "$by_log" -ge $((2 * nr_lost)) ] || complain "info: $by_log events are lost, and $nr_lost rounds"
grep -q "it lacks $by_log events that were recorded: a write failed (File too large)" warned ||
	complain "print says: $(cat warned)"
"$tool" report x.trx >report 2>/dev/null
grep -q "^the log lacks $by_log events that were recorded: a write failed (File too large)$" report ||
	complain "report: $(head -3 report)"
"$tool" report --format csv x.trx 2>/dev/null | tr -d '\r' | sed -n 's/^losses,//p' | grep -q "^x.trx,0,0,0,1,$by_log,yes," ||
	complain 'the losses of report'
"$tool" diff --fail-if 'lost>0' x.trx x.trx >diff 2>/dev/null && complain 'diff finds no loss'
grep -Eq "^events lost +$by_log +$by_log +=" diff || complain "diff: $(grep lost diff)"

# In the hole it is not known what the thread did.
if grep -q 'txtrace_switch_in' events; then
	nr_checks=$((nr_checks + 1))
	hole_us=$(((until - from) / 1000))
	not_known_us=$("$tool" report --format csv x.trx 2>/dev/null | tr -d '\r' | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		$1 == "thread_states" && /steady/ { printf "%d\n", 1000000 * $column["unknown_s"] }' | head -1)
	[ "${not_known_us:-0}" -ge $((hole_us - 1000)) ] ||
		complain "the hole has $hole_us us, and steady's state is not known for ${not_known_us:-no} us"
fi

# So do exports.
nr_checks=$((nr_checks + 2))
"$tool" export --to chrome -o - x.trx 2>/dev/null | grep -q "\"lost in all: 0 overwritten, .*, $by_log by the log\"" ||
	complain 'export --to chrome does not tell the losses of the log'
"$tool" export --to html -o - x.trx 2>/dev/null |
	grep -q "\"logLacks\":\"$by_log events that were recorded: a write failed (File too large)\"" ||
	complain 'the page does not tell the losses of the log'

# The gap of a stream has no data, and no data are missing there.
nr_checks=$((nr_checks + 1))
"$make_log" lossy.trx lossy >out 2>err || complain "make_log: $(cat err)"
"$tool" print --format csv --columns event,data lossy.trx 2>err | tr -d '\r' | sort -u >found
grep -qx 'posix_trace_overflow,' found && grep -qx 'posix_trace_resume,' found && ! grep -q 'bytes of data' err ||
	complain "the gap of a stream: $(cat found err)"

# A packed log keeps the hole, and a merged one has it as events.
nr_checks=$((nr_checks + 2))
cp x.trx packed.trx
"$tool" pack packed.trx 2>err || complain "pack: $(cat err)"
"$tool" print --format csv --columns ns,event,data packed.trx 2>/dev/null | tr -d '\r' | cmp -s events - ||
	complain 'the packed log differs'
cp x.trx y.trx
on_host x.trx alpha 1
on_host y.trx beta 2
"$tool" merge -o merged.trx x.trx y.trx 2>err || complain "merge: $(cat err)"
cut -d, -f1,2 events >expected
"$tool" print --format csv --columns ns,event -f host=alpha merged.trx 2>/dev/null | tr -d '\r' | cmp -s expected - ||
	complain 'the merged log differs'
finish
