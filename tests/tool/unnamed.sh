#!/bin/sh
# SPDX-License-Identifier: MIT
# A log with more threads and objects than its table has room for: every command says how many events have no thread,
# or no object.  The program keeps its own account.
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

# says TEXT ARGUMENT...: the command says it on stderr
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>"$scratch/err"
	grep -qF -e "$text" "$scratch/err" || complain "txtrace $* does not say '$text': $(cat "$scratch/err")"
}

# expect_told FILE TEXT: all commands say that it has such events; check only finds a fault in it with --strict
expect_told()
{
	file=$1
	text=$2
	for command in print report blocked locks; do
		says "$text" $command "$file"
	done
	says "$text" why "$file" many
	nr_checks=$((nr_checks + 2))
	grep -qF -e "$text" "$scratch/said" || complain "record does not say '$text': $(cat "$scratch/said")"
	"$tool" check "$file" | grep -q log-unnamed || complain "check says nothing of $file"
	"$tool" check --strict "$file" >/dev/null && complain "check --strict takes $file"
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
	"$tool" record --preload --inherit --force -o "$scratch/$1.trx" -- "$scratch/many" "$1" "$2" 2>"$scratch/said" ||
		complain "record of $1 fails: $(cat "$scratch/said")"
}

# Each thread has four events: its start and its end, lock and unlock.
record threads 1200
file=$scratch/threads.trx
expect_told "$file" 'have no thread'
named=$(count context txtrace_thread_start "$file")
expect 'events of threads without a name' "$(field 'events without thread' "$file")" "$((4 * (1200 - named)))"
first=$("$tool" print --format csv --columns number,context -f 'txtrace_thread_start' "$file" 2>/dev/null </dev/null |
	tr -d '\r' | sed -n 's/,\(0*\|-\)$//p' | head -1)
expect 'the first of them' "$(field 'first without thread' "$file")" "${first:--1}"

# Each child has four: its fork and its end, lock and unlock.
record children 700
file=$scratch/children.trx
expect_told "$file" 'have no thread'
named=$(count context _exit "$file")
expect 'events of children without a name' "$(field 'events without thread' "$file")" "$((4 * (700 - named)))"

# Each file has two calls: open and close.
record files 2000
file=$scratch/files.trx
expect_told "$file" 'have no object'
named=$("$tool" info --objects "$file" | grep -c ' /dev/null')
expect 'calls of files without a name' "$(field 'calls without object' "$file")" "$((2 * (2000 - named)))"

# A log with room says nothing.
record files 100
"$tool" check "$scratch/files.trx" | grep log-unnamed && complain 'check finds what is not there'
"$tool" print "$scratch/files.trx" 2>&1 >/dev/null </dev/null | grep 'have no' && complain 'print says what is not so'

finish
