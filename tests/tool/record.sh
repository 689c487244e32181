#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace record.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

# says TEXT: the last command printed the text
says()
{
	grep -qF -e "$1" "$scratch/err" || complain "$what does not say '$1': $(cat "$scratch/err")"
}

# ends CODE COMMAND...: the command exits with this code; its messages are in $scratch/err
ends()
{
	expected=$1
	shift
	what="$*"
	nr_checks=$((nr_checks + 1))
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -eq "$expected" ] || complain "$what exits with $code, not $expected: $(cat "$scratch/err")"
}

# events FILE [GLOB]: how many user events the file has
events()
{
	"$tool" print --format csv --columns event,data -f "${2:-tick or tock}" "$1" | tail -n +2 | wc -l
}

# has NUMBER FILE [GLOB]
has()
{
	nr_checks=$((nr_checks + 1))
	found=$(events "$2" "${3:-tick or tock}")
	[ "$found" -eq "$1" ] || complain "$what: $found events of ${3:-all}, not $1"
}

# counts_right: the last line of the recorder has the number of events that info finds in the log
counts_right()
{
	nr_checks=$((nr_checks + 1))
	printed=$(sed -n 's/.*: \([0-9]*\) events, .*/\1/p' "$scratch/err")
	found=$("$tool" info "$log" | sed -n 's/^events  *//p')
	[ "$printed" = "$found" ] || complain "$what: says $printed events, and info $found"
}

# The recorder inspects a program now and then, and no output shows when. The program waits for a gate, which opens
# after some seconds. If the recorder has not inspected the program until then, try a longer pause.
pauses='0.5 2 8 32'
open_gate_in()
{
	rm -f "$scratch/gate"
	(
		sleep "$1"
		: >"$scratch/gate"
	) &
}

log=$scratch/log.trx

# Words.
fails 125 'takes a command, or -p PID' record
fails 125 'takes a command, or -p PID' record -p 1 -- true
fails 125 'is not a process id' record -p x
fails 125 'give one of them' record --preload --inherit --children=no true
fails 125 'is not a process id' record -p 0
fails 125 'takes a number of bytes' record --size 12q true
fails 125 'takes a number of bytes' record --log-size -1 true
fails 125 'takes a number of bytes' record --size 99999999999G true
fails 125 '--policy takes loop, until-full or append, not sometimes' record --policy sometimes true
fails 125 '--stream-policy takes ' record --stream-policy append true
fails 125 'unknown option --nonsense' record --nonsense true
fails 125 'unknown %x' record -o '%x' true
fails 125 'a single % at the end' record -o "$scratch/100%" true
fails 125 'File name too long' record -o "$(printf '%05000d' 0)" true
fails 125 'File name too long' record -o "$(printf '%04094d' 0)%e" true
fails 125 'No such file' record -o "$scratch/no/where" true
fails 127 'nonsense: No such file' record --no-sched -o "$log" nonsense
fails 126 'Permission denied' record --no-sched -o "$log" "$top/README"
[ ! -e "$log" ] || complain 'a command that cannot be executed leaves a log'

# A command, from its first instruction to its last.
ends 0 "$tool" record -o "$log" "$subject" -n 1000
has 1000 "$log"
says ' events, none lost, '
"$tool" info --format json "$log" | grep -q '"complete": true' || complain 'the log is not complete'
"$tool" info "$log" | grep -q '^trace name *subject$' || complain 'the trace has not the name of the program'
[ -z "$(find "$TXTRACE_DIR" -name 'stream.*')" ] || complain 'record leaves a stream'
ends 125 "$tool" record -o "$log" "$subject"
says "$log exists; --force overwrites it"
has 1000 "$log"
ends 7 "$tool" record --force -q --name other -o "$log" -- "$subject" -n 5 -x 7
has 5 "$log"
[ ! -s "$scratch/err" ] || complain "-q says: $(cat "$scratch/err")"
"$tool" info "$log" | grep -q '^trace name *other$' || complain '--name is not the name of the trace'
ends 137 "$tool" record --force -o "$log" "$subject" -n 6 -k 9
has 6 "$log"
# An existing file is overwritten only when there is something to record.
ends 127 "$tool" record --force -o "$log" nonsense
ends 126 "$tool" record --force -o "$log" "$top/README"
ends 125 "$tool" record --force -o "$log" --size 1000000000G true
has 6 "$log"
[ "$(find "$scratch" -name 'log.trx*' | wc -l)" -eq 1 ] || complain "record --force leaves $(ls "$scratch")"
mkfifo "$scratch/pipe"
ends 125 "$tool" record --force -o "$scratch/pipe" true
says 'is not a regular file'
[ -p "$scratch/pipe" ] || complain 'record --force replaces a pipe'

