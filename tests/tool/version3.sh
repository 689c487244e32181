#!/bin/sh
# SPDX-License-Identifier: MIT
# Complete logs of earlier builds are still read: their names of objects have 60 bytes, and their headers have pages of
# their own.  tests/data/version3 has three of them, with what those builds printed.
. "${srcdir:-.}/tests/tool/lib.sh"

data=$top/tests/data/version3

# same NAME: the log has the events that the earlier build printed
same()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns ns,event,thread,address,hex "$scratch/$1.trx" \
		>"$scratch/out" 2>"$scratch/err" || complain "print $1: $(cat "$scratch/err")"
	cmp -s "$scratch/$1.csv" "$scratch/out" ||
		complain "$1 is not what it was: $(diff "$scratch/$1.csv" "$scratch/out" | head -4)"
}

for name in steps round calls; do
	gzip -dc "$data/$name.trx.gz" >"$scratch/$name.trx" || complain "no log $name"
	gzip -dc "$data/$name.csv.gz" >"$scratch/$name.csv"
	same $name
	nr_checks=$((nr_checks + 2))
	"$tool" info "$scratch/$name.trx" | grep -qE '^name size +60$' || complain "$name has not the earlier layout"
	"$tool" check "$scratch/$name.trx" | grep -q 'posixtrace log' || complain "check takes $name for another file"
done

# The calls have their objects.
nr_checks=$((nr_checks + 1))
"$tool" blocked "$scratch/calls.trx" 2>&1 | grep -q 'oven' || complain 'blocked knows no object'

# As packed, they have the same events and are shorter.
for name in steps round calls; do
	before=$(stat -c %s "$scratch/$name.trx")
	nr_checks=$((nr_checks + 1))
	"$tool" pack "$scratch/$name.trx" >/dev/null 2>"$scratch/err" || complain "pack $name: $(cat "$scratch/err")"
	[ "$(stat -c %s "$scratch/$name.trx")" -lt "$before" ] || complain "$name does not become shorter"
	same $name
done
finish
