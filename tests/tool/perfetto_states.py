# SPDX-License-Identifier: MIT
"""
perfetto_states.py TXTRACE PERFETTO_CHECK LOG PERFETTO_FILE: what Perfetto makes of the events of thread states in an
exported log, by the rules of its importer: the events are sorted by time, and those of one time stay in their order; a
state lasts until the next one of the thread; a second "running" of a run, and a state after the death, are refused; a
run ends on its CPU when another thread runs there or when its thread has another state with this CPU.  The states and
the runs on each CPU are those that txtrace states shows.
"""
import collections
import csv
import subprocess
import sys

STATES = {"running": "running", "ready": "runnable", "blocked": "sleeps"}


def main(tool, checker, log, path):
    out = subprocess.run([checker, path], check=True, stdout=subprocess.PIPE).stdout.decode()
    events = [line.split(" ")[1:5] for line in out.splitlines() if line.startswith("state ")]
    events = sorted(((int(time), int(tid), state, int(cpu)) for time, tid, state, cpu in events),
                    key=lambda one: one[0])
    faults = []
    states, runs, opened, on_cpu = collections.Counter(), collections.Counter(), {}, {}

    def end_run(cpu, time):
        tid, begin = on_cpu.pop(cpu)
        runs[tid, cpu, begin, time] += 1

    for time, tid, state, cpu in events:
        if tid in opened:
            begin, before = opened.pop(tid)
            if (before == "running" and state == "running") or (before == "dead" and state != "destroyed"):
                faults.append(f"refused: {state} after {before} of {tid} at {time}")
            if time > begin and before in STATES.values():
                states[tid, before, begin, time] += 1
        if state == "running":
            if cpu in on_cpu:
                end_run(cpu, time)
            on_cpu[cpu] = tid, time
        elif cpu in on_cpu and on_cpu[cpu][0] == tid:
            end_run(cpu, time)
        if state != "destroyed":
            opened[tid] = time, state
    out = subprocess.run([tool, "states", "--format", "csv", log], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout.decode()
    rows = list(csv.DictReader(out.splitlines()))
    first = min(time for time, *_ in events) - min(ns(row["start_s"]) for row in rows)
    expected, ran, end = collections.Counter(), collections.Counter(), 0
    for row in rows:
        begin = first + ns(row["start_s"])
        until = begin + ns(row["duration_s"])
        end = max(end, until)
        if row["state"] not in STATES:
            faults.append(f"{row['thread']} has the state {row['state']}")
            continue
        expected[int(row["tid"]), STATES[row["state"]], begin, until] += 1
        if row["state"] == "running":
            ran[int(row["tid"]), int(row["cpu"]), begin, until] += 1
    for tid, (begin, state) in opened.items():  # Perfetto ends them where the trace ends
        if state in STATES.values():
            states[tid, state, begin, end] += 1
    for cpu in list(on_cpu):
        end_run(cpu, end)
    faults += [f"only in Perfetto: {key}" for key in merged(states) - merged(expected)]
    faults += [f"only in states: {key}" for key in merged(expected) - merged(states)]
    faults += [f"run only in Perfetto: {key}" for key in runs - ran]
    faults += [f"run only in states: {key}" for key in ran - runs]
    if sum(ran.values()) < 5:
        faults.append("the log has hardly any run, so this is no test")
    print("\n".join(faults[:20]) if faults else f"{len(events)} events, {sum(runs.values())} runs")
    return 1 if faults else 0


def merged(periods):
    """Periods of one state that follow each other are one period in Perfetto."""
    result, last = collections.Counter(), {}
    for tid, state, begin, end in sorted(periods, key=lambda one: (one[0], one[2])):
        if tid in last and last[tid][0] == state and last[tid][2] == begin:
            last[tid] = state, last[tid][1], end
            continue
        if tid in last:
            result[(tid, *last[tid])] += 1
        last[tid] = state, begin, end
    for tid, one in last.items():
        result[(tid, *one)] += 1
    return result


def ns(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 10 ** 9 + int(fraction.ljust(9, "0"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