# The name of the file.
mkdir "$scratch/names"
(cd "$scratch/names" && "$tool" record -q "$subject" -n 1 && "$tool" record -q -o '%t-%%-%e' "$subject" -n 1)
find "$scratch/names" -name 'subject.[0-9]*.trx' | grep -q . || complain 'the log is not PROGRAM.PID.trx'
find "$scratch/names" -name '20??????-??????-%-subject' | grep -q . || complain '%t-%%-%e is something else'

odd=$scratch/names/$(printf 'a\033[2Jb')
cp "$(command -v sleep)" "$odd"
(cd "$scratch/names" && "$tool" record -q "$odd" 0 2>/dev/null)
find "$scratch/names" -name 'a_\[2Jb.[0-9]*.trx' | grep -q . ||
	complain "a control character in a name: $(ls "$scratch/names")"

# Which event types.
ends 0 "$tool" record --force -o "$log" -e tick "$subject" -n 100
has 50 "$log" tick
has 0 "$log" tock
ends 0 "$tool" record --force -o "$log" --no-event tick "$subject" -n 100
has 0 "$log" tick
has 50 "$log" tock
ends 0 "$tool" record --force -o "$log" -e 't*' --no-event tock "$subject" -n 100
has 50 "$log" tick
has 0 "$log" tock
ends 0 "$tool" record --force -o "$log" -e nothing "$subject" -n 100
has 0 "$log"
says 'recorded no event that --event and --no-event select'
# A glob applies from the moment at which a type exists: for later types it is exact.
ends 0 "$tool" record --force -o "$log" -e '*ick' "$subject" -n 1000 -u 1000
has 500 "$log" tick
[ "$(events "$log" 'tock and i32>=500')" -eq 0 ] || complain 'a type that no glob matches is still recorded'

# Children.
ends 0 "$tool" record --force -o "$log" --inherit "$subject" -n 10 -c
has 20 "$log"
ends 0 "$tool" record --force -o "$log" "$subject" -n 10 -c
has 10 "$log"
ends 0 "$tool" record --force -o "$log" --inherit sh -c "'$subject' -n 10; '$subject' -n 20"
has 30 "$log"

# What is full.
ends 0 "$tool" record --force -o "$log" --log-size 200k --size 8M "$subject" -n 20000
counts_right
says 'it has only the newest events'
says ' events, older ones replaced, '
[ "$(events "$log" 'tock and i32=19999')" -eq 1 ] || complain 'a log that loops has not the newest event'
[ "$(events "$log" 'tick and i32=0')" -eq 0 ] || complain 'a log that looped has the oldest event'
ends 0 "$tool" record --force -o "$log" --log-size 200k --size 8M --policy until-full "$subject" -n 20000
counts_right
says 'it has only the oldest events'
says ' events, later ones not recorded, '
[ "$(events "$log" 'tick and i32=0')" -eq 1 ] || complain 'a log that was full has not the oldest event'
ends 0 "$tool" record --force -o "$log" --log-size 200k --policy append --size 8M "$subject" -n 20000
counts_right
has 20000 "$log"
# TraceX opens only the first volume; the exported files have all events, as many as the log.
ends 0 "$tool" record --force -o "$log" --policy append --size 200M "$subject" -n 1100000
says 'has 2 volumes, and TraceX opens only the first; txtrace export --to trx --split '
ends 0 "$tool" export --to trx --split -o "$scratch/split.trx" "$log"
sum=0
for part in "$scratch"/split-*.trx; do
	"$tool" check "$part" | grep -q 'TraceX shows it correctly' || complain "check $part: $("$tool" check "$part")"
	sum=$((sum + $(events "$part")))
done
[ "$sum" -eq 1100000 ] || complain "the files of --split have $sum events"
rm "$scratch"/split-*.trx
ends 0 "$tool" record --force -o "$log" --stream-policy loop --size 64k "$subject" -n 20000
counts_right
says ' overwritten'
[ "$(sed -n '/ volumes, and/p' "$scratch/err" | wc -l)" -eq 0 ] || complain 'a small log has several volumes'
[ "$(events "$log" 'tock and i32=19999')" -eq 1 ] || complain 'a stream that loops has not the newest event'
ends 0 "$tool" record --force -o "$log" --stream-policy until-full --size 64k "$subject" -n 20000
counts_right
says ' dropped'

