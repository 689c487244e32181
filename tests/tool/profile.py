#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes which thread runs when, with all events in memory; for a ThreadX trace buffer, from the bytes of the file.

It knows nothing of the tool and of the library; the rules are those of doc/reports.md.

    profile.py check FILE JSON   what txtrace report --format json says of FILE is compared with what comes out here
    profile.py log EVENTS JSON   the same for a log, whose events txtrace print --format json has listed
    profile.py make SEED FILE    write a buffer of events that are as odd as the rules can take
"""
import json
import random
import struct
import sys

INTERRUPT, INITIALIZE = 0xFFFFFFFF, 0xF0F0F0F0
BESIDE_THREADS = "ffffffff", "f0f0f0f0"  # which may be on several CPUs at a time
RESUME, SUSPEND, ENTER, EXIT, SLICE, RUNNING, GET, PUT, CREATE, RELINQUISH = 1, 2, 3, 4, 5, 6, 52, 57, 100, 109


def read(path):
    """The oldest event first: [context, priority word, id, ticks, info..., core]; and the handles of threads."""
    data = open(path, "rb").read()
    order = ">" if data[:4] == b"TXTB" else "<"
    words = struct.unpack(order + "12I", data[:48])
    mask, start, end, first, last, current = words[1], words[3], words[5], words[6], words[7], words[8]
    size = 16 + (struct.unpack(order + "H", data[18:20])[0])
    threads = []
    for i in range((end - start) // size):
        entry = data[48 + i * size:][:size]
        if entry[1] == 1:
            threads.append(struct.unpack(order + "I", entry[4:8])[0])
    at = 48 + (end - start) // size * size
    events, oldest, ups, downs = [], 0, 0, 0
    for i in range((last - first) // 32):
        event = list(struct.unpack(order + "8I", data[at + 32 * i:][:32]))
        if event[0] == 0:
            break
        event.append(event[2] >> 24)
        event[2] &= 0xFFFF
        event[3] &= mask
        if first + 32 * i == current:
            oldest = i
        if i - oldest > 1:
            ups += event[3] > events[-1][3]
            downs += event[3] < events[-1][3]
        events.append(event)
    events = events[oldest:] + events[:oldest]
    ticks, stamp = 0, events[0][3]
    for event in events:
        step = event[3] - stamp if ups > downs else stamp - event[3]
        stamp = event[3]
        ticks += step if step >= 0 else step + mask + 1
        event[3] = ticks
    return events, threads


def is_thread(context):
    return context not in (INTERRUPT, INITIALIZE)


def next_contexts(events):
    following, current, nesting = [], 0, 0
    for i, (context, word, ident, _, *info) in enumerate(events):
        behind = events[i + 1:i + 2]
        if context == INTERRUPT and word not in (0, INTERRUPT) and i > 1 and events[i - 1][0] != INTERRUPT:
            following[-1] = current = word
        if is_thread(context):
            nesting = 0
            threads = (e for e in events[i + 1:] if is_thread(e[0]))
            after = context
            if ident == SUSPEND:
                after = info[3]
                if behind and context == info[0] == behind[0][0]:
                    after = context
            elif ident == RESUME:
                if info[3]:
                    after = info[3]
                elif next(threads, [None])[0] == info[0]:
                    after = info[0]
            elif ident == RELINQUISH:
                runner = next(threads, [context])[0]
                after = info[1] or runner
                for event in [] if info[1] else events[i + 1:]:
                    if is_thread(event[0]):
                        break
                    if event[2] in (RESUME, SUSPEND) and event[4] == runner:
                        after = context
            elif behind and is_thread(behind[0][0]):
                after = behind[0][0]
            current = after
        else:
            after = context
            if ident == ENTER:
                nesting += 1
            elif ident == SUSPEND:
                current = info[3]
            elif ident == SLICE:
                current = info[0]
            elif ident == RESUME and info[3]:
                current = info[3]
            elif ident == RESUME:
                candidates = (current, info[0])
                current = next((e[0] for e in events[i + 1:] if is_thread(e[0]) and e[0] in candidates), current)
            elif ident == EXIT and nesting:
                nesting -= 1
            if nesting == 0:
                if not behind:
                    after = current
                elif behind[0][0] == INTERRUPT and behind[0][2] != RESUME:
                    after = behind[0][1] or current
                else:
                    after = behind[0][0]
        following.append(after)
    return following


def priority_around(events, i, context):
    """Of a Running event of this thread that is made behind event i: backwards from there, then forwards."""
    for event in events[:i][::-1] + events[i:]:
        if event[0] == context and event[2] != RUNNING:
            return event[1] & 0x3FF
        if event[2] == CREATE and event[4] == context:
            return event[5]
    return 0


def with_running(events, following, wants_priorities):
    """(event, the thread that runs next), with the Running events that are made."""
    all_events = []
    for i, event in enumerate(events):
        all_events.append((event, following[i]))
        if i + 1 == len(events) or following[i] in (event[0], events[i + 1][0]):
            continue
        context = following[i]
        made = [context, 0, RUNNING, event[3] + (12 if events[i + 1][3] - event[3] > 12 else 0), 0, 0, 0, 0]
        if wants_priorities and context and is_thread(context):
            made[1] = priority_around(events, i, context)
        all_events.append((made, context))
    return all_events


def profile(all_events):
    times = {}
    for (event, after), (behind, _) in zip(all_events, all_events[1:]):
        times[after] = times.get(after, 0) + behind[3] - event[3]
    return times


def statistics(all_events):
    counts = {"Context Switches": 0, "Thread Preemptions": 0, "Interrupts": 0, "Nested Interrupts": 0}
    running = 0
    for event, after in all_events:
        if running == 0 and is_thread(event[0]):
            running = event[0]
        counts["Context Switches"] += running != 0 and is_thread(after) and after != running
        if after and is_thread(after):
            running = after
    before = 0
    for i, (event, after) in enumerate(all_events):
        if event[2] == RESUME:
            after = 0
            for _, later in all_events[i + 1:]:
                after = later
                if later and is_thread(later):
                    break
        counts["Thread Preemptions"] += event[2] in (RESUME, SLICE) and after != before
        if after and is_thread(after):
            before = after
    nesting = 0
    for event, _ in all_events:
        if event[2] == ENTER:
            counts["Interrupts"] += 1
            counts["Nested Interrupts"] += nesting > 0
            nesting += 1
        elif event[2] == EXIT:
            nesting -= nesting > 0
        elif event[0] != INTERRUPT:
            nesting = 0
        elif nesting == 0:
            counts["Interrupts"] += 1
    for name, ident in ("Thread Suspensions", SUSPEND), ("Thread Resumptions", RESUME), ("Time Slices", SLICE):
        counts[name] = sum(event[2] == ident for event, _ in all_events)
    return counts


def inversions(all_events):
    """[(begin, length or None, is deterministic)]"""
    events = [event for event, _ in all_events if 0 < event[0] < INITIALIZE]
    priority, found, windows = {}, [], {}
    for event in events:
        priority.setdefault(event[0], event[1] & 0x3FF)
    for i, (context, word, ident, ticks, *info) in enumerate(events):
        word &= 0x3FF
        priority[context] = word
        if ident == GET and info[2] not in (0, context) and info[0] not in windows and \
                word < priority.get(info[2], -1):
            windows[info[0]] = (context, word, info[2], ticks)
            continue
        ended = []
        if ident == PUT and info[2] == 1 and info[0] in windows:
            ended = [(info[0], True)]
        else:
            ended = [(mutex, False) for mutex, (_, urgency, owner, _) in windows.items()
                     if context != owner and word > urgency]
        for mutex, is_deterministic in ended:
            blocked, _, _, begin = windows.pop(mutex)
            length = next((event[3] - begin for event in events[i:] if event[0] == blocked), None)
            found.append((begin, length, is_deterministic))
    return found + [(begin, None, True) for _, _, _, begin in windows.values()]


def seconds(ticks):
    return None if ticks is None else "%.9f" % (ticks / 1e6)


def stretches(events):
    """[(cpu, context, begin, end)]"""
    running, found, last = {}, [], {}

    def end(cpu, ns):
        if cpu in running:
            context, begin = running.pop(cpu)
            found.append((cpu, context, begin, ns))

    for event in events:
        context, cpu, ns = event["context"], event["cpu"], event["ns"]
        if context != "00000000":
            for other in [c for c, (whose, _) in running.items() if whose == context and c != cpu]:
                if context not in BESIDE_THREADS:
                    end(other, ns)
            end(cpu, ns)
            running[cpu] = context, ns
            last[cpu] = ns
        if event["event"] in ("posix_trace_stop", "posix_trace_overflow"):
            for other in list(running):
                end(other, max(ns, last[other]))
    for cpu in list(running):
        end(cpu, last[cpu])
    return found


def nanoseconds(rows, key):
    return {row[key]: round(row["time_s"] * 1e9) for row in rows if row["time_s"]}


def check(path, report_path):
    events, threads = read(path)
    following = next_contexts(events)
    all_events = with_running(events, following, any(event[2] == GET for event in events))
    report = json.load(open(report_path))

    expected = {context: ticks for context, ticks in profile(all_events).items() if ticks}
    reported = {int(row["context"], 16): row["ticks"] for row in report["execution_profile"] if row["ticks"]}
    assert reported == expected, ("profile", reported, expected)
    of_cpus = {}
    for cpu, _, begin, end in stretches([{"context": "%08x" % event[0], "cpu": event[8], "ns": event[3] * 1000,
                                          "event": ""} for event in events]):
        if end > begin:
            of_cpus[cpu] = of_cpus.get(cpu, 0) + end - begin
    assert nanoseconds(report["cpus"], "cpu") == of_cpus, (report["cpus"], of_cpus)
    assert set(threads) <= {int(row["context"], 16) for row in report["execution_profile"]}
    assert report["trace"][0]["ticks"] == all_events[-1][0][3]
    assert report["trace"][0]["made"] == len(all_events) - len(events)

    reported = {row["statistic"]: row["occurrences"] for row in report["performance_statistics"]}
    for name, count in statistics(all_events).items():
        assert reported[name] == count, (name, reported[name], count)
    found = inversions(all_events)
    assert reported["Priority Inversions"] == len(found), (reported, found)
    assert reported["Deterministic Inversions"] == sum(is_deterministic for _, _, is_deterministic in found)
    listed = sorted(("%.9f" % row["begin_s"], row["length_s"] is not None and "%.9f" % row["length_s"],
                     row["ran_meanwhile"] is None) for row in report["priority_inversions"])
    assert listed == sorted((seconds(begin), length is not None and seconds(length), is_deterministic)
                            for begin, length, is_deterministic in found), (listed, found)
    print(path, len(events), "events", len(all_events) - len(events), "made", len(found), "inversions")


def make(seed, path):
    """Threads that do what they like: no kernel would record this, but the rules say what comes of it."""
    random.seed(seed)
    threads = [0x1000 + 16 * i for i in range(random.randint(1, 5))]
    mutexes = [0x2000, 0x2010]
    registry = b"".join(
        struct.pack("<BBBBIII32s", 0, kind, 0, 0, handle, 0, 0, name.encode())
        for kind, handle, name in [(2, 0x10, "timer")] + [(1, t, "thread %x" % t) for t in threads] +
        [(5, m, "mutex %x" % m) for m in mutexes])
    nr_events = random.randint(3, 300)
    events, stamp = b"", random.randint(0, 0xFFFFFFFF)
    context = random.choice(threads)
    nr_cores = random.choice([1, 1, 2, 4])
    nr_idle = random.choice([0, 0, 3])  # interrupts before any thread has run
    for i in range(nr_events):
        kind = random.random() if i != 1 else random.uniform(0, 0.6)
        if kind < 0.35:
            context = random.choice(threads)
        elif kind < 0.5:
            context = random.choice([INTERRUPT, INTERRUPT, INTERRUPT, INITIALIZE])
        ident = random.choice([RESUME, RESUME, SUSPEND, ENTER, EXIT, SLICE, RUNNING, GET, GET, PUT, PUT, CREATE,
                               RELINQUISH, 63, 4096])
        info = [random.choice(threads + [0]) for _ in range(4)]
        if ident in (GET, PUT):
            info[0] = random.choice(mutexes)
        if ident == PUT:
            info[2] = random.randint(1, 2)
        if ident == CREATE:
            info[1] = random.randint(0, 9)
        if ident in (ENTER, EXIT):
            context = INTERRUPT
        word = 0x80000000 | random.randint(0, 9)
        if context == INTERRUPT:
            word = random.choice(threads + [0])
        elif context == INITIALIZE:
            word = 0
        if i < nr_idle:
            context, word, ident, info = INTERRUPT, 0, random.choice([RESUME, SLICE]), [0, 0, 0, 0]
        ident |= random.randrange(nr_cores) << 24  # as the SMP kernel does
        events += struct.pack("<8I", context, word, ident, stamp, *info)
        stamp = stamp + random.choice([0, 1, 5, 12, 13, 40, 1000]) & 0xFFFFFFFF
    # The first two steps have no vote; so that time rises in any case, it does so here.
    for _ in range(4):
        events += struct.pack("<8I", threads[0], 0x80000001, 63, stamp, 0, 0, 0, 0)
        stamp = stamp + 7 & 0xFFFFFFFF
    base = 0x10000
    first = base + 48 + len(registry)
    header = struct.pack("<4I2H7I", 0x54585442, 0xFFFFFFFF, base, base + 48, 0, 32, first, first,
                         first + len(events), first, 0xAAAAAAAA, 0xBBBBBBBB, 0xCCCCCCCC)
    with open(path, "wb") as file:
        file.write(header + registry + events)


def check_log(events_path, report_path):
    events = json.load(open(events_path))
    report = json.load(open(report_path))
    of_threads, of_cpus = {}, {}
    for cpu, context, begin, end in stretches(events):
        if end > begin:
            of_threads[context] = of_threads.get(context, 0) + end - begin
            of_cpus[cpu] = of_cpus.get(cpu, 0) + end - begin
    assert nanoseconds(report["execution_profile"], "context") == of_threads, (report, of_threads)
    assert nanoseconds(report["cpus"], "cpu") == of_cpus, (report, of_cpus)

    counts = {}
    for event in events:
        counts[event["event"]] = counts.get(event["event"], 0) + 1
    assert {row["service"]: row["count"] for row in report["popular_services"]} == counts
    assert report["losses"][0]["gaps"] == counts.get("posix_trace_overflow", 0)
    last, switches = {}, 0
    for event in events:
        if event["context"] != "00000000":
            switches += event["cpu"] in last and last[event["cpu"]] != event["context"]
            last[event["cpu"]] = event["context"]
    reported = {row["statistic"]: row["occurrences"] for row in report["performance_statistics"]}
    assert reported["Context Switches"] == switches
    last, migrations = {}, 0
    for event in events:
        if event["context"] != "00000000":
            migrations += last.get(event["context"], event["cpu"]) != event["cpu"]
            last[event["context"]] = event["cpu"]
    assert reported["Thread Migrations"] == migrations
    pids = {event["pid"] for event in events if event["context"] != "00000000"}
    assert {row["pid"] for row in report["processes"]} == pids
    for row in report["execution_profile"]:
        assert row["percent"] <= 100
    print(len(events), "events", len(of_cpus), "CPUs", migrations, "migrations", len(pids), "processes")


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "log":
        check_log(sys.argv[2], sys.argv[3])
    else:
        make(int(sys.argv[2]), sys.argv[3])
