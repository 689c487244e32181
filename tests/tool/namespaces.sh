#!/bin/sh
# SPDX-License-Identifier: MIT
# merge of three machines, with and without --message: network name spaces, with names of their own and boot clocks that are hours apart. The
# clock REALTIME of a name space cannot be set, so --offset makes other times of it.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
talkers=$(cd "$(dirname "$tool")/../tests/tool" && pwd)/talkers
own_preload || exit 77
cd "$scratch" || exit 99
has_program ip 'machines in name spaces' && has_program unshare 'machines in name spaces' || exit 77
unshare -n -u -i -T --monotonic 1 --boottime 1 --fork true 2>/dev/null && unshare -n ip link add v01 type veth peer name v10 2>/dev/null || {
	echo 'SKIP: no network, time and host name spaces can be made here'
	exit 77
}

# A machine: its interfaces come from outside, and it talks when all have them.
cat >machine.sh <<'END'
self=$1
: >"ready.$self"
while [ ! -e wired ]; do sleep 0.05; done
hostname "machine$self"
TXTRACE_DIR=$TXTRACE_DIR/$self # machines do not share memory
mkdir -m 700 -p "$TXTRACE_DIR"
export TXTRACE_DIR
ip link set lo up
ip address add "10.77.0.$((self + 1))/32" dev lo
for other in 0 1 2; do
	[ "$other" = "$self" ] && continue
	ip link set "v$self$other" up
	ip route add "10.77.0.$((other + 1))/32" dev "v$self$other" src "10.77.0.$((self + 1))"
done
: >"up.$self"
while [ ! -e up.0 ] || [ ! -e up.1 ] || [ ! -e up.2 ]; do sleep 0.05; done
exec "$tool" record --preload -o "m$self.trx" "$talkers" "$self" 10.77.0.1 10.77.0.2 10.77.0.3 1500 >"out.$self" 2>&1
END
cat >machines.sh <<'END'
pids=
for self in 0 1 2; do
	unshare -n -u -i -T --monotonic $((self * 5000)) --boottime $((self * 5000)) --fork sh machine.sh $self &
	pids="$pids $!"
done
while [ ! -e ready.0 ] || [ ! -e ready.1 ] || [ ! -e ready.2 ]; do sleep 0.05; done
# shellcheck disable=SC2086  # three numbers
set -- $pids
for pair in 0.1 0.2 1.2; do
	one=${pair%.*} other=${pair#*.}
	ip link add "v$one$other" type veth peer name "v$other$one"
	eval "ip link set v$one$other netns \${$((one + 1))}"
	eval "ip link set v$other$one netns \${$((other + 1))}"
done
: >wired
wait
END
export tool talkers
timeout 120 unshare -n sh machines.sh >out 2>&1 || complain "the machines: $(cat out)"
[ -s m0.trx ] && [ -s m1.trx ] && [ -s m2.trx ] || complain "not all machines have a log: $(cat out out.?)"

nr_checks=$((nr_checks + 7))
"$tool" merge -o merged.trx --message 'sent..received:number' --offset m1.trx=1.5s --offset m2.trx=-40ms \
	m0.trx m1.trx m2.trx 2>err || complain "merge fails: $(cat err)"
[ "$("$tool" info merged.trx 2>/dev/null | grep -c '^machine[012] ')" -eq 3 ] ||
	complain "there are not three hosts: $("$tool" info merged.trx | tail -3)"

# The error of each clock is less than what the command says.
for line in '1 1500000' '2 -40000'; do
	file=${line% *}
	sed -n "s/.*m$file.trx: its clock was \([0-9.]*\) \([a-z]*\) +- \([0-9.]*\) \([a-z]*\) \(ahead of\|behind\) .*/\1 \2 \3 \4 \5/p" err |
		awk -v truth="${line#* }" '
		function us(number, unit) { return number * (unit == "s" ? 1e6 : unit == "ms" ? 1000 : unit == "us" ? 1 : 0.001) }
		{
			error = us($1, $2) * ($5 == "ahead" ? 1 : -1) - truth
			# The offset is printed with four digits.
			allowed = us($3, $4) + us($1, $2) / 1000
			found = (error < 0 ? -error : error) <= allowed && us($3, $4) < 5000
		}
		END { exit !found }' || complain "the clock of machine$file is wrong: $(cat err)"
done

# Without --message, the connections tell: all clocks are one, so the error is what was corrected.
nr_checks=$((nr_checks + 4))
"$tool" merge -o connected.trx m0.trx m1.trx m2.trx 2>err || complain "merge without --message fails: $(cat err)"
grep -q 'm2.trx: its clock was .* connections' err || complain "the connections do not tell of the clocks: $(cat err)"
"$tool" info --format json connected.trx | tr , '\n' | tr -d ' "}]' | grep -E '^(shift_ns|uncertainty_ns):' | tr '\n' ' ' >got
awk -F '[: ]' '{ for (i = 2; i <= 12; i += 4) {
		error = $i < 0 ? -$i : $i
		nr += $(i + 2) != "null" && error <= $(i + 2) && $(i + 2) < 200000000
	} }
	END { exit nr != 3 }' got || complain "the error of a clock is over its bound: $(cat got)"
"$tool" print --format csv --columns event -f 'connect or accept' m0.trx | grep -c connect >out
[ "$(cat out)" -ge 40 ] || complain "connections of a machine: $(cat out)"

# Each message is received after it was sent, and so the calls of the sockets are in order, too.
"$tool" print --format csv --columns host,event,data.number merged.trx 2>/dev/null | tr -d '\r' |
	grep -E ',(sent|received),' >lines
awk -F, '$2 == "sent" { sent[$3] = $1 } $2 == "received" { nr++; wrong += !($3 in sent) || sent[$3] == $1 }
	END { exit !(nr > 1000 && !wrong) }' lines ||
	complain "of $(grep -c received lines) messages of machines, some are received before they are sent"
for host in 0 1 2; do
	[ "$("$tool" print --format csv --columns event -f "host=machine$host and sendto" merged.trx | grep -c sendto)" -ge 1500 ] ||
		complain "the calls of machine$host are not there"
done
finish