# A limit of the file size: the log has as much as fits.
for limit in 3000 8000 40000; do
	for policy in loop append until-full; do
		# shellcheck disable=SC2016
		ends 0 sh -c 'ulimit -f "$1" && exec "$2" record --force -o "$3" --policy "$4" "$5" -n 200' \
			sh "$limit" "$tool" "$log" "$policy" "$subject"
		has 200 "$log"
		counts_right
	done
done

# A full device is another case than a full log.
mkdir "$scratch/small"
if unshare -m mount -t tmpfs none "$scratch/small" 2>/dev/null; then
	ends 125 unshare -m sh -c \
		'mount -t tmpfs -o size=1m none "$1" && exec "$2" record -o "$1/log" --size 8M "$3" -n 60000' \
		sh "$scratch/small" "$tool" "$subject"
	says 'is incomplete: No space left on device'
	grep -q -e --log-size "$scratch/err" && complain "$what: advises $(cat "$scratch/err")"
	ends 125 unshare -m sh -c \
		'mount -t tmpfs -o size=1m none "$1" && exec "$2" record -q -o "$1/log" --size 8M "$3" -n 60000' \
		sh "$scratch/small" "$tool" "$subject"
	says 'is incomplete: No space left on device'
fi

# With -q, record says only what goes wrong.
quietly()
{
	ends 0 "$tool" record --force -q "$@"
	[ ! -s "$scratch/err" ] || complain "$what says: $(cat "$scratch/err")"
}
quietly -o "$log" sleep 0
quietly -o "$log" --inherit sh -c 'sleep 0; sleep 0'
quietly -o "$log" -e nothing "$subject" -n 1
quietly -o "$log" --flight-recorder 1M sleep 0
if has_preload; then
	quietly --preload -o "$log" sh -c 'sleep 0; sleep 0'
	quietly --preload --inherit -o "$log" sh -c 'sleep 0; sleep 0'
	quietly --preload --events mutex -o "$log" sh -c :
	quietly --preload --flight-recorder 1M -o "$log" sh -c 'sleep 0; sleep 0'
fi
sleep 4 &
quietly -o "$log" -p $!

# If the program records nothing, record says why.
sleep 60 &
pid=$!
emulator=$(emulator_of "$pid")
kill "$pid"
wait "$pid" 2>/dev/null
[ -z "$emulator" ] || echo "SKIP reasons that are of the program: record sees $emulator, which runs it"
ends 0 "$tool" record --force -o "$log" sleep 0.2
if [ -z "$emulator" ]; then
	says 'did not use libposixtrace'
	says '--preload records'
	says '--inherit'
fi
ends 0 "$tool" record --force --inherit -o "$log" sleep 0.2
[ -n "$emulator" ] || says 'nor the programs that it started'
ends 0 "$tool" record --force -o "$log" "$subject" -n 0 -w "$TXTRACE_DIR"
# The library is loaded some time before it opens its directory, so one check may come too early.
cat >"$scratch/slow.c" <<'END'
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
	usleep(300000);
}
END
${CC:-cc} -shared -fPIC -Wl,-z,initfirst "$scratch/slow.c" -o "$scratch/slow.so" || complain 'slow.c is not compiled'
slow=
[ "${PX_SANITIZED:-no}" = yes ] || slow=$scratch/slow.so
bare_subject=$(binary_of "$subject")
for pause in $pauses; do
	open_gate_in "$pause"
	ends 0 env TXTRACE_DIR="$TXTRACE_DIR" "$tool" record --force -o "$log" env TXTRACE_DIR="$scratch/other" \
		LD_LIBRARY_PATH="$(dirname "$subject")/../../lib/.libs" LD_PRELOAD="$slow" \
		"$bare_subject" -n 300 -w "$scratch/gate"
	! grep -q 'another TXTRACE_DIR' "$scratch/err" || break
done
says 'another TXTRACE_DIR'
echo 'int main(void) { return 0; }' >"$scratch/static.c"
if ${CC:-cc} -static "$scratch/static.c" -o "$scratch/static" 2>/dev/null; then
	ends 0 "$tool" record --force -o "$log" "$scratch/static"
	says 'linked statically'
fi

