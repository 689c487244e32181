#!/bin/sh
# SPDX-License-Identifier: MIT
# A log without the tool: each variable with good and bad values, files that cannot be written, and the ways in which
# processes end.
. "${srcdir:-.}/tests/preload/acts.sh"

# says LINES TEXT: stderr has this many lines, and the text is in them; otherwise the program behaves as without the
# object
says()
{
	is "lines about $2" "$1" "$(grep -c . err)"
	grep -q "$2" err || complain "nothing is said of $2: $(cat err)"
}

bare "$scenes" threads 3

# P31, P22, P28: in a process without its own log, the object has no thread and no file; in others, one thread and one
# file.
bare "$scenes" possessions
if [ "$(head -1 bare.out)" = 'threads 1' ]; then
	run "$scenes" possessions
	same 'without a log'
	run TXTRACE_OUT=log.trx "$scenes" possessions
	is 'with one' "$(printf 'threads 2\nfiles %d high' $(($(sed -n 's/^files //p' bare.out) + 1)))" "$(head -2 out)"
else
	echo 'SKIP possessions: an emulator has threads of its own in this process'
fi
"${READELF:-readelf}" -d "$object" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE "^(libc\.|ld-|ld\.${PX_CHECKERS:+|libubsan\.})" >needed # the only sanitizer that can be preloaded
# On ARM, the tables for unwinding name a function of it, and the package of the C library depends on it.
case $(uname -m) in arm*) sed -i '/^libgcc_s\./d' needed ;; esac
is 'needed besides the C library' '' "$(cat needed)"
rm -f log.trx*
bare "$scenes" threads 3
run TXTRACE_OUT=log.trx "$scenes" threads 3
same 'with a log'
is 'logs that are completed at exit' 1 "$("$tool" recover log.trx 2>&1 | grep -c 'complete already')"
accepted log.trx

# All threads of a process change their user together, and the C library ends a process in which one of them may not.
bare "$scenes" refused
if [ "$bare" -eq 77 ]; then
	echo 'SKIP refused: there are no filters for system calls'
else
	rm -f log.trx*
	run TXTRACE_OUT=log.trx "$scenes" refused
	same 'a change of the user that is refused to one thread'
	accepted log.trx
	is 'calls: one before it, one after it, and four at the end' 6 "$("$tool" print --columns event,data log.trx |
		grep -c '^pthread_create .*result=0')"
	rm -f log.trx*
	bare "$scenes" refused threads
	run TXTRACE_OUT=log.trx "$scenes" refused threads
	is 'where no thread can be created, the program exits with' "$bare" "$code"
	is 'what the program prints' "$(cat bare.out)" "$(cat out)"
	grep -q 'log.trx ends here: the program may create no thread any more' err ||
		complain "nothing is said of the end of the log: $(cat err)"
	accepted log.trx
fi

# The log may be larger than 2 GiB where a long has 32 bits, too: its descriptor is as another one that is for reading
# and writing, but for the flag that an exec closes it.
printf 'flags() { echo $(($(sed -n "s/^flags:[[:space:]]*/0/p" "/proc/$$/fdinfo/$1") & ~02000000)); }
exec 3<>other; flags 3
for fd in /proc/$$/fd/*; do case $(readlink "$fd") in */log.trx) flags "${fd##*/}" ;; esac; done\n' >flags.sh
rm -f log.trx*
run TXTRACE_OUT=log.trx sh flags.sh
is 'flags of the descriptors' "$(sed -n 1p out) 2 $(sed -n 1p out)" "$(sed -n 1p out) $(grep -c . out) $(sed -n 2p out)"
rm -f log.trx*

# A message ends no program: nobody reads the pipe, or the file with it would be too large.  It is in no file of the
# program, either, that has the number of stderr now.
cat >messages.py <<'END'
import os, resource, subprocess, sys
def code(stderr, limit=None):
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    env = dict(os.environ, LD_PRELOAD=sys.argv[1], TXTRACE_OUT="missing/log.trx")
    return subprocess.run(["sh", "-c", "exit 5"], stderr=stderr, env=env, preexec_fn=prepare).returncode
readable, writable = os.pipe()
os.close(readable)
print("pipe", code(writable))
with open("large", "ab") as large:
    large.write(bytes(100000))
    large.flush()
    print("file", code(large, 65536), os.path.getsize("large"))
