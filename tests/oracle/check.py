# SPDX-License-Identifier: MIT
"""Compares the account that a program kept of itself (oracle.h) with what txtrace shows of its trace.

check.py TOOL ACCOUNT LOG

No length of time decides.  The account has the time before and after each call, so what the log has of the call must
lie between the two, by one and the same offset of the two clocks.  If the account knows that a thread slept in a call from
one time to another, the wait in the log must contain this period.  The clock of the log is a line through samples of
CLOCK_MONOTONIC: TOLERANCE_NS is what it may be off.
"""
import collections
import json
import re
import subprocess
import sys

TOLERANCE_NS = 3000
TAKES = {"pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"}
GIVES = {"pthread_mutex_unlock", "pthread_rwlock_unlock"}
tool, account_path, log = sys.argv[1:]
failed = 0

Call = collections.namedtuple("Call", "pid tid service object begin end asleep awake")


def complain(text):
    global failed
    failed += 1
    print("FAIL:", text)


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True, encoding="utf-8").stdout


class Account:
    def __init__(self, path):
        self.calls, self.objects, self.names, self.says, self.longest = [], {}, {}, [], {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                kind, rest = line.rstrip("\n").split(" ", 1)
                if kind == "thread":
                    pid, tid, name = rest.split()
                    self.names[int(tid)] = name
                elif kind == "object":
                    address, name = rest.split()
                    self.objects[int(address, 16)] = name
                elif kind == "longest":
                    address, ns = rest.split()
                    self.longest[int(address, 16)] = int(ns)
                elif kind == "call":
                    tid, service, address, *times = rest.split()
                    self.calls.append(Call(int(pid), int(tid), service, int(address, 16), *map(int, times)))
                else:
                    self.says.append((kind == "says", *rest.split("\t")))


class Shown:
    """The calls in the log: for each thread and function, their (begin, end, object, has waited)."""

    def __init__(self):
        self.calls = collections.defaultdict(list)
        self.first_ns, self.last_ns, self.is_whole = None, 0, "lost: dropped           0" in run("info", log)
        for line in run("print", "--format", "jsonl", log).splitlines():
            event = json.loads(line)
            self.first_ns = self.first_ns or event["ns"]
            self.last_ns = event["ns"]
            if isinstance(event["data"], dict):
                self.add(event)

    def add(self, event):
        data, key = event["data"], (self.tid(event["thread"]), event["event"])
        wait, address = data.get("wait"), 0
        found = re.match(r"0x([0-9a-f]+)$", str(next(iter(data.values()), "")))
        if found:
            address = int(found[1], 16)
        if wait == "ends" and self.calls[key] and self.calls[key][-1][1] is None:
            begin, _, address, _ = self.calls[key].pop()
            self.calls[key].append((begin, event["ns"], address, True))
        elif wait == "ends" and self.is_whole:
            complain(f"{key}: a wait ends that has not begun, at {event['time']}")
        else:
            self.calls[key].append((event["ns"], None if wait == "begins" else event["ns"], address, wait == "begins"))

    @staticmethod
    def tid(thread):
        found = re.search(r" (\d+)$", thread)
        return int(found[1]) if found else 0


def check_calls(account, shown):
    """The log has each call once, in its order, and within its times.  Return the pairs."""
    low, high, pairs = -float("inf"), float("inf"), []
    accounted = collections.defaultdict(list)
    for call in account.calls:
        accounted[call.tid, call.service].append(call)
    conditions = {call.tid for call in account.calls if call.service == "pthread_cond_wait"}
    for (tid, service), calls in accounted.items():
        logged = shown.calls[tid, service]
        objects = {call.object for call in calls}
        if objects != {0}:
            logged = [one for one in logged if one[2] in objects]
        if tid in conditions and service.startswith("pthread_mutex_"):
            continue  # a wait at a condition locks and unlocks the mutex, too
        if len(calls) != len(logged):
            complain(f"{account.names[tid]} called {service} {len(calls)} times, the log has {len(logged)}")
            continue
        for call, (begin, end, address, has_waited) in zip(calls, logged):
            pairs.append((call, begin, end, has_waited))
            if call.object and call.object != address:
                complain(f"{service} of {account.names[tid]} has another object: {address:x}, not {call.object:x}")
            low = max(low, (end or begin) - call.end if call.end else low, (begin - call.awake) if call.awake else low)
            high = min(high, begin - call.begin)
            if (end is None) != (call.end == 0):
                complain(f"{service} of {account.names[tid]} ends in one of log and account only")
            if call.asleep and not has_waited:
                complain(f"{account.names[tid]} slept in {service}, and the log shows no wait")
    if low - high > TOLERANCE_NS:
        complain(f"no offset of the clocks fits all calls: the times are off by {low - high} ns")
    return pairs, (low + high) / 2


def check_sleeps(account, pairs, offset, last_ns):
    """A wait in the log contains the time in which the thread certainly slept."""
    for call, begin, end, has_waited in pairs:
        if not call.asleep or not has_waited:
            continue
        until = call.awake + offset if call.awake else call.asleep + offset
        if begin > call.asleep + offset + TOLERANCE_NS or (end or last_ns) < until - TOLERANCE_NS:
            complain(f"{account.names[call.tid]} slept in {call.service} longer than the log says")


def rows_of(command, *options):
    return next(iter(json.loads(run(*command.split(), "--format", "json", *options, log)).values()))


def ns_of(seconds):
    return round(seconds * 1e9)


def is_object(shown, name, address):
    """
    The program may end before the recorder finds the name of an object: then the log has its address.  An object in
    shared memory has the name of its place there.
    """
    return (shown == name or re.fullmatch(rf".*\b(0x)?0*{address:x}", shown) is not None or
            re.search(r" in [0-9a-f]+:[0-9a-f]+:\d+\+0x", shown) is not None)


def check_blocked(account, pairs, last_ns):
    """The waits of each thread for each object, exactly as the log has them."""
    waits = collections.defaultdict(list)
    for call, begin, end, has_waited in pairs:
        if has_waited:
            waits[call.tid, call.object or call.service].append((end or last_ns) - begin)
    rows = rows_of("blocked --by thread")
    for (tid, what), lengths in waits.items():
        name = account.objects.get(what, what)
        if isinstance(name, int):
            continue
        found = [row for row in rows if Shown.tid(row["thread"]) == tid and
                 (is_object(row["object"], name, what) if isinstance(what, int) else row["object"] == name)]
        if len(found) != 1:
            complain(f"blocked has {len(found)} rows for {account.names[tid]} and {name}")
            continue
        row = found[0]
        told = (row["waits"], ns_of(row["total_s"]), ns_of(row["max_s"]))
        if told != (len(lengths), sum(lengths), max(lengths)):
            complain(f"blocked says {told} of {account.names[tid]} and {name}, not "
                     f"{(len(lengths), sum(lengths), max(lengths))}")


def check_locks(account):
    """How often a lock was taken, and for how long it was held at least and at most."""
    taken, least, most = collections.Counter(), collections.Counter(), collections.Counter()
    conditions = {call.tid for call in account.calls if call.service == "pthread_cond_wait"}
    unclear = {call.object for call in account.calls if call.tid in conditions}
    holds = {}
    for call in account.calls:
        if call.service in TAKES and call.end:
            taken[call.object] += 1
            holds[call.tid, call.object] = call
        elif call.service in GIVES:
            took = holds.pop((call.tid, call.object))
            least[call.object] += call.begin - took.end
            most[call.object] += call.end - took.begin
    open_holds = {address for _, address in holds}
    rows = rows_of("locks")
    for address, count in taken.items():
        found = [row for row in rows if is_object(row["lock"], account.objects.get(address), address)]
        if address in unclear or address not in account.objects:
            continue
        if len(found) != 1:
            complain(f"locks has {len(found)} rows for {account.objects[address]}")
        elif found[0]["taken"] != count:
            complain(f"{account.objects[address]} was taken {count} times, locks says {found[0]['taken']}")
        elif address not in open_holds and not (
                least[address] - TOLERANCE_NS * count <= ns_of(found[0]["held_s"])
                <= most[address] + TOLERANCE_NS * count):
            complain(f"{account.objects[address]} was held {least[address]} to {most[address]} ns, locks says "
                     f"{found[0]['held_s']} s")


def check_longest(account):
    """Nothing is longer than the program knows of, also where events were lost."""
    for command, key in (("locks", "lock"), ("blocked", "object")):
        for row in rows_of(command):
            for address, longest in account.longest.items():
                if is_object(row[key], account.objects[address], address) and \
                        ns_of(row["max_s"]) > longest + TOLERANCE_NS:
                    complain(f"{command} says {row['max_s']} s of {row[key]}, longer than {longest} ns")


def check_why(account):
    """Without a time, why tells what cost a thread most; and the sum of it."""
    sums = collections.defaultdict(collections.Counter)
    for row in rows_of("blocked --by thread"):
        sums[Shown.tid(row["thread"])][row["object"]] += ns_of(row["total_s"])
    for tid, name in account.names.items():
        if tid not in sums or any(call.tid == tid and not call.end for call in account.calls):
            continue
        (what, most), *_ = sums[tid].most_common(1)
        first = run("why", log, str(tid)).splitlines()[0]
        if what not in first or duration(most) not in first:
            complain(f"{name} waited {duration(most)} for {what}, why says: {first}")


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size * 0.99995:
            return f"{ns / size:.1f} {unit}"
    return f"{ns} ns"


def question(account, word, offset, first_ns):
    """NAME@OBJECT: the time is in the middle of the last certain sleep of the thread in a call with the object."""
    name, _, what = word.partition("@")
    tids = [tid for tid, known in account.names.items() if known == name]
    for call in reversed(account.calls):
        if what and call.tid in tids and call.awake and account.objects.get(call.object) == what:
            return f"{call.tid}@{((call.asleep + call.awake) / 2 + offset - first_ns) / 1e9:.9f}s"
    return str(tids[0]) if len(tids) == 1 else name


def check_says(account, offset, first_ns):
    for is_said, command, expression in account.says:
        name, *words = command.split()
        thread = [question(account, words.pop(), offset, first_ns)] if name == "why" and words else []
        said = run(name, *words, log, *thread).replace("\r", "")
        if (re.search(expression, said, re.M) is not None) != is_said:
            complain(f"txtrace {command} {'does not say' if is_said else 'says'} {expression}:\n{said}")


def main():
    account, shown = Account(account_path), Shown()
    pairs, offset = check_calls(account, shown)
    if pairs:
        check_sleeps(account, pairs, offset, shown.last_ns)
        check_blocked(account, pairs, shown.last_ns)
        check_locks(account)
        check_why(account)
    check_longest(account)
    check_says(account, offset, shown.first_ns)
    sys.exit(failed > 0)


main()
