#!/bin/sh
# SPDX-License-Identifier: MIT
# If a program cannot load the object, because it has another C library or is for another kind of machine, its
# environment does not name the object, however it is executed. A program that can load it gets it.
. "${srcdir:-.}/tests/preload/acts.sh"

cat >runner.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;

static int wait_for(pid_t child)
{
	int status = 0;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* runner HOW FILE: FILE is in the directory, and the directory is in PATH */
int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "", *file = argv[2];
	char *arguments[] = {argv[2], NULL};
	pid_t child = -1;

	if (strcmp(how, "execve") == 0)
		execve(file, arguments, environ);
	else if (strcmp(how, "execv") == 0)
		execv(file, arguments);
	else if (strcmp(how, "execl") == 0)
		execl(file, file, (char *)NULL);
	else if (strcmp(how, "execvp") == 0)
		execvp(file, arguments);
	else if (strcmp(how, "execlp") == 0)
		execlp(file, file, (char *)NULL);
	else if (strcmp(how, "fexecve") == 0)
		fexecve(open(file, O_PATH), arguments, environ);
#ifdef HAS_EXECVEAT
	else if (strcmp(how, "execveat") == 0)
		execveat(open(".", O_PATH), file, arguments, environ, 0);
	else if (strcmp(how, "empty") == 0)
		execveat(open(file, O_RDONLY | O_LARGEFILE), "", arguments, environ, AT_EMPTY_PATH);
#endif
	else if (strcmp(how, "posix_spawn") == 0)
		return posix_spawn(&child, file, NULL, NULL, arguments, environ) ? 98 : wait_for(child);
	else if (strcmp(how, "posix_spawnp") == 0)
		return posix_spawnp(&child, file, NULL, NULL, arguments, environ) ? 98 : wait_for(child);
	else if (strcmp(how, "vfork") == 0) {
		child = vfork();
		if (child > 0)
			return wait_for(child);
		execv(file, arguments);
		_exit(97);
	}
	return 96;
}
END
# glibc before 2.34 has no execveat().
by_descriptor='execveat empty'
${CC:-cc} -DHAS_EXECVEAT runner.c -o runner 2>/dev/null || {
	by_descriptor=
	${CC:-cc} runner.c -o runner || complain 'runner.c is not compiled'
}
cat >shows.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	const char *objects = getenv("LD_PRELOAD");

	puts(!objects ? "nothing" : strstr(objects, "libtxtrace-preload") ? "us" : "others");
	return 7;
}
END
PATH=$scratch:$PATH
export PATH TXTRACE_CHILDREN=yes

# with WHAT EXPECTED FILE: each way to execute it
with()
{
	for how in execve execv execl execvp execlp fexecve $by_descriptor posix_spawn posix_spawnp vfork; do
		[ "$how $1" != 'empty script' ] || continue
		[ "$how $1" != 'fexecve script' ] || continue
		bare ./runner $how "$3"
		run ./runner $how "$3"
		is "$1 by $how: status" 7 "$code"
		is "$1 by $how: stderr" '' "$(cat "$scratch/err")"
		is "$1 by $how: status without the object" 7 "$bare"
		is "$1 by $how: the object" "$2" "$(cat "$scratch/out")"
	done
}

# A loader of this C library under another name: the object must ask the file, and not trust the name.
${CC:-cc} shows.c -o shows || complain 'shows.c is not compiled'
with 'own' us shows
loader=$(LC_ALL=C readelf -l shows | sed -n 's/.*interpreter: \(.*\)]/\1/p')
if ln -s "$loader" ld-musl-none.so.1 &&
	${CC:-cc} shows.c -o foreign -Wl,--dynamic-linker="$scratch/ld-musl-none.so.1"; then
	with 'another loader' nothing foreign
	# The functions stat() and open() of a machine of 32 bits refuse these.
	cp foreign large && truncate -s 3G large && with 'a program of 3 GiB' nothing large
	rm -f large
	cp foreign late && touch -d '@4102444800' late && with 'a program of the year 2100' nothing late
	printf '#! %s\n' "$scratch/foreign" >script
	chmod +x script
	with script nothing script
	# The other preloaded objects stay.
	${CC:-cc} -shared -fPIC -x c /dev/null -o libother.so
	timeout -k 1 120 env LD_PRELOAD="$object:$scratch/libother.so" ./runner execve foreign >out 2>err
	is 'another object with another loader' others "$(cat out)"
else
	complain 'no program with another loader'
fi
if ${CC:-cc} -static shows.c -o static 2>/dev/null; then
	with static us static
else
	echo 'SKIP static: no static C library'
fi
if command -v musl-gcc >/dev/null && musl-gcc shows.c -o musl && ./musl >/dev/null; [ $? -eq 7 ]; then
	with musl nothing musl
else
	echo 'SKIP musl: no musl-gcc, or its programs do not run'
fi
if [ "$(getconf LONG_BIT)" = 32 ]; then
	echo 'SKIP 32-bit: the object has 32 bits, too'
elif ${CC:-cc} -m32 shows.c -o small 2>/dev/null && ./small >/dev/null; [ $? -eq 7 ]; then
	with '32-bit' nothing small
else
	echo 'SKIP 32-bit: no C library for it'
fi
bare ./runner execve ./missing
run ./runner execve ./missing
same 'a file that is missing'
finish