END
python3 messages.py "$object" >out 2>err
is 'programs whose messages nobody can read' 'pipe 5
file 5 100000' "$(cat out)"
cat >replaces.py <<'END'
import os
os.close(2)
data = os.open("data", os.O_WRONLY | os.O_CREAT, 0o600)
os.write(data, b"data %d" % data)
for fd in os.listdir("/proc/self/fd"):
    try:
        if os.readlink("/proc/self/fd/" + fd).endswith("/log.trx"):
            os.close(int(fd))
    except FileNotFoundError:
        pass
raise SystemExit(5)
END
TXTRACE_OUT=log.trx LD_PRELOAD=$object python3 replaces.py 2>err
is 'a program that opens a file as 2' 5 "$?"
is 'the file' 'data 2' "$(cat data)"
rm -f ./*.trx* data large

# Names.
run TXTRACE_OUT='%e-%p-%t-%%.trx' "$scenes" threads 3
ls ./*.trx | grep -qE '^\./scenes-[0-9]+-[0-9]{8}-[0-9]{6}-%\.trx$' || complain "names: $(ls)"
rm -f ./*.trx*
if command -v bash >/dev/null; then
	run TXTRACE_OUT=%e.trx bash -c "exec -a liar '$scenes' threads 3"
	is 'the name of a program whose arguments have another' scenes.trx "$(ls | grep -E '^(liar|scenes)\.trx$')"
	rm -f ./*.trx*
fi
bare "$acts" prctl
run TXTRACE_OUT=log.trx "$acts" prctl
same 'a name by prctl()'
is 'the thread with a name by prctl()' by-prctl-and-cu "$("$tool" print log.trx | awk '/ sched_yield/ { print $4 }')"
rm -f log.trx*
echo mine >log.trx
echo mine >log.trx.1
run TXTRACE_OUT=log.trx "$scenes" threads 3
accepted log.trx.2
is 'files that existed' "$(printf 'mine\nmine')" "$(cat log.trx log.trx.1)"
mkdir -p sub
run TXTRACE_OUT=sub/x.trx sh -c "cd /; exec '$scenes' threads 3"
accepted sub/x.trx
is 'where a process goes that moves and executes' 0 "$(ls /sub 2>/dev/null | wc -l)"
rm -f log.trx*

# Groups.
groups()
{
	rm -f log.trx*
	run TXTRACE_EVENTS="$1" TXTRACE_OUT=log.trx "$acts" fork
	accepted log.trx
	is "TXTRACE_EVENTS=$1" "$2" "$([ "$(events log.trx fork)" -gt 0 ] && echo process) $(grep -c . err)"
}
groups process 'process 0'
groups thread,process 'process 0'
groups thread ' 0'
groups -process ' 0'
groups +heap,-process ' 0'
groups -process,+process 'process 0'
groups all,-process ' 0'
groups nonsense 'process 1'
groups -nonsense,+heap 'process 1'

# Sizes and policies; the log has a limit except with append.
full()
{
	rm -f log.trx*
	run TXTRACE_SIZE="$1" TXTRACE_POLICY="$2" TXTRACE_OUT=log.trx "$scenes" threads 2000
	accepted log.trx
}
full 64K loop
[ "$(stat -c %s log.trx)" -lt 2000000 ] || complain 'a log of 64K is large'
is 'a loop log has the end' 1 "$(events log.trx posix_trace_stop)"
full 64k until-full
is 'an until-full log has the beginning' 1 "$(events log.trx posix_trace_start)"
nr=$(events log.trx txtrace_thread_start)
[ "$nr" -gt 0 ] && [ "$nr" -lt 2000 ] || complain "an until-full log of 64K has $nr of 2004 threads"
full 64K append
is 'an append log has all threads' 2004 "$(events log.trx txtrace_thread_start)"
for size in 0 -1 12Q M 1e3 99999999999999999999 ' 5'; do
	rm -f log.trx
	run TXTRACE_SIZE="$size" TXTRACE_OUT=log.trx "$scenes" threads 3
	says 1 TXTRACE_SIZE
	accepted log.trx
done
rm -f log.trx
run TXTRACE_POLICY=upside-down TXTRACE_OUT=log.trx "$scenes" threads 3
says 1 TXTRACE_POLICY
accepted log.trx
rm -f log.trx
run TXTRACE_CHILDREN=perhaps TXTRACE_OUT=log.trx "$scenes" threads 3
says 1 TXTRACE_CHILDREN
accepted log.trx

# No log: the variable is empty, tracing is disabled, or the file cannot be written.
rm -f log.trx
bare "$scenes" threads 3
run TXTRACE_OUT= "$scenes" threads 3
same 'an empty name'
run TXTRACE_DISABLE=1 TXTRACE_OUT=log.trx "$scenes" threads 3
same 'disabled'
is 'a disabled log' 0 "$(ls log.trx* 2>/dev/null | wc -l)"
run TXTRACE_DISABLE=0 TXTRACE_OUT=log.trx "$scenes" threads 3
accepted log.trx
for out in no/such/directory.trx %x.trx trailing% "$(printf '%5000s' x)"; do
	run TXTRACE_OUT="$out" "$scenes" threads 3
	says 1 'no log is written'
	is 'the exit code' 0 "$code"
	is 'what it prints' "$(cat bare.out)" "$(cat out)"
done
rm -f log.trx
run TXTRACE_DIR=/proc TXTRACE_OUT=log.trx "$scenes" threads 3
says 1 'no log is written'
is 'a file that is left' 0 "$(ls log.trx* 2>/dev/null | wc -l)"
# A process that becomes another user cannot use the shared memory any more, whoever may write into the directory of the
# log: a child has no log for that.
if [ "$(id -u)" -eq 0 ]; then
	printf '#include <sys/wait.h>\n#include <unistd.h>\nint main(void)\n{\n\tif (setuid(65534) != 0)\n\t\treturn 1;
	if (fork() == 0)\n\t\t_exit(0);\n\treturn wait(NULL) < 0;\n}\n' >drop.c
	${CC:-cc} drop.c -o drop || complain 'drop.c is not compiled'
	mkdir -m 777 dropped
	chmod 711 "$scratch"
	run TXTRACE_CHILDREN=yes TXTRACE_OUT="$scratch/dropped/%p.trx" ./drop
	says 1 'the directory for shared memory, cannot be used: Permission denied; no log is written'
	chmod 700 "$scratch"
fi
# The kernel permits a new user name space only to a process with one thread.
if unshare -r true 2>/dev/null; then
	rm -f log.trx*
	bare unshare -r cat /proc/self/uid_map
	run TXTRACE_OUT=log.trx unshare -r cat /proc/self/uid_map
	same 'a user name space'
	is 'its log is complete' yes "$("$tool" info log.trx | sed -n 's/^complete  *//p')"
	rm -f log.trx*
	if unshare -rpf true 2>/dev/null; then
		run TXTRACE_OUT=log.trx unshare -rpf echo inside
		is 'what a user and a PID name space print' inside "$(cat out)"
		says 1 'log.trx ends here: the program may create no thread any more'
		rm -f log.trx*
	fi
