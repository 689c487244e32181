# SPDX-License-Identifier: MIT
"""A second opinion on waits and locks, of a board that knows nothing of the tool.

waits.py SEED TRACE >EXPECTED	threads get and put mutexes at random; writes what ThreadX would record of it, and
				prints what the tool must find, as JSON
waits.py check EXPECTED BLOCKED LOCKS	what the tool said of the trace is that
"""
import json
import random
import struct
import sys

NAME_SIZE, BASE, TICK_NS = 32, 0x10000, 1000
GET, PUT, SUSPEND, RESUME, WAITS_FOR_MUTEX = 52, 57, 2, 1, 13


class Board:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.threads = [0x1000 + 16 * i for i in range(self.random.randint(2, 9))]
        self.mutexes = [0x50 + i for i in range(self.random.randint(1, 5))]
        self.now, self.events = 0, []
        self.owner, self.since = {}, {}
        self.queue = {mutex: [] for mutex in self.mutexes}
        self.begin, self.waits = {}, {mutex: [] for mutex in self.mutexes}
        self.holds = {mutex: [] for mutex in self.mutexes}
        self.contended = dict.fromkeys(self.mutexes, 0)
        self.most = dict.fromkeys(self.mutexes, 0)
        self.unended = dict.fromkeys(self.mutexes, 0)

    def put_event(self, context, number, *words):
        self.now += self.random.randint(1, 200)
        words = list(words) + [0] * (4 - len(words))
        self.events.append(struct.pack("<8I", context, 0x80000000, number, self.now, *words))

    def take(self, thread, mutex):
        self.owner[mutex], self.since[mutex] = thread, self.now

    def get(self, thread, mutex):
        owner = self.owner.get(mutex, 0)
        self.put_event(thread, GET, mutex, 0xFFFFFFFF, owner, 1 if owner else 0)
        if owner == 0:
            self.take(thread, mutex)
            return
        self.put_event(thread, SUSPEND, thread, WAITS_FOR_MUTEX)
        self.queue[mutex].append(thread)
        self.begin[thread] = self.now
        self.most[mutex] = max(self.most[mutex], len(self.queue[mutex]))

    def put(self, thread, mutex):
        self.put_event(thread, PUT, mutex, thread, 1)
        self.holds[mutex].append(self.now - self.since[mutex])
        self.owner[mutex] = 0
        if not self.queue[mutex]:
            return
        other = self.queue[mutex].pop(0)
        self.put_event(thread, RESUME, other, WAITS_FOR_MUTEX, 0, thread)
        self.waits[mutex].append(self.now - self.begin.pop(other))
        self.contended[mutex] += 1
        self.take(other, mutex)

    def step(self):
        thread = self.random.choice([t for t in self.threads if t not in self.begin])
        held = [m for m in self.mutexes if self.owner.get(m, 0) == thread]
        # In the order of numbers, so that they never wait for each other for ever.
        free = [m for m in self.mutexes if not held or m > max(held)]
        if held and (not free or self.random.random() < 0.6):
            self.put(thread, self.random.choice(held))
        elif free:
            self.get(thread, self.random.choice(free))

    def end(self):
        for mutex in self.mutexes:
            if self.owner.get(mutex, 0):
                self.holds[mutex].append(self.now - self.since[mutex])
            for thread in self.queue[mutex]:
                self.waits[mutex].append(self.now - self.begin[thread])
                self.unended[mutex] += 1

    def write(self, path):
        registry = b"".join(
            struct.pack("<BBBBIII32s", 0, kind, 0x80 if kind == 1 else 0, 0, handle, 0, 0, b"%x" % handle)
            for kind, handles in ((1, self.threads), (5, self.mutexes)) for handle in handles)
        first, size = BASE + 48 + len(registry), 32 * len(self.events)
        head = struct.pack("<4sIIIHHIIIIIII", b"BTXT", 0xFFFFFFFF, BASE, BASE + 48, 0, NAME_SIZE, first, first,
                           first + size, first, 0xAAAAAAAA, 0xBBBBBBBB, 0xCCCCCCCC)
        with open(path, "wb") as file:
            file.write(head + registry + b"".join(self.events))


def percentile(values, percent):
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)] if values else 0


def expected(board):
    def lengths(values):
        return [sum(values), percentile(values, 50), percentile(values, 99), max(values, default=0)]

    return {
        "blocked": {"%x" % m: [len(board.waits[m]), board.unended[m], *lengths(board.waits[m])]
                    for m in board.mutexes if board.waits[m]},
        "locks": {"%x" % m: [len(board.holds[m]), board.contended[m] + board.unended[m], board.most[m],
                             *lengths(board.holds[m])]
                  for m in board.mutexes if board.holds[m]},
    }


def ticks(row, *keys):
    return [round(row[key] * 1e9 / TICK_NS) for key in keys]


def check(expected_path, blocked_path, locks_path):
    with open(expected_path) as file:
        wanted = json.load(file)
    with open(blocked_path) as file:
        blocked = {row["object"]: [row["waits"], row["unended"], *ticks(row, "total_s", "p50_s", "p99_s", "max_s")]
                   for row in json.load(file)["blocked"]}
    with open(locks_path) as file:
        tables = json.load(file)
    locks = {row["lock"]: [row["taken"], row["contended"], row["waiters"],
                           *ticks(row, "held_s", "p50_s", "p99_s", "max_s")] for row in tables["locks"]}
    assert blocked == wanted["blocked"], ("blocked", blocked, wanted["blocked"])
    assert locks == wanted["locks"], ("locks", locks, wanted["locks"])
    assert tables["lock_order"] == [], tables["lock_order"]


if sys.argv[1] == "check":
    check(*sys.argv[2:])
else:
    made = Board(int(sys.argv[1]))
    for _ in range(600):
        made.step()
    made.end()
    made.write(sys.argv[2])
    json.dump(expected(made), sys.stdout)
