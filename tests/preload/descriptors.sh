#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls for descriptors, streams and the heap behave the same with the object, traced or not. Each wrapper records one
# event if the call did not wait, and two if it did.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

# battery NAME [ARGUMENT]: run $program without the object, with it, and traced; the trace is of the last run
program=$programs/descriptors
battery()
{
	name=$1
	shift
	for way in plain loaded traced; do
		rm -rf "$scratch/here"
		mkdir "$scratch/here"
		case $way in
		plain) "$program" "$scratch/here" "$@" >"$scratch/$name.$way" ;;
		loaded) LD_PRELOAD=$object "$program" "$scratch/here" "$@" >"$scratch/$name.$way" ;;
		traced) traced "$scratch/$name.trx" "$program" "$scratch/here" "$@" \
			>"$scratch/$name.$way" ;;
		esac || complain "$name: $way: it exits with $?"
		nr_checks=$((nr_checks + 1))
		diff "$scratch/$name.plain" "$scratch/$name.$way" >"$scratch/diff" ||
			complain "$name: $way: $(head -20 "$scratch/diff")"
	done
	names_and_data "$scratch/$name.trx" >"$scratch/$name.events"
	awk -f "$top/tests/preload/parts.awk" "$top/preload/wrappers.def" "$scratch/$name.events" \
		>"$scratch/$name.parts"
	grep '^FAIL' "$scratch/$name.parts" && complain "$name: not the events that there should be"
	grep -q ' parts, ' "$scratch/$name.parts" || complain "$name: no parts"
}

battery calls
: >"$scratch/calls64.parts"
if [ -x "${program}64" ]; then
	program=${program}64
	battery calls64
	program=$programs/descriptors
fi
TXTRACE_EVENTS=+heap
export TXTRACE_EVENTS
battery heap heap
unset TXTRACE_EVENTS

# Each wrapper of these groups has a part, unless the C library has no such function.
groups='file|stdio|socket|poll|heap'
awk -v groups="^($groups)\$" '
	match($0, /^PX_CALL\([a-z_0-9]+, [a-z]+,/) && FILENAME ~ /calls/ {
		split(substr($0, 9, RLENGTH - 9), row, ", ")
		group[row[1]] = row[2]
	}
	match($0, /^PX_WRAPPER\(.*\)/) {
		split(substr($0, 12, RLENGTH - 12), row, ", ")
		if (group[row[2]] ~ groups)
			print row[1]
	}' "$top/lib/event/calls.def" "$top/preload/wrappers.def" >"$scratch/wanted"
[ "$(wc -l <"$scratch/wanted")" -gt 100 ] || complain 'there should be more wrappers of these groups'
sort -u "$scratch/calls.parts" "$scratch/heap.parts" >"$scratch/parts"
"$programs/descriptors" --has <"$scratch/wanted" >"$scratch/there"
while read -r symbol; do
	nr_checks=$((nr_checks + 1))
	parts=$scratch/parts
	case $symbol in # descriptors64 calls them by the names that they have in C
	__*_time64) parts=$scratch/calls64.parts symbol=${symbol#__} symbol=${symbol%_time64} ;;
	__ppoll64_chk) parts=$scratch/calls64.parts symbol=__ppoll_chk ;;
	__*64) parts=$scratch/calls64.parts symbol=${symbol#__} symbol=${symbol%64} ;;
	esac
	grep -qx "part $symbol" "$parts" || complain "$symbol has no part in tests/preload/descriptors.c"
done <"$scratch/there"

# Each close is one event, also of a descriptor for which the object has no table.
rm -rf "$scratch/here"
mkdir "$scratch/here"
(
	ulimit -n 6000 2>/dev/null || exit 77
	"$tool" record --force --quiet -o "$scratch/beyond.trx" -- env LD_PRELOAD="$object" "$program" "$scratch/here" beyond \
		>"$scratch/out" 2>&1
)
status=$?
nr_checks=$((nr_checks + 1))
if [ "$status" -eq 77 ]; then
	echo 'SKIP descriptors from 4096 on: the limit of open files is lower'
elif [ "$status" -ne 0 ]; then
	complain "descriptors from 4096 on: $(cat "$scratch/out")"
else
	"$tool" print -f close --columns data "$scratch/beyond.trx" >"$scratch/closes"
	[ "$(sed '1d; s/.*result=//' "$scratch/closes" | tr '\n' ';')" = '0;EBADF;EBADF;' ] ||
		complain "closes of descriptors from 4096 on: $(cat "$scratch/closes")"
fi

# A wrapper that can record two calls names both, whichever comes first.
for first in others own; do
	rm -rf "$scratch/here"
	mkdir "$scratch/here"
	traced "$scratch/$first.trx" "$program" "$scratch/here" "$first" >"$scratch/out"
	names_and_data "$scratch/$first.trx" >"$scratch/names"
	! grep '^event ' "$scratch/names" || complain "$first first: calls without a name"
	for call in dup fcntl pthread_setname_np prctl fclose fopen; do
		grep -q "^$call " "$scratch/names" || complain "$first first: no event of $call"
	done
done
finish
