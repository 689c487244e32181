# SPDX-License-Identifier: MIT
# switches.py TXTRACE ACCOUNT LOG: the states of each thread in the log sum to its wall time within 1 %, and its time
# with a CPU is its CPU time within 2 %; of many short threads, this holds for their sums. Also the rules of a single
# CPU: one thread at a time has it, and no thread records an event without one.  Exit 3 if only CPU times differ: the
# host of a virtual machine can take its CPU between the begin of a switch and its record.  The kernel counts the switch
# itself as time of the thread that gets the CPU, and a record comes after it; the account has what a switch costs.
import collections
import csv
import struct
import subprocess
import sys

tool, account, log = sys.argv[1:]
RUNNING, READY, BLOCKED, ENDED = 1, 2, 3, 4
IN, OUT, THREAD, GAP = 9, 10, 11, 12
SLACK_NS = 20000  # what a thread does before its first time and after its last one
SWITCH_NS = 3000
problems = []
off = []  # CPU times that differ


def complain(text):
    problems.append(text)


listed = subprocess.run([tool, "print", "--format", "csv", "--columns", "ns,type,cpu,pid,thread,context,hex", log],
                        check=True, capture_output=True, text=True).stdout
rows = list(csv.DictReader(listed.splitlines()))
states = collections.defaultdict(list)  # tid: (time, state, cpu)
on_cpu = {}
tid_of = {}
nr_outside = nr_inside = nr_lost = 0
last = 0
for row in rows:
    now, kind, data = int(row["ns"]), int(row["type"]), bytes.fromhex(row["hex"])
    if now < last:
        complain("time goes backwards at %d" % now)
    last = now
    if kind in (IN, OUT, THREAD):
        tid, pid, cpu, state = struct.unpack("iiII", data[:16])
        if int(row["context"], 16):
            tid_of[row["context"]] = tid
        if kind == IN:
            if on_cpu.get(cpu) not in (None, tid):
                complain("at %d CPU %d has %d and %d" % (now, cpu, on_cpu[cpu], tid))
            on_cpu[cpu] = tid
        elif kind == OUT and on_cpu.get(cpu) == tid:
            del on_cpu[cpu]
        states[tid].append((now, state))
    elif kind == GAP:
        nr_lost += struct.unpack("QII", data[:16])[0]
    elif kind >= 16 and row["context"] in tid_of and states[tid_of[row["context"]]]:
        if states[tid_of[row["context"]]][-1][1] in (READY, BLOCKED):
            nr_outside += 1
        else:
            nr_inside += 1
if nr_lost:
    print("SKIP: the kernel lost %d records" % nr_lost)
    sys.exit(77)
if nr_outside:
    complain("%d of %d events come from threads without a CPU" % (nr_outside, nr_outside + nr_inside))


def sums(tid, begin, end):
    of = collections.Counter()
    changes = states[tid] + [(end, ENDED)]
    for (at, state), (until, _) in zip(changes, changes[1:]):
        at, until = max(at, begin), min(until, end)
        if until > at:
            of[state] += until - at
    return of


with open(account) as lines:
    accounts = [line.split() for line in lines]
switch_ns = max([SWITCH_NS] + [2 * int(words[1]) for words in accounts if words[0] == "switch"])


def differ(running, cpu, slack_ns, nr_runs):
    slack_ns += 0.02 * cpu
    return not -slack_ns - SWITCH_NS * nr_runs <= cpu - running <= slack_ns + switch_ns * nr_runs


sum_cpu = sum_running = 0
nr = 0
for words in accounts:
    if words[0] != "thread":
        continue
    tid, begin, end, cpu = map(int, words[1:])
    of = sums(tid, begin, end)
    wall = end - begin
    known = of[RUNNING] + of[READY] + of[BLOCKED]
    sum_cpu += cpu
    sum_running += of[RUNNING]
    nr += 1
    if abs(known - wall) > 0.01 * wall + 2000:
        complain("thread %d: states sum to %d of %d ns" % (tid, known, wall))
    nr_runs = sum(state == RUNNING for _, state in states[tid])
    if wall > 10000000 and cpu > 1000000 and differ(of[RUNNING], cpu, SLACK_NS, nr_runs):
        off.append("thread %d: ran for %d ns, its CPU time is %d ns" % (tid, of[RUNNING], cpu))
if nr == 0:
    complain("no thread has an account")
nr_in = sum(state == RUNNING for of in states.values() for _, state in of)
if differ(sum_running, sum_cpu, 2 * SLACK_NS, nr_in):
    off.append("all threads ran for %d ns, their CPU time is %d ns" % (sum_running, sum_cpu))
print("%d threads, %d records, %d events: %.3f %% of the CPU time" %
      (nr, sum(len(of) for of in states.values()), nr_inside, 100.0 * sum_running / max(sum_cpu, 1)))
for text in (problems + off)[:10]:
    print(text)
sys.exit(1 if problems else 3 if off else 0)