# A running process: until it ends, and until a signal ends the recording.
rm -f "$scratch/gate"
"$subject" -w "$scratch/gate" -n 100 &
pid=$!
(
	await_stream "$pid"
	: >"$scratch/gate"
) &
ends 0 "$tool" record --force -o "$log" -p "$pid"
has 100 "$log"
for signal in INT TERM HUP; do
	"$subject" -n 100000 -u 1000 &
	pid=$!
	# A background job of a shell without job control ignores SIGINT, and one under nohup ignores SIGHUP; the tool
	# would ignore them, too.
	env --default-signal=INT,HUP "$tool" record --force -o "$log" -p "$pid" 2>"$scratch/err" &
	recorder=$!
	await_events "$pid"
	kill -0 "$pid" || complain 'the process is gone'
	kill "-$signal" "$recorder"
	wait "$recorder"
	code=$?
	what="record -p, SIG$signal"
	[ "$code" -eq 0 ] || complain "$what: exits with $code"
	[ "$(events "$log")" -gt 10 ] || complain "$what: the log has no events"
	"$tool" info "$log" | grep -q '^complete *yes' || complain "$what: the log is not complete"
	kill -0 "$pid" || complain "$what: the process was ended too"
	kill "$pid"
	wait "$pid" 2>/dev/null
	nr_checks=$((nr_checks + 1))
done
fails 125 'there is no process' record -p "$pid" -o "$scratch/none"

# %e is the name of the executable file.  The kernel cuts the name of the process, and the arguments say anything.
cp "$(command -v sleep)" "$scratch/sleeps-for-a-very-long-time"
bash -c 'exec -a zebra "$0" 60' "$scratch/sleeps-for-a-very-long-time" &
pid=$!
has_executed()
{
	case $(cat "/proc/$pid/comm") in sleeps-*) ;; *) return 1 ;; esac
}
await has_executed
program=$(basename "$(readlink "/proc/$pid/exe")") # an emulator, if one runs it
(cd "$scratch/names" && exec env --default-signal=INT "$tool" record -p "$pid" >"$scratch/out" 2>"$scratch/err") &
recorder=$!
await grep -q LD_PRELOAD "$scratch/err"
kill -INT "$recorder"
wait "$recorder"
kill "$pid"
wait "$pid" 2>/dev/null
nr_checks=$((nr_checks + 3))
[ -e "$scratch/names/$program.$pid.trx" ] || complain "%e is something else: $(ls "$scratch/names")"
# It does not have the library: both lines say how to record it.
nr_lines=2
[ -z "$emulator" ] || nr_lines=1 # and the other one says that the emulator is static
[ "$(grep -c 'LD_PRELOAD=libtxtrace-preload.so' "$scratch/err")" -eq $nr_lines ] &&
	[ "$(grep -c -e '--sched-only' "$scratch/err")" -eq $nr_lines ] ||
	complain "record -p gives no advice: $(cat "$scratch/err")"
grep -q -e '--preload' "$scratch/err" && complain "record -p cannot preload: $(cat "$scratch/err")"
[ ! -e "$scratch/none" ] || complain 'a process that there is not leaves a log'

# If only the tool gets a signal, record forwards it to the command, and waits for the command.
"$tool" record --force -o "$log" "$subject" -n 100000 -u 1000 2>"$scratch/err" &
recorder=$!
await_events "$recorder"
kill -TERM "$recorder"
wait "$recorder"
code=$?
what='record COMMAND, SIGTERM'
[ "$code" -eq 143 ] || complain "$what: exits with $code"
[ "$(events "$log")" -gt 10 ] || complain "$what: the log has no events"
"$tool" info "$log" | grep -q '^complete *yes' || complain "$what: the log is not complete"

# On a terminal: record shows its progress, at most four times a second; the terminal sends Ctrl-C to the command
# itself.
if has_program python3 'record on a terminal'; then
	rm -f "$log"
	nr_checks=$((nr_checks + 1))
	python3 - "$tool" record -o "$log" "$subject" -n 100000 -u 1000 >"$scratch/out" 2>&1 <<'END' ||
import os, pty, re, select, signal, sys, time
begin = time.monotonic()
child, terminal = pty.fork()
if child == 0:
    # A shell without job control starts background jobs with SIGINT ignored, and exec keeps that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
said, was_interrupted = b"", False
while True:
    has_events = re.search(rb"recording: [0-9]{3}", said)
    if not was_interrupted and has_events and said.count(b"recording: ") >= 3 and time.monotonic() - begin > 2:
        was_interrupted = os.write(terminal, b"\x03") == 1
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        bytes = os.read(terminal, 65536)
    except OSError:
        break
    if not bytes:
        break
    said += bytes
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
rounds = said.count(b"recording: ")
assert code == 130, (code, said)
assert rounds <= 4 * (time.monotonic() - begin) + 1, (rounds, said)
assert b" events, none lost, " in said, said
END
		complain "record on a terminal: $(cat "$scratch/out")"
	"$tool" info "$log" | grep -q '^complete *yes' || complain 'after Ctrl-C the log is not complete'
	"$tool" print -f 'tick or tock' "$log" | tail -n +2 | grep -q . || complain 'after Ctrl-C the log is empty'
