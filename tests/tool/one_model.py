# SPDX-License-Identifier: MIT
"""Compares what the commands and the exports of txtrace show of the waits and holds in one log.

one_model.py DIRECTORY	with blocked, locks (JSON), chrome, html, perfetto (printed by perfetto_check; may be missing),
			why-NAME for the longest wait of each thread that waited, and why-table for the rwlock,
			jsonl, ctf (printed by babeltrace2; may be missing), and trx-blocked and trx-locks: blocked and
			locks of the trace buffer for TraceX

Prints each difference; exits with 1 if there is one.
"""
import collections
import decimal
import json
import os
import re
import sys

import page_data

differences = 0


def same(what, one, other):
    global differences
    if one != other:
        differences += 1
        print(f"{what}: {one} and {other}")


def text_of(name):
    """The program may end before the recorder finds the name of an object: then the log has its address."""
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(sys.argv[1], "addresses"), encoding="utf-8") as file:
        for line in file:
            known, address = line.split()
            text = re.sub(rf"(wait(?:s|ing) for )?\b([a-z]+) {address}\b",
                          lambda found, known=known: f"{found[1]}{found[2]} {known}" if found[1] else known, text)
    return text


def read(name):
    return json.loads(text_of(name), parse_float=decimal.Decimal)


def ns(seconds):
    return int(seconds * 10**9)


class Shown:
    """What one export shows: (begin, end, thread) of each wait and each hold, by object."""

    def __init__(self):
        self.waits, self.holds = collections.defaultdict(list), collections.defaultdict(list)

    def add_wait(self, name, begin, end, thread):
        kinds = "barrier|condition|event flags|mutex|rwlock|semaphore|thread"
        found = re.fullmatch(rf"waits for (?:{kinds}) (.*)|.* \((\w+)\)", name)
        self.waits[found[1] or found[2] if found else name].append((begin, end, thread))

    def add_hold(self, track, begin, end, thread):
        self.holds[re.sub(r" \(\d+\)$", "", track.removeprefix("held: "))].append((begin, end, thread))

    def add(self, track, name, begin, end):
        if track.endswith(": states"):
            return
        if track.startswith("held: "):
            self.add_hold(track, begin, end, name)
        else:
            self.add_wait(name, begin, end, track)

    def sort(self):
        for spans in (*self.waits.values(), *self.holds.values()):
            spans.sort()
        return self


def read_chrome():
    trace = read("chrome")
    records, shown, opened = trace["traceEvents"], Shown(), collections.defaultdict(list)
    names = {(r["pid"], r["tid"]): r["args"]["name"] for r in records if r.get("name") == "thread_name"}
    for r in records:
        if r["ph"] == "B":
            opened[r["pid"], r["tid"]].append((r["name"], int(r["ts"] * 1000)))
        elif r["ph"] == "E":
            name, begin = opened[r["pid"], r["tid"]].pop()
            shown.add(names[r["pid"], r["tid"]], name, begin, int(r["ts"] * 1000))
    return shown.sort(), int(trace["otherData"]["first_event_ns"])


def read_perfetto(first_ns):
    shown, opened = Shown(), collections.defaultdict(list)
    for line in text_of("perfetto").splitlines():
        found = re.match(r"(begin|end) (\d+) \[([^\]]*)\] (.*?)(?: (?:holder|flow|flow_ends)=.*)?$", line)
        if found and found[1] == "begin":
            opened[found[3]].append((found[4], int(found[2]) - first_ns))
        elif found:
            name, begin = opened[found[3]].pop()
            shown.add(found[3], name, begin, int(found[2]) - first_ns)
    return shown.sort()


def read_html():
    page, shown = text_of("html"), Shown()
    facts = page_data.facts_of(page)
    objects = {row[0]: row[1] for row in facts["objects"]}
    for kind, context, begin, end, name in page_data.spans_of(page):
        if kind == page_data.WAIT:
            shown.add_wait(facts["names"][name], begin, end, objects[context])
        elif kind == page_data.LOCK:
            shown.add_hold(objects[context], begin, end, facts["names"][name])
    return shown.sort()