else
	echo 'SKIP name spaces: not permitted'
fi
if ${CC:-cc} "$top/tests/preload/user_in_handler.c" -o user_in_handler 2>err; then
	rm -f log.trx*
	run TXTRACE_OUT=log.trx ./user_in_handler $((1 + $(ls /proc/self/task | wc -l))) # ls has no threads of its own
	is 'a signal handler that changes the user' 0 "$code"
	accepted log.trx
else
	complain "user_in_handler.c is not compiled: $(cat err)"
fi
timeout -k 1 120 env LD_PRELOAD="$object" TXTRACE_OUT=no/such/directory.trx "$scenes" threads 3 >out 2>&-
is 'without stderr' 0 $?

# P21: constructors before ours, handlers after our destructor; _exit(), and death by a signal.
if ${CC:-cc} -shared -fPIC -pthread "$top/tests/preload/early.c" -o libearly.so 2>err &&
	echo 'int main(void) { return 0; }' >early.c &&
	${CC:-cc} early.c -o early -Wl,--no-as-needed -L. -learly -Wl,-rpath,"$scratch" 2>>err; then
	rm -f log.trx*
	run ./early
	is 'an early constructor, and no log' 0 "$code"
	run TXTRACE_CHILDREN=yes TXTRACE_OUT=log.trx ./early
	is 'an early constructor' 0 "$code"
	accepted log.trx
else
	complain "early.c is not compiled: $(cat err)"
fi
rm -f log.trx*
bare "$scenes" leaves
run TXTRACE_OUT=log.trx "$scenes" leaves
same '_exit'
is 'an exit' 1 "$(events log.trx _exit)"
accepted log.trx
rm -f log.trx*
# Such a process leaves its log to the next one that creates a stream or opens the log.  Another directory of streams
# hides what is left, so a look from there completes nothing.
mkdir -m 700 elsewhere
for i in 1 2 3; do
	run TXTRACE_OUT=left.$i.trx "$scenes" leaves