fi

# The recorder is killed: the process that opens the log completes it.
"$subject" -n 100000 -u 1000 &
pid=$!
"$tool" record --force -o "$log" -p "$pid" &
recorder=$!
await_events "$pid"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
kill "$pid"
wait "$pid" 2>/dev/null
what='a recorder that was killed'
[ "$(events "$log")" -gt 10 ] || complain "$what: the log has no events"

# Programs that do not use posixtrace.
fails 125 '--events needs --preload' record --events mutex true
fails 125 '--children needs --preload' record --children yes true
fails 125 '--events does not know nonsense' record --preload --events +mutex,nonsense true
fails 125 '--events does not know ' record --preload --events mutex,,cond true
fails 125 '--children takes no, yes or match=REGEX' record --preload --children perhaps true
fails 125 '--children=match=(' record --preload --children 'match=(' true
fails 125 'cannot be loaded into a running process' record --preload -p 1
# refused TEXT COMMAND...: record refuses it in one line, before its first instruction, and leaves no log
refused()
{
	text=$1
	shift
	rm -f "$log"
	fails 125 "$text" record --preload -o "$log" -- "$@"
	[ ! -e "$log" ] || complain "$* is refused and leaves a log"
}
if own_preload; then
	ends 3 "$tool" record --preload --force -o "$log" -- "$plain" 20
	has 20 "$log" pthread_mutex_lock
	has 20 "$log" pthread_mutex_unlock
	"$tool" info --format json "$log" | grep -q '"complete": true' ||
		complain 'a preloaded program leaves no whole log'
	# A program that ends while the rings are full: lost events are in a gap, and the hold that lasts into it has no
	# length.
	cat >"$scratch/flood.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, often = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	pthread_mutex_lock(&held);
	for (int i = 0; i < 300000; i++) {
		pthread_mutex_lock(&often);
		pthread_mutex_unlock(&often);
	}
	_exit(0);
}
END
	${CC:-cc} -pthread "$scratch/flood.c" -o "$scratch/flood" || complain 'flood.c is not compiled'
	ends 0 "$tool" record --preload --force --size 16k -o "$log" -- "$scratch/flood"
	nr_checks=$((nr_checks + 2))
	"$tool" info "$log" >"$scratch/out"
	grep -q '^lost: dropped  *[1-9]' "$scratch/out" && grep -q '^gaps  *[1-9]' "$scratch/out" ||
		complain "events were lost in no gap: $(grep -E '^(lost|gaps)' "$scratch/out")"
	grep -q '^stream was full  *yes$' "$scratch/out" || complain 'info does not say that the stream was full'
	"$tool" locks --format csv "$log" 2>"$scratch/err" | values lock >"$scratch/out"
	grep -q '^locks,held,held_s,$' "$scratch/out" ||
		complain "locks tells how long a lock was held into a gap: $(grep ',held,' "$scratch/out")"
	# The log has the modules that the program had loaded, and not those of the recorder.
	for pause in $pauses; do
		open_gate_in "$pause"
		ends 3 "$tool" record --preload --force -o "$log" -- "$plain" 20 "$scratch/gate"
		"$tool" info --modules "$log" >"$scratch/modules"
		! grep -q 'libc\.so' "$scratch/modules" || break
	done
	for module in "$plain" libc.so libtxtrace-preload.so; do
		grep -q "[0-9a-f] .*$module" "$scratch/modules" || complain "info --modules has no $module"
	done
	grep -q '/txtrace$' "$scratch/modules" && complain 'a log of another program has the modules of the recorder'
	"$tool" print --format csv --columns where -f pthread_mutex_lock "$log" | grep -Eq '^"?(main|plain)\+0x' ||
		complain "a lock was called at $("$tool" print --format csv --columns where -f pthread_mutex_lock "$log" | tail -1)"
	# A child ends long before the log gets its first event: its lock has a name.
	for pause in $pauses; do
		open_gate_in "$pause"
		ends 0 "$tool" record --preload --inherit --force -o "$log" -- sh -c '"$1" 20 "$2"; true' sh "$plain" \
			"$scratch/gate"
		"$tool" print -f pthread_mutex_lock "$log" >"$scratch/locks"
		! grep -q 'mutex=queue_lock' "$scratch/locks" || break
	done
	grep -q 'mutex=queue_lock' "$scratch/locks" ||
		complain "the lock of a child has no name: $(tail -1 "$scratch/locks")"
	# strace waits for the threads of the program, which are no child processes.
	threads=$(dirname "$tool")/../tests/preload/scenarios/convoy
	if has_program strace 'threads that a debugger waits for' && [ -x "$threads" ]; then
		ends 0 "$tool" record --preload --inherit --force -o "$log" -- strace -f -o "$scratch/strace" "$threads"
		"$tool" report --processes "$log" >"$scratch/processes"
		! grep 'exit 0 .*not traced' "$scratch/processes" || complain 'a thread is shown as a process'
	fi
	# The tool is stopped while a child runs: the child itself stores its list of modules, even if it does not call
	# exit().
	ends 0 "$tool" record --preload --inherit --force -o "$log" -- \
		sh -c 'kill -STOP $PPID; "$1" 20; kill -CONT $PPID' sh "$plain"
	"$tool" print -f pthread_mutex_lock "$log" >"$scratch/locks"
	grep -q 'mutex=queue_lock' "$scratch/locks" ||
		complain "the lock of a child that has ended has no name: $(tail -1 "$scratch/locks")"
	grep 'ended before the tool' "$scratch/err" &&
		complain 'the modules of a child were stored, and record says that they are missing'
	# The command itself, which is a zombie when the tool reads its list of modules.
	ends 3 "$tool" record --preload --force -o "$log" -- \
		sh -c 'kill -STOP $PPID
			(until grep -q "^State:.Z" "/proc/$$/status"; do sleep 0.1; done; exec kill -CONT $PPID) &
			exec "$1" 20' sh "$plain"
	"$tool" info --modules "$log" | grep -q "[0-9a-f] *$plain\$" ||
		complain 'a command that has ended has no modules'
	# The shell, which was the command before, must not have anything at the address of the lock.
	address="sed -n 1s/-.*//p /proc/self/maps"
	if [ "$($address)" = "$($address)" ]; then
		echo 'SKIP the name of the lock: each program is loaded at the same address'
	else
		[ "$("$tool" print -f pthread_mutex_lock "$log" | grep -c 'mutex=queue_lock')" -eq 20 ] ||
			complain 'the lock of a command that has ended has no name'
	fi
	# A child that may not write a file of this length cannot store its list of modules.
	ends 0 "$tool" record --preload --inherit --force -o "$log" -- \
		sh -c 'kill -STOP $PPID; (ulimit -f 1; "$1" 20); kill -CONT $PPID' sh "$plain"
	says 'ended before the tool could read the names'
	ls "$TXTRACE_DIR" | grep '^maps' && complain 'a recording leaves files with mappings'
	# The name of a descriptor that was open before the trace is its number; it has no address.
	ends 0 "$tool" record --preload --force -o "$scratch/ls.trx" -- ls /
	"$tool" print "$scratch/ls.trx" | grep 'close.*fd=' >"$scratch/closes"
	grep -q 'fclose.*fd=file fd 1 ' "$scratch/closes" || complain "descriptor 1 is $(tail -2 "$scratch/closes")"
	grep -q 'fd=[^ ]*+0x' "$scratch/closes" && complain "a descriptor is an address: $(grep +0x "$scratch/closes")"
	# The environment of the program is that of the user, with the object first in LD_PRELOAD.
	ends 0 env LD_PRELOAD=libdl.so.2 TXTRACE_OUT=x TXTRACE_EVENTS=cond \
		"$tool" record --preload --force -o "$log" --events +heap -- env
	grep -q '^LD_PRELOAD=.*/libtxtrace-preload.so:libdl.so.2$' "$scratch/out" ||
		complain "LD_PRELOAD: $(grep LD_ "$scratch/out")"
	grep -q '^TXTRACE_EVENTS=+heap$' "$scratch/out" || complain 'TXTRACE_EVENTS is not what --events says'
	grep -q '^TXTRACE_OUT=' "$scratch/out" && complain 'a program that is recorded writes a log of its own'
	grep -q '^TXTRACE_CHILDREN=' "$scratch/out" && complain 'children are preloaded unasked'
	ends 0 "$tool" record --preload --inherit --force -o "$log" -- env
	grep -q '^TXTRACE_CHILDREN=yes$' "$scratch/out" || complain '--inherit does not preload children'
	ends 0 "$tool" record --preload --children 'match=^sh' --force -o "$log" -- env
	grep -q '^TXTRACE_CHILDREN=match=^sh$' "$scratch/out" || complain '--children does not say which'
	ends 0 env -i PATH="$PATH" TXTRACE_DIR="$TXTRACE_DIR" "$tool" record --preload --force -o "$log" true
	[ -n "$emulator" ] || says 'made no call that is traced'
	ends 0 env TXTRACE_PRELOAD="$scratch/copy.so" sh -c \
		'cp "$1" "$TXTRACE_PRELOAD" && exec "$2" record --preload --force -o "$3" env' \
		sh "$(dirname "$tool")/../preload/.libs/libtxtrace-preload.so" "$tool" "$log"
	grep -q "^LD_PRELOAD=$scratch/copy.so$" "$scratch/out" || complain 'TXTRACE_PRELOAD is not preloaded'
	ends 125 env TXTRACE_PRELOAD="$scratch/none.so" "$tool" record --preload --force -o "$log" true
	says 'none.so: No such file'
	cp "$scratch/copy.so" "$scratch/a:b.so"
	library=$(ldd "$(binary_of "$tool")" | sed -n 's/.*libc\.[^ ]* => \([^ ]*\) .*/\1/p' | head -1)
	if [ -n "$library" ]; then
		ends 125 env TXTRACE_PRELOAD="$library" "$tool" record --preload --force -o "$log" true
		says 'this is another object than libtxtrace-preload.so'
	fi
	ends 125 env TXTRACE_PRELOAD="$scratch/a:b.so" "$tool" record --preload --force -o "$log" true
	says 'a blank or a colon'

	# The types of calls are known before the program makes any.
	nr_checks=$((nr_checks + 2))
	ends 0 "$tool" record --preload --no-sched --force -e 'f[co]*' --no-event 'fo*' -o "$log" -- ls /usr/bin
	"$tool" print --format csv --columns event "$log" 2>/dev/null | tr -d '\r' |
		grep -v '^posix_trace\|^event$' | sort -u >"$scratch/found"
	grep -q '^fclose$' "$scratch/found" || complain "no fclose: $(cat "$scratch/found")"
	grep -qv '^fc' "$scratch/found" && complain "unwanted calls: $(cat "$scratch/found")"
	fails 127 'nonsense: No such file' record --preload --no-sched -o "$scratch/none.trx" -- nonsense
	printf '#!%s\n' "$plain" >"$scratch/script"
	chmod +x "$scratch/script"
	ends 3 "$tool" record --preload --force -o "$log" -- "$scratch/script"
	# env(1) executes the interpreter in its own process, so the interpreter has the recorded environment.
	printf '#!/usr/bin/env -S A=1 %s 5\n' "$plain" >"$scratch/script"
	ends 3 "$tool" record --preload --force -o "$log" -- "$scratch/script"
	has 5 "$log" pthread_mutex_lock
	printf '#!/usr/bin/env -S %s\n' "$(command -v printenv)" >"$scratch/script"
	ends 1 "$tool" record --preload --force -o "$log" -- "$scratch/script" LD_PRELOAD TXTRACE_CHILDREN
	grep -q '^match=^/.*/printenv\$$' "$scratch/out" ||
		complain "what env becomes is not preloaded: $(cat "$scratch/out")"
	# A process into which something else has preloaded the object.
	rm -f "$scratch/gate"
	env LD_PRELOAD="$(cd "$(dirname "$tool")/../preload/.libs" && pwd)/libtxtrace-preload.so" \
		"$plain" 20 "$scratch/gate" &
	pid=$!
	await_process "$pid"
	(
		await_stream "$pid"
		: >"$scratch/gate"
	) &
	ends 0 "$tool" record --force -o "$log" -p "$pid"
	has 20 "$log" pthread_mutex_lock
	wait "$pid"
	# A complete header of 52 bytes, and nothing else.
	{
		printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0'
		head -c 28 /dev/zero
	} >"$scratch/narrow"
	chmod +x "$scratch/narrow"
	[ "$(getconf LONG_BIT)" = 32 ] || refused 'is 32-bit x86' "$scratch/narrow"
	${CC:-cc} -pthread "$scratch/plain.c" -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 -o "$scratch/musl"
	refused 'of another C library' "$scratch/musl"
	printf '#! /usr/bin/env -S A=1 %s\n' "$scratch/static" >"$scratch/script"
	if [ -x "$scratch/static" ]; then
		refused 'linked statically' "$scratch/static"
		refused 'linked statically' "$scratch/script"
	fi
	if ! ${CC:-cc} -fsanitize=address -pthread "$scratch/plain.c" -o "$scratch/asan" 2>/dev/null; then
		echo 'SKIP a program with AddressSanitizer: it is not compiled'
	elif "$scratch/asan" 20 >"$scratch/out" 2>&1 || [ $? -ne 3 ]; then
		echo "SKIP a program with AddressSanitizer: without posixtrace, too, it fails: $(head -1 "$scratch/out")"
	else
		ends 3 "$tool" record --preload --force -o "$log" -- "$scratch/asan" 20
		says 'needs libasan.so'
		has 20 "$log" pthread_mutex_lock
	fi
