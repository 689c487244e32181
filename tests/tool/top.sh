#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace top: for a file, for a process, on a terminal, and if the kernel refuses scheduling records.
. "${srcdir:-.}/tests/tool/lib.sh"

refuse=$(pwd)/tests/support/refuse

fails 2 'takes -p PID, or one file' top
fails 2 'takes -p PID, or one file' top -p 1 "$scratch/file"
fails 2 '--sort takes' top --sort size "$scratch/file"
fails 2 '--interval takes' top --interval 0 "$scratch/file"
fails 2 '--format needs --once' top --format json "$scratch/file"
fails 2 'No such file' top "$scratch/file"

# The waiting thread moves to CPU 1, and the log ends while it runs and holds the lock.
{ sed '/^80 /,$d; s/^\(72 in 2\|75 call 2\) 0/\1 1/' "$top/tests/data/sched/held_lock.txt"; echo '100 event 2 1'; } |
	"$mksched" "$scratch/lock" || complain 'no log could be written'
cd "$scratch" || exit 99
golden top-file top --once lock
golden top-sorted top --sort name lock
golden top.json top --once --format json lock

# A thread that lives for a part of the interval: shares of the interval, as in report.
"$mksched" late <<'END' || complain 'no log could be written'
0 start
0 thread 1 running main
1 event 1 0
5 out 1 0 blocked
90 thread 2 ready late
92 in 2 1
98 event 2 1
99 out 2 1 ended
100 in 1 0
100 event 1 0
END
nr_checks=$((nr_checks + 1))
"$tool" top --once --format csv late >csv 2>err
grep -q '^threads,.*,late,2,ended,7\.0,2\.0,0\.0,0\.0,' csv || complain "a late thread did not run for 7 % of the interval: $(cat csv err)"

# A process: top shows its threads, and leaves no files.
if has_program python3 'top of a process and on a terminal'; then
	export TMPDIR=$scratch/tmp
	mkdir "$TMPDIR"
	python3 -c 'import time; time.sleep(60)' &
	process=$!
	"$tool" top --once --interval 0.2 --format csv -p $process >csv 2>err || complain "top fails: $(cat err)"
	values thread <csv >said
	nr_checks=$((nr_checks + 1))
	grep -q "^threads,.*,tid,$process\$" said && grep -q '^threads,.*,running,[0-9]' said ||
		complain "top -p does not show the thread of the process: $(cat said)"
	# The kernel refuses the records: each format marks the shares as estimates.
	if "$refuse" 1 membarrier true 2>err; then
		"$refuse" 1 perf_event_open "$tool" top --once --interval 0.2 -p $process >said 2>err ||
			complain "refused top fails: $(cat err)"
		nr_checks=$((nr_checks + 1))
		grep -q " $process .* ~[0-9.]*  *~[0-9.]*  *~[0-9.]*" said && grep -q 'estimates' said ||
			complain "estimates have no mark: $(cat said)"
		"$refuse" 13 perf_event_open "$tool" top --once --interval 0.2 --format csv -p $process 2>&1 >csv | head -3
		values thread <csv >said
		nr_checks=$((nr_checks + 1))
		grep -q "^threads,.*,estimated,true\$" said || complain 'CSV hides that shares are estimates'
	fi
	nr_checks=$((nr_checks + 1))
	python3 - "$tool" "$process" <<'END' || complain 'top fails on a terminal'
import fcntl, os, pty, select, struct, sys, termios
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], [sys.argv[1], "top", "--interval", "0.2", "-p", sys.argv[2]])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
before = termios.tcgetattr(terminal)
seen = b""
def until(word):
    global seen
    while word not in seen:
        if not select.select([terminal], [], [], 30)[0]:
            sys.exit(f"top does not show {word}: {seen[-500:]}")
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
until(b"q quit")
seen = b""
os.write(terminal, b"p")
until(b"paused")
seen = b""
os.write(terminal, b"n")
until(b"q quit")
os.write(terminal, b"q")
until(b"\x1b[?1049l")
status = os.waitpid(child, 0)[1]
if status != 0 or termios.tcgetattr(terminal) != before:
    sys.exit(f"top ends with {status}, and leaves the terminal {termios.tcgetattr(terminal)}")
END
	# It waits as long as the option says, to the millisecond: 1.001 * 1000 is a little less than 1001.
	if has_program strace 'how long top waits' && strace -o polls true 2>/dev/null; then
		timeout -s INT 10 strace -e trace=poll,ppoll -o polls "$tool" top --interval 1.001 -p $process >said 2>err
		nr_checks=$((nr_checks + 1))
		grep -qE ', 1001\)|\{tv_sec=1, tv_nsec=1000000\}' polls || complain "top does not wait for 1.001 s: $(tail -3 polls)"
	fi
	kill $process
	wait $process 2>/dev/null
	nr_checks=$((nr_checks + 1))
	[ -z "$(ls "$TMPDIR")" ] || complain "files are left: $(ls "$TMPDIR")"
fi
finish
