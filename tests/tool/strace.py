# SPDX-License-Identifier: MIT
"""Compare the calls of one process in a log with those that strace saw in the same run.

strace.py TOOL LOG STRACE PID SYSCALL=CALL...

The counts must be equal.  Calls that sleep, and took at least 10 ms, must be the same waits in both.  A wait in the log
contains the system call, and lies between the system calls before and after it."""
import csv
import json
import re
import subprocess
import sys
from collections import Counter

tool, log, strace, pid = sys.argv[1:5]
call_of = dict(pair.split("=") for pair in sys.argv[5:])
# A machine of 32 bits has other system calls for the same functions.
OTHERS = {"_llseek": "lseek", "send": "sendto", "recv": "recvfrom", "clock_nanosleep_time64": "clock_nanosleep"}
LONG = 0.010  # s
TRIED = "waitpid",  # if such a call has to wait, the object has tried it before
SLEEPS = "nanosleep", "clock_nanosleep", "waitpid"  # on a busy machine others can take as long without a wait
CLOCKS = 0.001  # s: strace has a coarser clock
PREEMPTED = 0.010  # s: strace may lose the CPU between two readings of its clocks


def output(*arguments):
    run = subprocess.run([tool, *arguments, log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return run.stdout.decode().splitlines()


def of_day(time):
    hours, minutes, seconds = time.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)


class Wait:
    def __init__(self, call, took, since):
        self.call, self.took, self.since, self.until = call, took, since, None

    def __repr__(self):
        return f"{self.call} {self.took} s"


# The system calls after the object has read the command line, and before it looks at the mappings at the end.
counts, waits, is_own, is_over = Counter(), [], True, False
began = ended = 0.0  # of the last call
for line in open(strace, errors="replace"):
    match = re.match(r"(\d+) +([\d:.]+) (?:<\.\.\. )?((\w+)[( ].*)", line)
    if not match or match[1] != pid:
        continue
    text, name = match[3], OTHERS.get(match[4], match[4])
    if "resumed>" not in text:
        began = of_day(match[2])
        if waits and waits[-1].until is None:
            waits[-1].until = began
    took = re.search(r"<([\d.]+)>$", text)
    ended, before = (began + float(took[1]) if took else ended), ended
    if is_over:
        continue
    is_over = not is_own and "/proc/self/maps" in text
    if is_own and "/proc/self/cmdline" in text:
        is_own = None
    if is_own is None and name == "close" and "<unfinished" not in text:
        is_own = False
        continue
    if is_own is not False or is_over:
        continue
    counts[name] += "resumed>" not in text
    if took and call_of.get(name) in SLEEPS and "WNOHANG" not in text and float(took[1]) >= LONG:
        waits.append(Wait(call_of[name], float(took[1]), before))

events = [json.loads(line) for line in output("print", "--format", "jsonl", "--columns", "thread,event,data")]
recorded = Counter(event["event"] for event in events if event["thread"].split()[-1] == pid and
                   (event["event"] in TRIED or "begins" not in json.dumps(event)))
failed = False
for name, call in call_of.items():
    if counts[name] != recorded[call]:
        print(f"{log}: strace saw {counts[name]} {name}, the log has {recorded[call]} {call}")
        failed = True
if sum(counts[name] for name in call_of) == 0:
    print(f"{log}: strace saw none of these calls")
    failed = True

found = [(row["call"], float(row["duration_s"])) for row in csv.DictReader(output("waits", "--format", "csv"))
         if row["thread"].split()[-1] == pid and row["call"] in SLEEPS and row["call"] in call_of.values()]
# strace stops the program within each wait, so the log may have others as long as these.
found = [wait for wait in found if wait[1] >= LONG]
if [wait.call for wait in waits] != [call for call, _ in found]:
    print(f"{log}: strace saw the waits {waits}, the log has {found}")
    failed = True
for wait, (call, length) in zip(waits, found):
    if length < wait.took - CLOCKS or (wait.until and length > wait.until - wait.since + PREEMPTED):
        print(f"{log}: {wait}, at most {wait.until} - {wait.since}; in the log {call} takes {length} s")
        failed = True
sys.exit(failed)
