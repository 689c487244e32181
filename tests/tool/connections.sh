#!/bin/sh
# SPDX-License-Identifier: MIT
# What merge makes of connections between logs.  All programs run here, so all clocks are one; the logs are then said to
# be of several hosts.  So the true correction of each is 0.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
connections=$(cd "$(dirname "$tool")/../tests/tool" && pwd)/connections
own_preload || exit 77
cd "$scratch" || exit 99
has_program ip 'addresses' && has_program unshare 'addresses' || exit 77
unshare -n true 2>/dev/null || {
	echo 'SKIP: no network name space can be made here'
	exit 77
}

# merged FILE...: merge them into m.trx; what merge says is in err
merged()
{
	"$tool" merge --force -o m.trx "$@" 2>err || complain "merge: $(cat err)"
}

corrections()
{
	"$tool" info --format json "$1" | tr , '\n' | tr -d ' "}]' | grep -E '^(shift_ns|uncertainty_ns):' | tr '\n' ' '
}

# run SERVER CLIENT...: record each in a log of its own; each is the arguments of the program and the name of the log
run()
{
	rm -f full.*
	for arguments; do
		# shellcheck disable=SC2086  # arguments
		echo "\"\$tool\" record --preload --force -o ${arguments##* }.trx \"\$connections\" ${arguments% *} >out.${arguments##* } 2>&1 &"
	done >programs.sh
	{
		echo 'ip link set lo up; for i in 1 2 3; do ip address add 10.77.0.$i/32 dev lo; done'
		cat programs.sh
		echo wait
	} >machine.sh
	timeout 60 unshare -n sh machine.sh >out 2>&1 || complain "the programs: $(cat out out.*)"
	nr_checks=$((nr_checks + 1))
}
export tool connections

# is_right FILE: each correction that is claimed holds
is_right()
{
	corrections "$1" | tr ' ' '\n' | awk -F: '
		$1 == "shift_ns" { error = $2 < 0 ? -$2 : $2 }
		$1 == "uncertainty_ns" && $2 != "null" && error > $2 { wrong = 1 }
		END { exit wrong }'
}

# A signal handler that runs while connect waits begins later than connect.
run 'late-server 10.77.0.1 7000 2 a' 'late-client 10.77.0.1 7000 2 10.77.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
nr_checks=$((nr_checks + 2))
merged a.trx b.trx
is_right m.trx || complain "a handler while connect waits makes a bound wrong: $(corrections m.trx) $(cat err)"
grep -q 'b.trx: its clock was .* connections' err || complain "the connections do not tell of the clock: $(cat err)"

# Many programs do not ask who connects.
run 'blind-server 10.77.0.1 7000 30 a' 'client 10.77.0.1 7000 30 10.77.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
nr_checks=$((nr_checks + 3))
merged a.trx b.trx
is_right m.trx || complain "a server that does not ask who connects: $(corrections m.trx) $(cat err)"
grep -q 'b.trx: its clock was .* connections' err || complain "connections of nobody known: $(cat err)"
[ "$("$tool" print -f accept a.trx | grep -c 'address=10\.77\.0\.2:')" -eq 30 ] ||
	complain "the addresses of those that connected: $("$tool" print -f accept a.trx | head -3)"

# Two logs of one host have one clock.
run 'server 10.77.0.1 7000 60 a' 'client 10.77.0.1 7000 30 10.77.0.2 b' 'client 10.77.0.1 7000 30 10.77.0.3 c'
of_host a.trx alpha 1
of_host b.trx beta 2
of_host c.trx beta 2
nr_checks=$((nr_checks + 4))
merged a.trx b.trx c.trx
is_right m.trx || complain "three logs of two hosts: $(corrections m.trx) $(cat err)"
corrections m.trx | awk -F '[: ]' '{ exit !($6 == $10 && $8 == $12 && $8 != "null" && $8 > 0 && $8 < 1000000000) }' ||
	complain "two logs of one host are corrected otherwise: $(corrections m.trx) $(cat err)"
merged c.trx b.trx a.trx
corrections m.trx | awk -F '[: ]' '{ exit !($2 == 0 && $6 == 0 && $12 != "null" && $12 > 0 && $12 < 1000000000) }' ||
	complain "the first two logs are of one host: $(corrections m.trx) $(cat err)"

# In two networks there may be the same addresses.  So one connection with the same numbers may be chance.
run 'server 10.77.0.1 7000 1 a' 'client 10.77.0.1 7000 1 10.77.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
nr_checks=$((nr_checks + 1))
merged a.trx b.trx
grep -q 'its clock was' err && complain "one connection is enough for a claim: $(cat err)"

# Each host has loopback addresses of its own.
run 'server 127.0.0.1 7000 30 a' 'client 127.0.0.1 7000 30 127.0.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
nr_checks=$((nr_checks + 1))
merged a.trx b.trx
grep -q 'its clock was' err && complain "connections over loopback are taken for those of two hosts: $(cat err)"

# Connections with the same addresses and ports may be others: on another day, or in another network.  Then they say what
# the clocks of both hosts cannot be.
mkclocks=$(dirname "$connections")/mkclocks
run 'server 10.77.0.1 7000 30 a' 'client 10.77.0.1 7000 30 10.77.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
"$mkclocks" a.trx 0,0,50,5000000
for distance in 0 10000000000; do
	nr_checks=$((nr_checks + 1))
	"$mkclocks" b.trx 0,0,50,5000000 "1000000,$distance,50,5000000" || complain 'mkclocks fails'
	merged a.trx b.trx
	case $distance in
	0) grep -q 'b.trx: its clock was .* connections' err ;;
	*) grep -q 'b.trx: .* its clock would be 10\.0 s off that of a.trx, .* 10\.0 ms at most; so these are other' err &&
		grep -q 'the times of all files are at most' err && ! grep -q 'its clock was' err ;;
	esac || complain "clocks that the kernels tell to $distance ns: $(cat err)"
done

# A merged log has the corrected times of several clocks.
run 'server 10.77.0.1 7000 30 a' 'client 10.77.0.1 7000 30 10.77.0.2 b'
of_host a.trx alpha 1
of_host b.trx beta 2
of_host c.trx gamma 3
nr_checks=$((nr_checks + 1))
"$tool" merge --force -o ab.trx --offset a.trx=1s a.trx c.trx 2>err || complain "merge: $(cat err)"
merged ab.trx b.trx
grep -q 'its clock was' err && complain "a merged log is placed as if it had one clock: $(cat err)"
finish
