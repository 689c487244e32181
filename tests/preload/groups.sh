#!/bin/sh
# SPDX-License-Identifier: MIT
# TXTRACE_EVENTS with programs from others: the log has events of the chosen groups only, in a log without the tool and
# in one of record. And the wrapper statistics count the calls of the program.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"
cd "$scratch" || exit 99

awk 'BEGIN { for (i = 0; i < 20000; i++) print (i * 7919) % 20011, "a line of input", i }' >input
sed -n 's/^PX_CALL(\([a-z_A-Z0-9]*\), \([a-z]*\), .*/\1 \2/p' "$top/lib/event/calls.def" >groups
[ "$(wc -l <groups)" -gt 100 ] || complain 'there should be more calls'

# groups_of LOG: print the groups that have an event, in one line
groups_of()
{
	names_and_data "$1" |
		awk 'FILENAME == "groups" { group[$1] = $2; next } $1 in group { print group[$1] }' groups - |
		sort -u | paste -sd' '
}

# run LOG EVENTS COMMAND...: run with the object and its own log
run()
{
	log=$1
	events=$2
	shift 2
	rm -f "$log"
	(
		LD_PRELOAD=$object TXTRACE_OUT=$log
		export LD_PRELOAD TXTRACE_OUT
		[ "$events" = usual ] || export TXTRACE_EVENTS="$events"
		"$@"
	) <input 2>"$scratch/err"
}

# asked EVENTS WANTED UNWANTED: groups that must be in the log, and groups that must not; "only": no other group either
asked()
{
	run log.trx "$1" $command >out || complain "$program, $1: it exits with $?"
	cmp -s plain out || complain "$program, $1: it prints something else"
	found=" $(groups_of log.trx) "
	if [ "$3" = only ]; then
		nr_checks=$((nr_checks + 1))
		[ "$found" = " $2 " ] || complain "$program, $1: events of$found, and not of $2"
		return
	fi
	for group in $2; do
		nr_checks=$((nr_checks + 1))
		case $found in *" $group "*) ;; *) complain "$program, $1: no events of $group, but of$found" ;; esac
	done
	for group in $3; do
		nr_checks=$((nr_checks + 1))
		case $found in *" $group "*) complain "$program, $1: events of $group" ;; esac
	done
}

# groups GROUP...: the groups that the program uses; the first one is removed from the default groups
groups()
{
	asked usual "$*" 'heap signal'
	said=$(wc -l <err)
	for group in "$@"; do
		asked "$group" "$group" only
	done
	first=$1
	shift
	asked "-$first" "$*" "$first heap signal"
	asked +heap "$first $* heap" signal
	asked "+heap,-$first" "$* heap" "$first signal"
	asked all "$first $* heap" ''
	asked garbage "$first $*" 'heap signal'
	[ "$(wc -l <err)" -eq $((said + 1)) ] && grep -q 'TXTRACE_EVENTS=garbage' err ||
		complain "$program: of garbage this is said: $(cat err)"
}

program='xz'
command='xz -T2 --block-size=50000 -c'
if has_program xz "$program"; then
	$command <input >plain
	groups file mutex cond thread
fi
program='sort'
command='sort --parallel=2 -S 1M'
$command <input >plain
groups stdio mutex file
"$tool" record --preload --force -q --events mutex,cond -o log.trx -- $command <input >out
[ "$(groups_of log.trx | sed 's/cond//; s/ //g')" = mutex ] ||
	complain "record --events mutex,cond: $(groups_of log.trx)"

# A program that only locks and unlocks: the statistics count each call, and measure both functions.
cat >pairs.c <<'END'
#include <pthread.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
END
${CC:-cc} -pthread pairs.c -o pairs || complain 'pairs.c is not compiled'
if has_program python3 'the table of locks and unlocks'; then
	for nr in 1 500 30001; do
		run pairs.trx usual ./pairs $nr
		"$tool" info --format json pairs.trx >json
		nr_checks=$((nr_checks + 1))
		python3 - json $nr <<'END' || complain "the table of $nr locks and unlocks"
import json, sys
rows = {row["symbol"]: row for row in json.load(open(sys.argv[1]))["wrappers"]}
nr = int(sys.argv[2])
for symbol in "pthread_mutex_lock", "pthread_mutex_unlock":
    row = rows[symbol]
    assert row["calls"] == nr and row["state"] == "installed" and row["version"].startswith("GLIBC_"), row
    assert (row["samples"] > 0) == (nr >= 500) and row["samples"] <= nr // 100, row
assert all(row["version"] for row in rows.values() if row["state"] == "installed")
assert sum(row["calls"] for symbol, row in rows.items() if "mutex" in symbol) == 2 * nr
END
	done
fi
finish
