#!/bin/sh
# SPDX-License-Identifier: MIT
# The tool still reads logs that posixtrace 0.1.0 wrote. tests/data/version2 has three of them, with the output of
# 0.1.0.
. "${srcdir:-.}/tests/tool/lib.sh"

data=$top/tests/data/version2
[ "$(printf '\001\000' | od -An -tu2 | tr -d ' ')" = 1 ] || {
	echo 'SKIP: logs of version 2 are read only on machines with the byte order of their writer'
	exit 77
}

# Each log is printed as 0.1.0 printed it.
for name in steps round calls; do
	gzip -dc "$data/$name.trx.gz" >"$scratch/$name.trx" || complain "no log $name"
	gzip -dc "$data/$name.csv.gz" >"$scratch/$name.csv"
	nr_checks=$((nr_checks + 2))
	"$tool" print --format csv --columns ns,event,thread,address,hex "$scratch/$name.trx" \
		>"$scratch/out" 2>"$scratch/err" || complain "print $name: $(cat "$scratch/err")"
	cmp -s "$scratch/$name.csv" "$scratch/out" ||
		complain "$name is not what it was: $(diff "$scratch/$name.csv" "$scratch/out" | head -4)"
done

# The calls have their objects, and the threads their names.
nr_checks=$((nr_checks + 3))
"$tool" blocked "$scratch/calls.trx" >"$scratch/out" 2>&1 || complain "blocked: $(cat "$scratch/out")"
grep -q 'oven' "$scratch/out" || complain "blocked knows no object: $(head -5 "$scratch/out")"
"$tool" check "$scratch/calls.trx" | grep -q 'posixtrace log' || complain 'check takes a log of 0.1.0 for another file'

# A file may contain wrong values: a time that no calendar has is shown as the last valid one.
if has_program python3 'damaged times'; then
	time=$("$tool" print --format csv --columns ns -f odd_step "$scratch/steps.trx" | tail -1 | tr -d '\r')
	"$tool" check "$scratch/steps.trx" | grep log-time &&
		complain 'check finds times out of order in a log in order'
	python3 - "$scratch/steps.trx" "$time" <<'EOF'
import sys
data = open(sys.argv[1], 'rb').read()
damaged = data.replace(int(sys.argv[2]).to_bytes(8, 'little'), (2**64 - 16).to_bytes(8, 'little'))
assert damaged != data
open(sys.argv[1], 'wb').write(damaged)
EOF
	nr_checks=$((nr_checks + 3))
	time=$("$tool" print --format csv --columns ns -f odd_step "$scratch/steps.trx" | tail -1 | tr -d '\r')
	[ "${#time}" -ge 19 ] && [ "${time#-}" = "$time" ] && [ "$time" -gt 4000000000000000000 ] ||
		complain "a damaged time is $time"
	"$tool" check "$scratch/steps.trx" | grep -q '^warning .* older than the event before them.*(log-time)' ||
		complain 'check does not find the events that are older than the event before them'
fi
finish
