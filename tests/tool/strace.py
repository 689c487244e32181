# SPDX-License-Identifier: MIT
"""Compare the calls of one process in a log with those that strace saw in the same run: strace.py TOOL LOG STRACE PID SYSCALL=CALL...

The counts must be equal.  Waits that took at least 10 ms in both must be the same ones, and take the same time."""
import csv
import json
import re
import subprocess
import sys
from collections import Counter

tool, log, strace, pid = sys.argv[1:5]
call_of = dict(pair.split("=") for pair in sys.argv[5:])
LONG = 0.010  # s
TRIED = "waitpid",  # if such a call has to wait, the object has tried it before
UNENDED = "vfork",  # only the beginning of such a call is recorded
TOLERANCE = 0.2, 0.003  # part and s: strace stops the program at the beginning and the end of each call


def output(*arguments):
    run = subprocess.run([tool, *arguments, log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return run.stdout.decode().splitlines()


# The system calls after the object has read the command line, and before it looks at the mappings at the end.
counts, waits, is_own, is_over = Counter(), [], True, False
for line in open(strace, errors="replace"):
    match = re.match(r"(\d+) +[\d:.]+ (?:<\.\.\. )?((\w+)[( ].*)", line)
    if not match or match[1] != pid or is_over:
        continue
    text, name = match[2], match[3]
    is_over = not is_own and "/proc/self/maps" in text
    if is_own and "/proc/self/cmdline" in text:
        is_own = None
    if is_own is None and name == "close" and "<unfinished" not in text:
        is_own = False
        continue
    if is_own is not False or is_over:
        continue
    counts[name] += "resumed>" not in text
    took = re.search(r"<([\d.]+)>$", text)
    if took and name in call_of and call_of[name] not in UNENDED and float(took[1]) >= LONG:
        waits.append((call_of[name], float(took[1])))

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
         if row["thread"].split()[-1] == pid and float(row["duration_s"]) >= LONG and row["call"] in call_of.values()]
if [call for call, _ in waits] != [call for call, _ in found]:
    print(f"{log}: strace saw the waits {waits}, the log has {found}")
    failed = True
for (call, took), (_, length) in zip(waits, found):
    if abs(took - length) > TOLERANCE[0] * took + TOLERANCE[1]:
        print(f"{log}: {call} took {took} s for strace, {length} s in the log")
        failed = True
sys.exit(failed)
