#!/bin/sh
# SPDX-License-Identifier: MIT
# A program may have any number of threads, children and files: each event in its log has its thread, and each call has
# its object. The program keeps its own account. Logs of version 2 had no room for so many: each command reports how
# many events have no thread, or no object.
. "${srcdir:-.}/tests/tool/lib.sh"

own_streams
own_preload || finish
cat >"$scratch/many.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *lock_once(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

/* many KIND COUNT */
int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < count; i++) {
		if (strcmp(argv[1], "threads") == 0) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, lock_once, NULL) != 0)
				return 1;
			pthread_join(thread, NULL);
		} else if (strcmp(argv[1], "children") == 0) {
			pid_t child = fork();

			if (child == 0) {
				lock_once(NULL);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		} else {
			int fd = open("/dev/null", O_RDONLY);

			if (fd < 0)
				return 1;
			close(fd);
		}
	}
	return 0;
}
END
${CC:-cc} -g -pthread "$scratch/many.c" -o "$scratch/many" || complain 'the program does not compile'

# field LABEL FILE: a number of info, or 0
field()
{
	"$tool" info "$2" | sed -n "s/^$1 *//p" | grep . || echo 0
}

# says TEXT ARGUMENT...: the command prints the text on stderr
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>"$scratch/err"
	grep -qF -e "$text" "$scratch/err" || complain "txtrace $* does not say '$text': $(cat "$scratch/err")"
}

# count COLUMN FILTER FILE: distinct values of a column of these events, without those that are "-" or empty
count()
{
	"$tool" print --format csv --columns "$1" -f "$2" "$3" 2>/dev/null </dev/null | tail -n +2 | tr -d '\r' |
		grep -vxE -e '-|0?|00000000' | sort -u | wc -l
}

# expect WHAT NUMBER OTHER
expect()
{
	nr_checks=$((nr_checks + 1))
	[ "$2" -eq "$3" ] || complain "$1: $2, not $3"
}

record()
{
	"$tool" record --preload --inherit --force -o "$scratch/$1.trx" -- "$scratch/many" "$1" "$2" \
		2>"$scratch/said" ||
		complain "record of $1 fails: $(cat "$scratch/said")"
}

# expect_all FILE: each thread and object has a name
expect_all()
{
	nr_checks=$((nr_checks + 3))
	[ "$(field 'events without thread' "$1")" -eq 0 ] && [ "$(field 'calls without object' "$1")" -eq 0 ] ||
		complain "$1: $("$tool" info "$1" | grep without)"
	"$tool" check "$1" | grep log-unnamed && complain "$1: check finds what is not there"
	"$tool" print "$1" 2>&1 >/dev/null </dev/null | grep 'have no' && complain "$1: print says what is not so"
}

# Each thread has four events: its start and its end, lock and unlock.
record threads 1200
file=$scratch/threads.trx
expect_all "$file"
expect 'threads that began' "$(count context txtrace_thread_start "$file")" 1200
expect 'threads that locked' "$(count context pthread_mutex_lock "$file")" 1200
expect 'threads whose name has their tid' 1200 \
	"$("$tool" print --format csv --columns thread,data -f txtrace_thread_start \
	"$file" </dev/null | sed -n 's/^.* \([0-9]*\),.*tid=\([0-9]*\) .*/\1 \2/p' | awk '$1 == $2' | wc -l)"

# The first thread records events after many other threads, and still has its name.
expect 'threads without a name' 0 "$("$tool" info --objects "$file" | grep -c 'unknown thread')"

# The image has room for 4,096 threads. The log has all of them, and check says how often TraceX shows no name.
record threads 5000
expect_all "$file"
expect 'threads that began' "$(count context txtrace_thread_start "$file")" 5000
nr_checks=$((nr_checks + 2))
[ "$(field 'names TraceX lacks' "$file")" -gt 2000 ] || complain "info: $("$tool" info "$file" | grep TraceX)"
"$tool" check "$file" | grep -q 'no slot: TraceX shows no name' ||
	complain 'check says nothing of threads without a slot'

# Each child has four: its fork and its end, lock and unlock.
record children 700
file=$scratch/children.trx
expect_all "$file"
expect 'children that ended' "$(count context _exit "$file")" 700

# Without --inherit, only the parent is traced, and record says so.
"$tool" record --preload --force -o "$scratch/alone.trx" -- "$scratch/many" children 3 2>"$scratch/said"
expect 'lines about children that were not traced' 1 "$(grep -c 'start one are 3; --inherit' "$scratch/said")"
"$tool" record --preload --force -o "$scratch/alone.trx" -- "$scratch/many" files 3 2>"$scratch/said"
expect 'lines about children that do not exist' 0 "$(grep -c -e --inherit "$scratch/said")"

# Each file has two calls: open and close.
record files 2000
file=$scratch/files.trx
expect_all "$file"
expect 'files' "$("$tool" info --objects "$file" | grep -c ' /dev/null')" 2000

# The size of the log matches its content: 40 bytes for each event, and 64 KiB.  Each object has a slot with a name, so
# names take no more room than the longest one.
expect_short()
{
	nr_checks=$((nr_checks + 1))
	most=$((65536 + 40 * $(field events "$1")))
	size=$(stat -c %s "$1")
	[ "$size" -le "$most" ] || complain "$1 has $size bytes, more than $most"
}

expect_short "$scratch/files.trx"

# TraceX needs further entries where threads wait and end.  Such a log may have 32 bytes more for each of these.
expect_rather_short()
{
	nr_checks=$((nr_checks + 1))
	events=$(field events "$2")
	most=$(($1 * 1024 + 40 * events + 32 * ($(field 'event entries' "$2") - events)))
	size=$(stat -c %s "$2")
	[ "$size" -le "$most" ] || complain "$2 has $size bytes, more than $most"
}

expect_rather_short 64 "$scratch/children.trx"
expect_rather_short 512 "$scratch/threads.trx"

# 0.1.0 recorded 1,000 threads.
gzip -dc "$top/tests/data/version2/threads.trx.gz" >"$scratch/old.trx" || complain 'there is no log of version 2'
file=$scratch/old.trx
for command in print report blocked locks; do
	says 'have no thread' $command "$file"
done
says 'have no thread' why "$file" many
nr_checks=$((nr_checks + 2))
"$tool" check "$file" | grep -q log-unnamed || complain "check says nothing of $file"
"$tool" check --strict "$file" >/dev/null && complain "check --strict takes $file"
named=$(count context txtrace_thread_start "$file")
expect 'events of threads without a name' "$(field 'events without thread' "$file")" "$((4 * (1000 - named)))"

# The last event, which has no thread, is now of another process: this process made no other event.
printf '\222\020\0\0' | dd of="$file" bs=1 seek=27981280 conv=notrunc 2>/dev/null
"$tool" report --processes --format csv "$file" 2>/dev/null | tr -d '\r' |
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "processes" { print $at["pid"], $at["events"] }' >"$scratch/events"
printf '%s\n' '11712 6999' '4242 1' | cmp -s - "$scratch/events" ||
	complain "events of processes: $(cat "$scratch/events")"
nr_checks=$((nr_checks + 1))

finish