fi

# As another user, which has no other processes. The test removes its directory at the end. No other run uses this
# number, because all of them would share the directory.
other_id=$((100000 + $$))
as_other="env -u TXTRACE_DIR setpriv --reuid=$other_id --clear-groups"
if [ "$(id -u)" -eq 0 ] && $as_other "$tool" version >/dev/null 2>&1; then
	chmod 711 "$scratch"
	mkdir -m 777 "$scratch/other_id"
	cp "$(command -v sleep)" "$scratch/other_id/sleep"
	cp "$(command -v env)" "$scratch/other_id/env"
	chmod 4755 "$scratch/other_id/sleep"
	sleep 60 &
	pid=$!
	ends 125 $as_other "$tool" record -o "$scratch/other_id/log" -p "$pid"
	says 'only that user and root can trace it'
	kill "$pid"
	is_subject_of_other()
	{
		[ "$(stat -c %u "/proc/$1")" = "$other_id" ] && [ "$(cat "/proc/$1/comm")" = "${subject##*/}" ]
	}
	is_traced_by_root()
	{
		$as_other "$tool" list --format json | grep -q "\"target\":$1,\"state\":\"running\""
	}
	if $as_other "$subject" -n 0 2>/dev/null; then
		$as_other "$subject" -w "$scratch/other_gate" -n 100 &
		pid=$!
		# Until setpriv has run, the process is one of root, and record would use the registry of root.
		await is_subject_of_other "$pid"
		(
			await is_traced_by_root "$pid"
			: >"$scratch/other_gate"
		) &
		ends 0 "$tool" record --force -o "$log" -p "$pid"
		has 100 "$log"
	fi
	# The trace is in the registry of the user that the target had when it began.
	what='record of a target that becomes another user'
	rm -f "$scratch/go" "$scratch/other_gate"
	# shellcheck disable=SC2016  # of the inner shell
	sh -c 'until [ -e "$1" ]; do sleep 0.1; done; shift; exec "$@"' - "$scratch/go" \
		$as_other "$subject" -w "$scratch/other_gate" -n 100 &
	pid=$!
	"$tool" record --force -o "$log" -p "$pid" 2>"$scratch/err" &
	recorder=$!
	await_stream "$pid"
	: >"$scratch/go"
	await is_subject_of_other "$pid"
	sleep 2 # record looks at its target at least once a second
	: >"$scratch/other_gate"
	wait "$recorder"
	says "it became a process of user $other_id"
	ends 0 $as_other "$tool" record -o "$scratch/other_id/log" \
		"$scratch/other_id/sleep" 0.2
	[ -n "$emulator" ] || says 'rights from its file'
	# The registry belongs to root alone. So a child that has become another user is not traced, and the tool says
	# so.
	if [ -r "${plain:-/nonexistent}" ]; then
		for changer in "setpriv --reuid=$other_id --clear-groups" 'runuser -u nobody --' \
			'su -s /bin/sh nobody -c'; do
			$changer true 2>/dev/null || { echo "SKIP ${changer%% *}: it is missing"; continue; }
			ends 0 "$tool" record --preload --inherit --force -o "$log" -- $changer "$scratch/other_id/env"
			says '1 process recorded no program'
		done
		ends 0 "$tool" record --preload --inherit --force -o "$log" -- setpriv --no-new-privs sh -c \
			"'$plain' 7; true"
		has 7 "$log" pthread_mutex_lock
		! grep -q 'did not record' "$scratch/err" ||
			complain "$what: a child of the same user is not traced: $(cat "$scratch/err")"
		what='record --preload of a file with rights'
		nr_checks=$((nr_checks + 1))
		$as_other "$tool" record --preload -o "$scratch/other_id/none" \
			"$scratch/other_id/sleep" 0.2 2>"$scratch/err"
		[ $? -eq 125 ] || complain "$what is not refused"
		says 'rights from its file'
	fi
	rm -rf /dev/shm/posixtrace-$other_id
fi
finish
