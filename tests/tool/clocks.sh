#!/bin/sh
# SPDX-License-Identifier: MIT
# merge --message: the clocks of several machines. The true times are known here, so the test sees whether each clock is as
# near as the command says.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
cd "$scratch" || exit 99
talkers=$(dirname "$tool")/../tests/tool/talkers

fails 2 '--message takes SENT..RECEIVED:FIELD' merge -o out.trx --message a..b one two
fails 2 '--message takes SENT..RECEIVED:FIELD' merge -o out.trx --message a:id one two

# make_traces GAIN1 GAIN2 [ONE_WAY [STEP]]: three machines send 600 messages to each other. The clocks of the second and the
# third one gain so many millionths. ONE_WAY: only from an earlier machine to a later one. STEP: the clock of the second one
# is set, in microseconds. A line of `truth` is the machine, the event, the message, the true time, and that of its clock.
make_traces()
{
	awk -v gain1="$1" -v gain2="$2" -v one_way="${3:-0}" -v step="${4:-0}" '
	function put(machine, id, number, at,    own) {
		own = at * (1 + gain[machine] / 1e6) + offset[machine]
		if (machine == 1 && at > 1500000)
			own += step
		printf "%d %d %d %.1f %.0f\n", machine, id, number, at, own
	}
	BEGIN {
		srand(7)
		gain[0] = 0; gain[1] = gain1; gain[2] = gain2
		offset[0] = 0; offset[1] = 5000000; offset[2] = 123456
		for (n = 0; n < 600; n++) {
			from = int(rand() * 3)
			to = (from + 1 + int(rand() * 2)) % 3
			if (one_way && from > to) { other = from; from = to; to = other }
			at = 10000 + n * 5000 + rand() * 3000
			put(from, 4100, n, at)
			put(to, 4101, n, at + 20 - log(1 - rand()) * 50)
		}
	}' >truth
	for machine in 0 1 2; do
		{
			echo "object 1 $((machine + 4096)) 5 thread_$machine"
			awk -v machine=$machine '$1 == machine { print $5, $2, $3 }' truth | sort -n |
				awk -v context=$((machine + 4096)) '{ print "event", context, $2, $1, $3 }'
		} | "$mktrx" >m$machine.trx
	done
}

# merge_traces [OPTION...]: `merged` has the lines MACHINE EVENT MESSAGE US of the merged trace
merge_traces()
{
	nr_checks=$((nr_checks + 1))
	"$tool" merge --force -o out.trx --message 'TX_TRACE_USER_EVENT_4100..TX_TRACE_USER_EVENT_4101:u32' \
		"$@" m0.trx m1.trx m2.trx 2>err || complain "merge fails: $(cat err)"
	"$tool" print --format jsonl --columns thread,event,ns,data out.trx 2>/dev/null |
		sed -E 's/.*"thread_([0-9])".*EVENT_([0-9]*)".*"ns": ?([0-9]*).*"data": ?"(..)(..)(..)(..).*/\1 \2 \7\6\5\4 \3/' |
		while read -r machine event number ns; do
			echo "$machine $event $((0x$number)) $ns"
		done | awk '{ print $1, $2, $3, $4 / 1000 }' CONVFMT=%.3f OFMT=%.3f >merged
}

# told MACHINE: the uncertainty that the command tells, in microseconds
told()
{
	sed -n "s/.*m$1.trx: its clock was .* +- \([0-9.]*\) \([a-z]*\) .*/\1 \2/p" err |
		awk '{ print $1 * ($2 == "s" ? 1e6 : $2 == "ms" ? 1000 : $2 == "us" ? 1 : 0.001) }'
}

# Each message is received after it was sent, and no clock is farther away than the command says. A tick is 1 us.
check_order()
{
	nr_checks=$((nr_checks + 1))
	awk '$2 == 4100 { sent[$3] = NR } $2 == 4101 && !sent[$3] { wrong++ } END { exit !(NR == 1200 && !wrong) }' merged ||
		complain "$1: $(wc -l <merged) events, and some messages are received before they are sent"
}

check_clocks()
{
	check_order "$1"
	for machine in 1 2; do
		nr_checks=$((nr_checks + 1))
		uncertainty=$(told $machine)
		[ -n "$uncertainty" ] || complain "$1: nothing is told about m$machine: $(cat err)"
		awk -v machine=$machine -v uncertainty="${uncertainty:-0}" '
		FNR == NR { truth[$1 " " $2 " " $3] = $4; next }
		$1 == 0 && !origin { origin = $4 - truth[$1 " " $2 " " $3] }
		{ merged[$1 " " $2 " " $3] = $4 }
		END {
			for (key in merged) {
				split(key, part, " ")
				error = merged[key] - truth[key] - origin
				error = error < 0 ? -error : error
				if (part[1] == machine && error > most)
					most = error
			}
			printf "%.1f of %.1f us\n", most, uncertainty
			exit !(most <= uncertainty + 2 && uncertainty < 200)
		}' truth merged >error || complain "$1: the clock of m$machine is wrong: $(cat error)"
	done
}

