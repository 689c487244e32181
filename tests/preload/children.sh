#!/bin/sh
# SPDX-License-Identifier: MIT
# Children: which are traced, what environment they get, and that none of this harms a program that has many.
. "${srcdir:-.}/tests/preload/acts.sh"

logs()
{
	find . -name '*.trx*' | wc -l
}

# Something else to preload.
other=$scratch/libother.so
${CC:-cc} -shared -fPIC -x c /dev/null -o "$other" || complain 'there is nothing else to preload'

# P14: no is usual. What a child executes does not have us, and keeps what else was preloaded.
cat >environment <<'END'
#!/bin/sh
env | grep -E '^(LD_PRELOAD|TXTRACE_OUT)=' | sort
exit 5
END
chmod +x environment
for symbol in execl system popen posix_spawn; do
	rm -f ./*.trx*
	case $symbol in
	execl) set -- sh -c './environment; true' ;;
	*) set -- "$acts" $symbol ;;
	esac
	run TXTRACE_OUT=%e.%p.trx "$@"
	is "$symbol: logs" 1 "$(logs)"
	accepted "$(ls ./*.trx)"
done
rm -f ./*.trx*
run TXTRACE_OUT=%e.%p.trx sh -c './environment; true'
is 'environment of a child' '' "$(cat out)"
rm -f ./*.trx*
timeout -k 1 120 env LD_PRELOAD="$object:$other" TXTRACE_OUT=%e.%p.trx sh -c './environment; true' >out 2>&1
is 'what else is preloaded' "LD_PRELOAD=$other" "$(cat out)"
rm -f ./*.trx*
timeout -k 1 120 env LD_PRELOAD="$other $object" TXTRACE_OUT=%e.%p.trx sh -c './environment; true' >out 2>&1
is 'what else is preloaded, ahead' "LD_PRELOAD=$other" "$(cat out)"
is 'logs' 1 "$(logs)"

# Behind the C library nobody calls us, and nothing breaks.
rm -f ./*.trx*
bare "$acts" fork
timeout -k 1 120 env LD_PRELOAD="$(ldd "$acts" | awk '$1 ~ /^libc\./ { print $3 }') $object" TXTRACE_OUT=log.trx \
	"$acts" fork >out 2>err
code=$?
same 'behind the C library'
accepted log.trx

# An exec in the same process stays traced, and what exists is left alone.
rm -f ./*.trx*
run TXTRACE_OUT=log.trx "$acts" execv
is 'logs after an exec' 2 "$(logs)"
accepted log.trx
accepted log.trx.1
is 'an exec that fails, and one that does not' 3 "$(events log.trx execve)"

# Who has the object only to read it, as the recorder that looks for symbols in it, is no parent that is traced.
cat >reader.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY), status = 0;
	if (argc < 3 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 99;
	if (fork() == 0)
		return execvp(argv[2], argv + 2);
	return wait(&status) < 0 || status != 0;
}
END
${CC:-cc} reader.c -o reader || complain 'reader.c is not compiled'
rm -f ./*.trx*
./reader "$object" env LD_PRELOAD="$object" TXTRACE_OUT=log.trx "$acts" fork >out 2>err || complain "reader: $(cat err)"
is 'logs of a child of one that reads the object' 1 "$(logs)"

# yes: each has a log.
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx "$acts" system
is 'logs of a program, and of the shells of two calls' 3 "$(logs)"
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx "$acts" posix_spawn
is 'logs of a program and what it spawns' 2 "$(logs)"
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=log.trx "$scenes" forks 5
is 'logs of a process and five children' 6 "$(logs)"
for log in ./*.trx*; do
	accepted "$log"
done
is 'threads of a child' 5 "$(events log.trx.1 txtrace_thread_start)"

# match=: by the path of the program, through others that do not match.
rm -f ./*.trx*
run TXTRACE_CHILDREN='match=/(cat|wc)$' TXTRACE_OUT=%e.trx sh -c 'sh -c "cat </dev/null; true"; ls | wc -l; true'
is 'logs of what matches' "$(printf 'cat.trx\nsh.trx\nwc.trx')" "$(ls ./*.trx | sed 's|./||')"

# P12: what is between vfork and exec is not recorded, and the parent goes on.
for children in no yes; do
	rm -f ./*.trx*
	bare "$scenes" vforks
	run TXTRACE_CHILDREN=$children TXTRACE_OUT=log.trx "$scenes" vforks
	[ $children = yes ] || same 'vfork'
	accepted log.trx
	is 'events of children of vfork' 0 "$(($(events log.trx _exit) + $(events log.trx execve)))"
	is 'threads behind them' 6 "$(events log.trx txtrace_thread_start)"
done
is 'the child has the environment' 1 "$(cat out | head -1)"

# P13: children made while other threads are in wrappers; nobody is stuck.
for children in no yes; do
	rm -f ./*.trx*
	bare "$scenes" forks 20
	run TXTRACE_CHILDREN=$children TXTRACE_OUT=log.trx "$scenes" forks 20
	same "many children, $children"
	for log in ./*.trx*; do
		accepted "$log"
	done
done
is 'logs' 21 "$(logs)"

# A bad expression is told, and no children are traced.
rm -f ./*.trx*
run TXTRACE_CHILDREN='match=(' TXTRACE_OUT=%p.trx sh -c 'true; /bin/true; true'
is 'a bad expression' 1 "$(grep -c 'regular expression' err)"
is 'logs' 1 "$(logs)"
finish