class Calls:
    """The waits of an export that shows calls, and not waits: each wait has two events of its thread."""

    def __init__(self, first_ns):
        self.shown, self.opened, self.first_ns = Shown(), {}, first_ns

    def add(self, thread, object_name, wait, at_ns):
        if wait == "begins":
            self.opened[thread] = object_name, at_ns - self.first_ns
        elif wait == "ends":
            name, begin = self.opened.pop(thread)
            self.shown.waits[name].append((begin, at_ns - self.first_ns, thread))


def read_jsonl():
    calls = Calls(0)
    for line in text_of("jsonl").splitlines():
        row = json.loads(line, parse_float=decimal.Decimal)
        data = row["data"]
        if isinstance(data, dict):
            calls.add(row["thread"], data.get("object") or data.get("thread"), data.get("wait"), ns(row["time"]))
    return calls.shown.sort()


def read_ctf(first_ns):
    calls = Calls(first_ns)
    for line in text_of("ctf").splitlines():
        found = re.match(r"\[(\d+)\.(\d+)\].*?, thread = \"([^\"]*)\".*?\}, \{ (.*) \}$", line)
        fields = dict(re.findall(r"(\w+) = \"?([^\",]*)\"?", found[4])) if found else {}
        names = [fields[key] for key in ("cond", "rwlock", "mutex", "sem", "barrier", "thread") if key in fields]
        if names:
            calls.add(found[3], names[0], fields.get("wait"), int(found[1]) * 10**9 + int(found[2]))
    return calls.shown.sort()


def same_in_ticks(what, found, wanted):
    """The times of a trace buffer are numbers of ticks.  A tick is longer than 1 ns if the trace is."""
    tick = read("trx-info")["tick_ns"]
    slack = 2 * found[0] * tick if tick > 1 else 0
    if found[0] == wanted[0] and all(abs(x - y) <= slack for x, y in zip(found[1:], wanted[1:])):
        return
    same(what, found, wanted)


def check_threadx(shown):
    """Objects of ThreadX have no readers, and a semaphore has no holder.  A thread does not wait for another one."""
    blocked = {row["object"]: row for row in read("trx-blocked")["blocked"]}
    locks = {row["lock"]: row for row in read("trx-locks")["locks"]}
    for name in ("table", "again", "permit", "news", "changed", "stage"):
        row, spans = blocked.get(name, {"waits": 0, "total_s": 0, "max_s": 0}), shown.waits[name]
        lengths = [end - begin for begin, end, _ in spans]
        same_in_ticks(f"waits for {name} in TraceX", (row["waits"], ns(row["total_s"]), ns(row["max_s"])),
                      (len(lengths), sum(lengths), max(lengths)))
        same(f"{name} is held by idle", row.get("holder") == "idle", False)
    for name in ("again", "lock"):
        row, spans = locks.get(name, {"taken": 0, "held_s": 0}), shown.holds[name]
        same_in_ticks(f"holds of {name} in TraceX", (row["taken"], ns(row["held_s"])),
                      (len(spans), sum(end - begin for begin, end, _ in spans)))