done
is 'which of three logs are complete' 'yes yes no:' \
	"$(for i in 1 2 3; do TXTRACE_DIR=$scratch/elsewhere "$tool" info left.$i.trx; done |
		awk '$1 == "complete" { printf "%s%s", nr++ ? " " : "", $2 }')"
for i in 1 2 3; do
	is "log $i, when it is opened" yes "$("$tool" info left.$i.trx | sed -n 's/^complete  *//p')"
	is "its exit" 1 "$(events left.$i.trx _exit)"
done
run TXTRACE_OUT=log.trx "$scenes" dies
"$tool" recover log.trx >recovered 2>&1 || complain "recover: $(cat recovered)"
accepted log.trx
is 'threads of a process that was killed' 6 "$(events log.trx txtrace_thread_start)"

for scene in ends_alone ends_first; do
	if ! "$scenes" sees_end >/dev/null; then
		echo "SKIP $scene: a process cannot see here that its first thread has ended"
		continue
	fi
	rm -f log.trx*
	bare "$scenes" $scene
	run TXTRACE_OUT=log.trx "$scenes" $scene
	same $scene
	accepted log.trx
done

# P31: the program closes all descriptors, and uses their numbers for its own files.
rm -f log.trx*
bare "$scenes" closes victim
run TXTRACE_OUT=log.trx "$scenes" closes victim
same 'descriptors that are closed'
accepted log.trx
is 'all threads all the same' 13 "$(events log.trx txtrace_thread_end)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$scenes" closes victim log.trx
is 'what another file gets' "$(cat bare.out)" "$(cat out)"
says 1 'is incomplete'

# P23: a second copy of the object, and a copy that is unloaded.
rm -f log.trx*
run TXTRACE_OUT=log.trx "$here/tests/preload/linked"
is 'a program that uses the library itself' 0 "$code"
is 'events of its own' 3 "$(events log.trx 'three times')"
# A program that reads its own stream reaches the end of it, whether or not it has its own copy of the library.
for program in linked linked_static; do
	for log in '' log.trx; do
		rm -f log.trx*
		run TXTRACE_OUT=$log "$here/tests/preload/$program" drain
		is "$program drains its stream, with the log '$log'" 0 "$code"
	done
done

# Two copies have two flush threads, and the process still ends.
if "$scenes" sees_end >/dev/null; then
	rm -f log.trx*
	run TXTRACE_OUT=log.trx "$here/tests/preload/linked" own.trx
	is 'a program that ends with its last thread' 0 "$code"
	accepted log.trx
	for log in log.trx own.trx; do
		is "$log is complete" yes "$("$tool" info "$log" | sed -n 's/^complete  *//p')"
		is "events of its own in $log" 3 "$(events "$log" 'three times')"
	done
fi
bare "$scenes" unloads "$object"
is 'unloaded' "0 done" "$bare $(head -1 bare.out)"

# P15: a set-user-ID or set-group-ID program takes nothing from its environment.
if [ "$(id -u)" -eq 0 ] && cp "$(command -v id)" who && chown 1 who && chmod u+s who && [ "$(./who -u)" != 1 ]; then
	echo 'SKIP rights: no program gets rights here'
elif [ "$(id -u)" -eq 0 ] && cp "$scenes" rights && chown 1 rights && chmod u+s rights; then
	rm -f log.trx*
	chmod 755 "$scratch"
	mkdir -m 777 open
	bare ./rights threads 3
	run TXTRACE_OUT="$scratch/open/log.trx" ./rights threads 3
	is 'exit code' "$bare" "$code"
	is 'logs of a program with rights' 0 "$(ls open | wc -l)"
	# If the program is linked with the library, only the library's own check protects it.
	if ${CC:-cc} early.c -o careful -Wl,--no-as-needed "$object" -Wl,-rpath,"${object%/*}"; then
		run TXTRACE_OUT="$scratch/open/log.trx" ./careful
		is 'logs where we are linked' 1 "$(ls open | wc -l)"
		rm -f open/*
		chown 1 careful
		chmod u+s careful
		timeout -k 1 120 env TXTRACE_OUT="$scratch/open/log.trx" ./careful
		is 'logs where we are linked, with rights' 0 "$(ls open | wc -l)"
	fi
fi

# A full disk.
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	trap 'umount "$scratch/small"; rm -rf "$scratch" "$TXTRACE_DIR"' EXIT
	bare "$scenes" threads 2000
	run TXTRACE_OUT=small/log.trx "$scenes" threads 2000
	is 'exit code with a full disk' "$bare" "$code"
	is 'output with a full disk' "$(cat bare.out)" "$(cat out)"
	says 1 'No space left'
fi
finish
