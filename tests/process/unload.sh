#!/bin/sh
# SPDX-License-Identifier: MIT
# A plugin that records is loaded and unloaded again and again while a stream runs, in a program that does not know the
# library: by threads that live longer, with children made by fork. The stream loses nothing, and no round leaves memory
# or files.
set -u

srcdir=${srcdir:-.}
CC=${CC:-cc}
library=lib/.libs/libposixtrace.so
tool=${TXTRACE:-bin/txtrace}

skip()
{
	echo "SKIP: $*"
	exit 77
}

[ -e "$library" ] || skip 'no shared library was built'
[ -x "$tool" ] || { echo "FAIL: there is no $tool"; exit 99; }

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

is()
{
	[ "$2" = "$3" ] && return
	echo "FAIL: $1: '$3' instead of '$2'"
	failed=1
}

cat >"$scratch/plugin.c" <<'END'
#include <trace.h>
static trace_event_id_t type;
__attribute__((constructor)) static void begin(void) { posix_trace_eventid_open("plugged", &type); }
void plugin_record(int number) { posix_trace_event(type, &number, sizeof(number)); }
END
cat >"$scratch/host.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 30
#define EVENTS 50

static void (*record)(int);
static sem_t go, done;

static void *work(void *argument)
{
	for (int round = 0; round < ROUNDS; round++) {
		sem_wait(&go);
		for (int i = 0; i < EVENTS; i++)
			record(i);
		sem_post(&done);
	}
	return argument;
}

static int mappings_of(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int nr = 0;

	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, name) != NULL;
	fclose(maps);
	return nr;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, work, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		void *plugin = dlopen(argv[argc - 1], RTLD_NOW);
		int status;
		pid_t child;

		if (!plugin)
			return 2;
		record = (void (*)(int))dlsym(plugin, "plugin_record");
		sem_post(&go);
		for (int i = 0; i < EVENTS; i++)
			record(i);
		sem_wait(&done);
		dlclose(plugin);
		child = fork();
		if (child == 0)
			_exit(0);
		if (waitpid(child, &status, 0) != child || status != 0)
			return 3;
	}
	pthread_join(thread, NULL);
	printf("%d %d\n", mappings_of("/SYSV"), mappings_of("/names."));
	return 0;
}
END
# shellcheck disable=SC2086  # flags
{
	$CC -I"$srcdir/include" -shared -fPIC -o "$scratch/plugin.so" "$scratch/plugin.c" -Llib/.libs -lposixtrace \
		-Wl,-rpath,"$(pwd)/lib/.libs" -pthread &&
		$CC -o "$scratch/host" "$scratch/host.c" -pthread -ldl
} || { echo 'FAIL: cannot compile the plugin or its host'; exit 1; }

timeout 60 "$scratch/host" "$scratch/plugin.so" >"$scratch/out"
is 'exit code, untraced' 0 $?
is 'shared tables of names and files of private ones, untraced' '0 1' "$(cat "$scratch/out")"
timeout 60 "$tool" record -o "$scratch/log.trx" "$scratch/host" "$scratch/plugin.so" >"$scratch/out" 2>"$scratch/err"
is 'exit code' 0 $?
is 'events' 3000 "$("$tool" print --no-pager "$scratch/log.trx" | grep -c plugged)"
[ $failed = 0 ] || cat "$scratch/err"
exit $failed