def check_tables(shown):
    blocked = {row["object"]: row for row in read("blocked")["blocked"]}
    locks = {row["lock"]: row for row in read("locks")["locks"]}
    same("objects of blocked and of the exports", sorted(blocked), sorted(shown.waits))
    same("objects of locks and of the exports", sorted(locks), sorted(shown.holds))
    for name in blocked.keys() & shown.waits.keys():
        row, spans = blocked[name], shown.waits[name]
        longest = max(spans, key=lambda span: span[1] - span[0])
        same(f"waits for {name}", row["waits"], len(spans))
        same(f"time of waits for {name}", ns(row["total_s"]), sum(end - begin for begin, end, _ in spans))
        same(f"longest wait for {name}", (ns(row["max_s"]), row["longest_waiter"]),
             (longest[1] - longest[0], longest[2]))
    for name in locks.keys() & shown.holds.keys():
        row, spans = locks[name], shown.holds[name]
        longest = max(spans, key=lambda span: span[1] - span[0])
        same(f"holds of {name}", row["taken"], len(spans))
        same(f"time of holds of {name}", ns(row["held_s"]), sum(end - begin for begin, end, _ in spans))
        same(f"longest hold of {name}", (ns(row["max_s"]), row["longest_holder"]),
             (longest[1] - longest[0], longest[2]))
    return blocked, locks


def check_program(blocked, locks, shown):
    """What tests/preload/scenarios/handover.c does."""
    kinds = {"table": "rwlock", "again": "mutex", "permit": "semaphore", "news": "semaphore", "changed": "condition",
             "stage": "barrier"}
    for name, kind in kinds.items():
        same(f"type of {name}", blocked.get(name, {}).get("type"), kind)
        same(f"{name} was waited for", name in shown.waits, True)
    same("locks", sorted(locks), ["again", "lock", "permit", "table"])
    same("turns", [locks[name]["taken"] for name in sorted(locks)], [2, 3, 2, 3])
    (one, other, last) = shown.holds["table"] if len(shown.holds["table"]) == 3 else ((0, 0, 0),) * 3
    same("two readers hold the rwlock at a time", other[0] < one[1], True)
    same("a writer follows them", last[0] >= max(one[1], other[1]), True)


def check_why(shown):
    for thread in {span[2] for spans in shown.waits.values() for span in spans}:
        # The object that cost the thread most in all, and the longest wait for it.
        own = {name: [span for span in spans if span[2] == thread] for name, spans in shown.waits.items()}
        name = max(own, key=lambda name: sum(end - begin for begin, end, _ in own[name]))
        begin, end, _ = max(own[name], key=lambda span: span[1] - span[0])
        found = re.search(r"waiting for (?:the end of )?(?:\w+ )?(\w+(?: \d+)?) \(\w+\), from ([\d.]+) s to ([\d.]+) s",
                          text_of(f"why-{thread}"))
        same(f"longest wait of {thread}", found and found.groups(),
             (name, f"{begin // 1000 / 10**6:.6f}", f"{end // 1000 / 10**6:.6f}"))
    # why does not name the holders of small shares: it counts them.
    holders = re.findall(r"table was held by (.*) for", text_of("why-table"))
    nr_others = sum(int(nr) for nr in re.findall(r"held in (\d+) turns? more", text_of("why-table")))
    begin, end, thread = shown.waits["table"][0] if shown.waits["table"] else (0, 0, "")
    expected = [hold[2] for hold in shown.holds["table"] if hold[0] < end and hold[1] > begin and hold[2] != thread]
    same("number of holders while a writer waited", len(holders) + nr_others, len(expected))
    same("holders while a writer waited", sorted(set(holders) | set(expected)), sorted(expected))


def main():
    chrome, first_ns = read_chrome()
    exports = {"html": read_html()}
    if os.path.exists(os.path.join(sys.argv[1], "perfetto")):
        exports["perfetto"] = read_perfetto(first_ns)
    for name, shown in exports.items():
        same(f"waits of chrome and {name}", chrome.waits, shown.waits)
        same(f"holds of chrome and {name}", chrome.holds, shown.holds)
    calls = {"jsonl": read_jsonl()}
    if os.path.exists(os.path.join(sys.argv[1], "ctf")):
        calls["ctf"] = read_ctf(first_ns)
    for name, shown in calls.items():
        same(f"waits of chrome and {name}", chrome.waits, shown.waits)
    check_threadx(chrome)
    blocked, locks = check_tables(chrome)
    check_program(blocked, locks, chrome)
    check_why(chrome)
    sys.exit(differences > 0)


main()