make_traces 0 0
merge_traces
check_clocks 'equal clocks'
make_traces 200 -350
merge_traces
check_clocks 'clocks that gain and lose'
nr_checks=$((nr_checks + 1))
sed -n 's/.*m\([12]\).trx:.* \(gained\|lost\) \([0-9.]*\) +- \([0-9.]*\) us a second.*/\1 \2 \3 \4/p' err | awk '
	{ error = $3 * ($2 == "lost" ? -1 : 1) - ($1 == 1 ? 200 : -350); n += error <= $4 && -error <= $4 && $4 < 60 }
	END { exit n != 2 }' || complain "what the clocks gain and lose is wrong: $(cat err)"
merge_traces --offset m1.trx=70s --offset m2.trx=-1s
check_clocks 'files at other times'

# What messages cannot tell is not told.
make_traces 0 0 1
merge_traces
check_order 'messages that go one way'
nr_checks=$((nr_checks + 3))
grep -q 'm2.trx: .* messages between it and .* go one way' err || grep -q 'm2.trx: .* all [0-9]* messages go one way' err ||
	complain "one way is not told: $(cat err)"
make_traces 0 0 0 50000
merge_traces
grep -q 'm1.trx: .* messages between it and .* contradict each other: a clock was set' err ||
	complain "a clock that was set is not told: $(cat err)"
"$tool" merge --force -o out.trx --message 'none..nothing:u32' m0.trx m1.trx m2.trx 2>err || complain "merge fails: $(cat err)"
grep -q 'm2.trx: no message tells how far its clock is from that of m0.trx' err || complain "no messages: $(cat err)"
nr_checks=$((nr_checks + 1))
for name in none nothing; do
	grep -qF -e "--message none..nothing:u32: no file has an event $name with that number" err ||
		complain "an event of --message that is in no file is not told: $(cat err)"
done

# Numbers that several messages have tell nothing.
make_traces 0 0
for machine in 0 1 2; do
	{
		echo "object 1 $((machine + 4096)) 5 thread_$machine"
		awk -v machine=$machine '$1 == machine { print $5, $2, $3 }' truth | sort -n |
			awk -v context=$((machine + 4096)) '{ print "event", context, $2, $1, $3 < 100 ? $3 % 2 : $3 }'
	} | "$mktrx" >m$machine.trx
done
merge_traces
nr_checks=$((nr_checks + 2))
grep -q 'several messages have the same number; these 2 numbers are not used' err || complain "same numbers: $(cat err)"
grep -q 'contradict' err && complain "same numbers are used: $(cat err)"

# Logs of three processes that really send messages. They have one clock, and --offset makes another one of it.
"$talkers" t0.trx t1.trx t2.trx 500 || complain 'talkers fails'
nr_checks=$((nr_checks + 3))
"$tool" merge --force -o out.trx --message 'sent..received:number' --offset t1.trx=1.5s --offset t2.trx=-40ms \
	t0.trx t1.trx t2.trx 2>err || complain "merge fails: $(cat err)"
! grep 'no file has' err || complain 'events of messages are there, and merge says that they are not'
for line in '1 1500000' '2 -40000'; do
	file=${line% *}
	sed -n "s/.*t$file.trx: its clock was \([0-9.]*\) \([a-z]*\) +- \([0-9.]*\) \([a-z]*\) \(ahead of\|behind\) .*/\1 \2 \3 \4 \5/p" err |
		awk -v truth="${line#* }" '
		function us(number, unit) { return number * (unit == "s" ? 1e6 : unit == "ms" ? 1000 : unit == "us" ? 1 : 0.001) }
		{
			error = us($1, $2) * ($5 == "ahead" ? 1 : -1) - truth
			# The offset is printed with four digits.
			allowed = us($3, $4) + us($1, $2) / 1000
			found = (error < 0 ? -error : error) <= allowed
		}
		END { exit !found }' || complain "the clock of t$file is wrong: $(cat err)"
done
"$tool" print --format csv --columns event,data.number out.trx 2>/dev/null |
	sed -nE 's/^(sent|received),([0-9]+).*/\1 \2/p' >lines
awk '$1 == "sent" { sent[$2] = 1 } $1 == "received" { nr++; wrong += !sent[$2] } END { exit !(nr > 1000 && !wrong) }' lines ||
	complain "of $(grep -c received lines) messages of processes, some are received before they are sent"
finish
