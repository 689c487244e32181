#!/bin/sh
# SPDX-License-Identifier: MIT
# The kernel refuses invalid pointers with the object as without it, traced or not, and also in a process that writes
# its own log.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

# same WAY COMMAND...
same()
{
	way=$1
	shift
	"$@" >"$scratch/$way" || complain "$way: it exits with $?"
	nr_checks=$((nr_checks + 1))
	diff "$scratch/plain" "$scratch/$way" >"$scratch/diff" || complain "$way: $(head -20 "$scratch/diff")"
}

same plain "$programs/reach"
same loaded env LD_PRELOAD="$object" "$programs/reach"
same traced traced "$scratch/reach.trx" "$programs/reach"
same alone env LD_PRELOAD="$object" TXTRACE_OUT="$scratch/alone.trx" "$programs/reach"
grep -q '^  execve.*errno 14$' "$scratch/plain" || complain 'nothing was refused'
names_and_data "$scratch/alone.trx" >"$scratch/events"
grep -q execve "$scratch/events" || complain 'an execve() that failed is not in the log'
finish
