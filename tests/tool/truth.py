# SPDX-License-Identifier: MIT
"""What truth.sh looks at: truth.py DIRECTORY

The directory has logs and trace buffers (*.trx).  NAME.account, if there is one, has what the recorded program counted
itself.  TXTRACE is the tool, PERFETTO_CHECK prints a trace of Perfetto.

Agreement: a number that two commands or exports tell is the same.
Round trip: what is exported and read again has the same times, threads, names and calls.

Prints each difference; exits with 1 if there is one.
"""
import collections
import concurrent.futures
import csv
import decimal
import glob
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import filters
import page_data

TOOL = os.environ["TXTRACE"]
PERFETTO_CHECK = os.environ.get("PERFETTO_CHECK", "")
SYSTEM = ("posix_trace_overflow", "posix_trace_resume")
ISR = ("TX_TRACE_ISR_ENTER", "TX_TRACE_ISR_EXIT")
INSERTED = ("TX_TRACE_THREAD_SUSPEND", "TX_TRACE_THREAD_RESUME")
THREADS = ("owner", "writer", "thread")  # fields with the number of a thread; viewers get its name
FILLER, MORE_DATA = "TX_TRACE_RUNNING", 65536 + 4096

def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:3])} exits with {done.returncode}: {done.stderr.decode()[:300]}")
    return done


def text_of(*arguments):
    return run(TOOL, *arguments).stdout.decode("utf-8", "replace")


def object_of(*arguments):
    return json.loads(text_of(*arguments), parse_float=decimal.Decimal)


def ns(seconds):
    return int(decimal.Decimal(seconds) * 10**9)


class Log:
    """One file, as print shows it."""

    def __init__(self, path, scratch):
        self.path, self.scratch = path, scratch
        self.name = os.path.basename(path).removesuffix(".trx")
        self.differences, self.nr_checks = [], 0
        columns = "number,ns,cpu,pid,thread,context,event,type,data,hex"
        self.events = [json.loads(line) for line in
                       text_of("print", "--format", "jsonl", "--columns", columns, path).splitlines()]
        self.info = object_of("info", "--format", "json", path)
        self.is_foreign = self.info["kind"] != "posixtrace log"
        self.first_ns = self.events[0]["ns"] if self.events else 0

    def same(self, what, one, other):
        self.nr_checks += 1
        if one != other:
            self.differences.append(f"{self.name}: {what}: {one!r:.400} and {other!r:.400}")

    def same_rows(self, what, ours, theirs):
        """Like same(), but show only the first rows that differ."""
        self.nr_checks += 1
        if len(ours) != len(theirs):
            self.differences.append(f"{self.name}: {what}: {len(ours)} and {len(theirs)}")
        for i, (one, other) in enumerate(zip(ours, theirs)):
            if one != other:
                self.differences.append(f"{self.name}: {what}: row {i} is {one!r:.300} and {other!r:.300}")
                return

    def calls(self):
        """The events that count: a call that waited counts once, at its first event."""
        return [e for e in self.events if not (isinstance(e["data"], dict) and e["data"].get("wait") == "ends")]

    def number_of_calls(self):
        """How often the program made each call.  An event of counted calls counts as that number of them."""
        numbers = collections.Counter()
        for event in self.calls():
            is_counted = event["event"] == "txtrace_calls"
            name = event["data"]["call"] if is_counted else event["event"]
            numbers[name] += event["data"]["calls"] if is_counted else 1
        return dict(numbers)

    def shown(self):
        """The events that viewers show as instants."""
        return [e for e in self.events if e["event"] not in SYSTEM + ISR]

    def path_of(self, suffix):
        return os.path.join(self.scratch, f"{self.name}.{suffix}")

    def lost(self):
        return sum(self.info.get(f"lost_{kind}", 0) for kind in ("overwritten", "dropped", "abandoned", "log"))

    # Agreement.

    def check_report(self):
        report = object_of("report", "--profile", "--services", "--cpus", "--processes", "--format", "json", self.path)
        trace, losses = report["trace"][0], report["losses"][0]
        times = [e["ns"] for e in self.events]
        self.same("events of print and report", len(self.events), trace["events"])
        self.same("events of print and info", len(self.events), self.info["events"])
        # A ThreadX buffer has whole ticks, which report counts.
        self.same("duration of print and report", max(times) - min(times), ns(trace["time_s"]))
        self.same("duration of print and info", max(times) - min(times), ns(str(self.info["duration_s"])))
        self.same("losses of info and report", self.lost(),
                  0 if self.is_foreign else
                  sum(losses[kind] for kind in ("overwritten", "dropped", "abandoned", "by_log")))
        if self.is_foreign:
            return
        self.same("gaps of info and print", self.info["gaps"], sum(e["event"] == SYSTEM[0] for e in self.events))
        self.same("gaps of info and report", self.info["gaps"], losses["gaps"])
        services = {row["service"]: row["count"] for row in report["popular_services"]}
        self.same("calls of print and report", self.number_of_calls(), services)
        share = sum(row["percent"] for row in report["popular_services"])
        self.same("shares of the services add up to 100", abs(share - 100) < len(services), True)
        threads = collections.Counter(e["thread"] for e in self.events if e["thread"] != "-")
        self.same("events of a thread in print and report", dict(threads),
                  {row["thread"]: row["events"] for row in report["execution_profile"]})
        self.same("events of CPUs in print and report",
                  dict(collections.Counter(e["cpu"] for e in self.events
                                           if e["thread"] != "-" and e["event"] not in SYSTEM)),
                  {row["cpu"]: row["events"] for row in report["cpus"]})

    def check_diff(self):
        diff = object_of("diff", "--format", "json", self.path, self.path)
        self.same("events of print and diff", [len(self.events)] * 2, diff["events"])
        self.same("losses of info and diff", [None if self.is_foreign else self.lost()] * 2, diff["lost"])
        times = [e["ns"] for e in self.events]
        self.same("duration of print and diff", [max(times) - min(times)] * 2, diff["duration_ns"])
        self.same("calls of print and diff", self.number_of_calls(),
                  {row["event"]: row["count"][0] for row in diff["types"]})
        self.same("events of threads in print and diff", len(self.events),
                  sum(row["count"][0] for row in diff["threads"]))

    def check_filters(self):
        """A filter takes the same events in all commands and exports.  html_page.py compares the search of the page."""
        found = {}
        for query in filters.FILTERS:
            columns = ("--columns", "number,ns,event,data", "-f", query)
            hits = [json.loads(line) for line in
                    text_of("print", "--format", "jsonl", *columns, self.path).splitlines()]
            self.same(f"hits of {query} in print and export --to jsonl",
                      text_of("export", "--to", "jsonl", *columns, "-o", "-", self.path),
                      text_of("print", "--format", "jsonl", *columns, self.path))
            report = object_of("report", "--services", "--format", "json", "-f", query, self.path)
            self.same(f"hits of {query} in print and report", len(hits), report["trace"][0]["events"])
            page = page_data.facts_of(text_of("export", "--to", "html", "-o", "-", "-f", query, self.path))
            self.same(f"hits of {query} in print and the page", len(hits), page["events"])
            records = object_of("export", "--to", "chrome", "-o", "-", "-f", query, self.path)["traceEvents"]
            names = {(r["pid"], r["tid"]): r["args"]["name"] for r in records if r.get("name") == "thread_name"}
            shown = [r["name"] for r in records if r["ph"] == "i" and
                     not names.get((r["pid"], r["tid"]), "").startswith(("held: ", "events lost"))]
            self.same(f"hits of {query} in print and chrome",
                      sorted(e["event"] for e in hits if e["event"] not in SYSTEM + ISR),
                      sorted(shown))
            found[query] = len(hits)
        self.same("many filters take some events, and not all",
                  5 < sum(0 < nr < len(self.events) for nr in found.values()), True)

    def check_tables(self):
        for to in ("csv", "jsonl"):
            exported = text_of("export", "--to", to, "--columns", "number,ns,thread,event,data", "-o", "-", self.path)
            printed = text_of("print", "--format", to, "--columns", "number,ns,thread,event,data", self.path)
            self.same(f"print and export --to {to}", printed, exported)
        rows = list(csv.DictReader(io.StringIO(printed_csv(self.path), newline="")))
        self.same_rows("rows as CSV and as JSON lines",
                       [(str(e["number"]), str(e["ns"])) for e in self.events], [(r["number"], r["ns"]) for r in rows])

    def check_account(self):
        path = self.path.removesuffix(".trx") + ".account"
        if not os.path.exists(path):
            return
        with open(path, encoding="ascii") as file:
            account = {name: int(count) for name, count in (line.split() for line in file)}
        counts = collections.Counter(e["event"] for e in self.calls())
        self.same("calls of the program and of the trace", account, {name: counts[name] for name in account})

    # Exports.  Each returns its waits and holds: (track or object, name, begin, end).

    def check_chrome(self):
        trace = object_of("export", "--to", "chrome", "-o", "-", self.path)
        records, first_ns = trace["traceEvents"], int(trace["otherData"]["first_event_ns"])
        names = {(r["pid"], r["tid"]): r["args"]["name"] for r in records if r.get("name") == "thread_name"}
        events, spans, opened = [], [], collections.defaultdict(list)
        for r in records:
            track, at = names.get((r["pid"], r["tid"]), ""), r["ph"] in "BEi" and int(r["ts"] * 1000)
            if r["ph"] == "i" and not track.startswith(("held: ", "events lost")):
                events.append((first_ns + at, r["name"]))
            elif r["ph"] == "B":
                opened[r["pid"], r["tid"]].append((r["name"], at))
            elif r["ph"] == "E":
                name, begin = opened[r["pid"], r["tid"]].pop()
                spans.append((track, name, begin, at))
        expected = sorted((e["ns"], e["event"]) for e in self.shown())
        self.same_rows("events of print and chrome", expected, sorted(events))
        return sorted(spans)

    def check_html(self):
        page = text_of("export", "--to", "html", "-o", "-", self.path)
        facts = page_data.facts_of(page)
        self.same("events of print and the page", len(self.events), facts["events"])
        self.same("losses of info and the page", self.lost(),
                  facts["overwritten"] + facts["dropped"] + facts["abandoned"] + facts["byLog"])
        names = {row[0]: row[1] for row in facts["objects"]}
        spans = []
        for kind, context, begin, end, name in page_data.spans_of(page):
            if kind == page_data.WAIT:
                spans.append((names.get(context), facts["names"][name], begin, end))
            elif kind == page_data.LOCK:
                spans.append((f"held: {names.get(context)}", facts["names"][name], begin, end))
        return sorted(spans, key=str)

    def check_perfetto(self):
        path = self.path_of("pf")
        run(TOOL, "export", "--to", "perfetto", "-o", path, self.path)
        events, spans, opened, tracks = [], [], collections.defaultdict(list), set()
        for line in run(PERFETTO_CHECK, path).stdout.decode().splitlines():
            found = re.match(r"(?:thread \d+ \d+|process \d+|track) (.*)$", line)
            if found:
                tracks.add(found[1])
            found = re.match(r"(begin|end|instant) (\d+) \[(.*)$", line)
            if not found:
                continue
            track = max((name for name in tracks if found[3].startswith(f"{name}] ")), key=len)
            kind, at, rest = found[1], int(found[2]), found[3][len(track) + 2:]
            if kind == "instant" and not track.startswith(("held: ", "events lost")):
                events.append((at, track, rest))
            elif kind == "begin":
                opened[track].append((re.sub(r" (?:holder|flow|flow_ends)=.*", "", rest), at))
            elif kind == "end":
                name, begin = opened[track].pop()
                spans.append((track, name, begin - self.first_ns, at - self.first_ns))
        expected = self.shown()
        by_time = collections.defaultdict(list)
        for at, track, rest in events:
            by_time[at].append((track, rest))
        wrong = [e for e in expected if not self.is_in(by_time[e["ns"]], e)]
        self.same("events of print and perfetto", (len(expected), wrong[:1]), (len(events), []))
        return sorted(spans)

    def is_in(self, shown, event):
        """An event is there with its thread, its name, and the fields of its call."""
        fields = event["data"] if isinstance(event["data"], dict) else {}
        texts = [f" {name}={value}" for name, value in fields.items()
                 if name != "object" and not str(value).startswith("0x")]
        if "object" in fields and texts:
            texts[0] = f"={fields['object']}"  # viewers get the name instead of the number of the first field
        for place, (track, rest) in enumerate(shown):
            names_thread = event["thread"] in (track, "-") or ascii_of(track) == ascii_of(event["thread"])
            if names_thread and rest.split(" ")[0] == event["event"].split(" ")[0] and \
                    all(text in rest or f" data.{text.strip()}" in rest or self.has_object(rest, text)
                        for text in texts):
                del shown[place]
                return True
        return False

    def has_object(self, rest, text):
        """Of a number that identifies an object, viewers get the name: owner=12 is owner=worker 12."""
        name, number = text.strip().split("=", 1)
        return re.search(rf" {name}=[^=]* {re.escape(number)}\b", rest) is not None

    def check_spans(self, exports):
        exports = {name: [span for span in spans if not (span[0] or "").endswith(": states")]
                   for name, spans in exports.items()}
        chrome = exports["chrome"]
        waits = {name: self.waits_and_holds(spans) for name, spans in exports.items()}
        for name in waits.keys() - {"chrome"}:
            self.same_rows(f"waits and holds of chrome and {name}", waits["chrome"], waits[name])
        blocked = object_of("blocked", "--format", "json", self.path)["blocked"]
        locks = object_of("locks", "--format", "json", self.path)["locks"]
        self.same("waits of blocked and chrome", sum(row["waits"] for row in blocked),
                  len([s for s in chrome if self.is_counted(s)]))
        if not any(row["unended"] for row in blocked):
            self.same("time of waits in blocked and chrome", sum(ns(row["total_s"]) for row in blocked),
                      sum(s[3] - s[2] for s in chrome if self.is_counted(s)))
        self.check_rows_of_waits(blocked)
        holds = collections.Counter(s[0].removeprefix("held: ") for s in chrome if s[0].startswith("held: "))
        mutexes = {row["lock"]: row["taken"] for row in locks if row["type"] == "mutex"}
        is_counted = any(e["event"] == "txtrace_calls" for e in self.events)
        if not self.info.get("gaps") and not self.is_foreign and not is_counted:
            self.same("holds of mutexes in locks and chrome", mutexes, {name: holds[name] for name in mutexes})

    def check_rows_of_waits(self, blocked):
        """The rows of waits add up to those of blocked."""
        sums = collections.defaultdict(lambda: [0, 0, 0])
        rows = object_of("waits", "--format", "json", self.path)["waits"]
        for row in rows:
            if row["end"] != "end missing":
                at = sums[row["object"], row["type"]]
                at[0] += 1
                at[1] += ns(row["duration_s"])
                at[2] += row["end"] == "lasts"
        expected = collections.defaultdict(lambda: [0, 0, 0])
        for row in blocked:
            at = expected[row["object"], row["type"]]
            at[0] += row["waits"]
            at[1] += ns(row["total_s"])
            at[2] += row["unended"]
        self.same("waits and blocked", dict(sums), dict(expected))
        longest = sorted((-ns(row["duration_s"]), row["number"]) for row in rows if row["duration_s"] is not None)[:3]
        top = object_of("waits", "--format", "json", "--sort", "duration", "--top", "3", self.path)["waits"]
        self.same("the longest waits", longest, [(-ns(row["duration_s"]), row["number"]) for row in top
                                                 if row["duration_s"] is not None])

    def waits_and_holds(self, spans):
        tracks = [(re.sub(r" \(\d+\)$", "", s[0] or ""), *s[1:]) for s in spans
                  if not s[1].startswith(("events lost", "ISR"))]
        return sorted((ascii_of(s[0]), ascii_of(s[1]), s[2], s[3]) for s in tracks
                      if s[0] and not s[0].startswith("CPU"))

    @staticmethod
    def is_counted(span):
        """blocked shows the waits for objects, and the sleep."""
        return not (span[0] or "").startswith(("held: ", "CPU")) and not span[1].startswith(("events lost", "ISR"))

    # Round trips.

    def check_ctf(self):
        path = self.path_of("ctf")
        run(TOOL, "export", "--to", "ctf", "-o", path, self.path)
        done = run("babeltrace2", "--clock-cycles", "--no-delta", path)
        found = []
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            match = re.match(r'\[0*(\d+)\] (.*?): \{ cpu_id = (\d+), vpid = (\d+), vtid = \d+, thread = "(.*?)", '
                             r'priority = -?\d+ \}, \{(.*)\}$', line)
            if match:
                found.append((int(match[1]), match[2], int(match[3]), int(match[4]), match[5], match[6]))
        expected = [e for e in self.events if e["event"] not in SYSTEM]
        self.same_rows("events of print and babeltrace2",
                       [(e["ns"], ascii_of(e["event"]), e["cpu"], e["pid"], ascii_of(e["thread"])) for e in expected],
                       [(f[0], ascii_of(unescaped(f[1])), f[2], f[3], ascii_of(unescaped(f[4]))) for f in found])
        self.same_rows("payloads of print and babeltrace2", [self.payload(e) for e in expected],
                       [self.found_payload(e, f[5]) for e, f in zip(expected, found)])
        # What a full log lost has an OVERFLOW with data, but for the oldest events of a log that loops.
        gaps = [e for e in self.events if e["event"] == SYSTEM[0]]
        has_lost = self.info.get("log_has_lost_events", False)
        loops = self.info.get("log_full_policy") == "loop" and self.info["log_was_full"]
        self.same("gaps of print and babeltrace2",
                  len(gaps) + (has_lost and (loops or not any(e["hex"] for e in gaps))),
                  done.stderr.decode().count("discarded"))

    @staticmethod
    def has_filters(event):
        return re.match(r"(filter|old)=", str(event["data"])) and event["type"] < 65536

    @staticmethod
    def is_of_kernel(event):
        return event["event"].startswith(("txtrace_sched", "txtrace_switch"))

    @staticmethod
    def payload(event):
        if Log.is_of_kernel(event):
            return re.findall(r"\b(tid|lost)=(\d+)", str(event["data"]))
        if Log.has_filters(event):
            return event["data"].removeprefix("filter=")
        if isinstance(event["data"], dict):
            return {name: value for name, value in event["data"].items()
                    if isinstance(value, int) and name not in THREADS}
        return event["hex"] if event["type"] < 65536 else None

    @staticmethod
    def found_payload(event, text):
        if Log.is_of_kernel(event):
            return re.findall(r"\b(tid|lost) = (\d+)", text)
        if Log.has_filters(event):
            return "".join(re.findall(r'^ filters? = "(.*)" $', text))
        if isinstance(event["data"], dict):
            numbers = dict(re.findall(r'(\w+) = "?(-?\d+)"?(?=[ ,])', text))
            return {name: int(numbers[name]) if name in numbers else None
                    for name, value in event["data"].items() if isinstance(value, int) and name not in THREADS}
        if event["type"] >= 65536:
            return None
        return "".join(f"{int(byte, 16):02x}" for byte in re.findall(r"\[\d+\] = 0x([0-9A-F]+)", text))

    def read_trx(self, path):
        """What the file has of the events of a log, without what export adds to it."""
        columns = "number,ns,cpu,thread,event,type,hex"
        events = [json.loads(line) for line in
                  text_of("print", "--format", "jsonl", "--columns", columns, path).splitlines()]
        if not self.is_foreign:
            return [e for e in events if e["event"] not in INSERTED and e["type"] != MORE_DATA
                    and (e["event"] != FILLER or e["hex"] != "0" * 32)]
        start = 3 if [e["event"] for e in events[:3]] == [FILLER] * 3 and events[2]["hex"] == "0" * 32 else 0
        if start and [e["event"] for e in self.events[:3]] == [FILLER] * 3:
            start = 0
        return [e for e in events[start:] if e["type"] != MORE_DATA]

    def check_trx(self):
        path = self.path_of("again.trx")
        run(TOOL, "export", "--to", "trx", "-o", path, self.path)
        expected = [e for e in self.events if e["type"] != MORE_DATA and
                    (self.is_foreign or not (is_thread_end(e) or is_sched(e)))]
        found = self.read_trx(path)
        self.compare_trx(expected, found, tick_of(path))
        if not self.is_foreign and not self.info["gaps"]:
            ours, theirs = (object_of("blocked", "--format", "json", p)["blocked"] for p in (self.path, path))
            self.same("waits in the log and in the trx",
                      *(sum(row["waits"] for row in rows) for rows in (ours, theirs)))

    def compare_trx(self, expected, found, tick):
        begin, again = (min((e["ns"] for e in rows), default=0) for rows in (expected, found))
        found.sort(key=lambda e: e["ns"])
        expected = sorted(expected, key=lambda e: e["ns"])
        self.same("number of events of print and trx", len(expected), len(found))
        self.same_rows("events of print and trx", [self.as_row(e, f) for e, f in zip(expected, found)],
                       [self.as_row(f, f) for f in found])
        self.same_times("trx", [e["ns"] - begin for e in expected], [f["ns"] - again for f in found], tick)

    def same_times(self, what, ours, theirs, tick):
        """A tick of 1 ns loses nothing.  After a long pause, the ticks are longer."""
        worst = max((abs(one - other) for one, other in zip(ours, theirs)), default=0)
        self.same(f"times of print and {what}, with ticks of {tick} ns", worst <= (tick if tick != 1 else 0), True)

    @staticmethod
    def as_row(event, found):
        """An event of ThreadX has its own name, but any other event keeps its name."""
        name = trx_name(event["event"]) if found["type"] > MORE_DATA else ""
        return event["cpu"], trx_name(event["thread"]).replace("nobody", "-"), name

    def check_inversions(self):
        """A log and the buffer made of it have the same priority inversions, and as many of each kind."""
        path = self.path_of("again.trx")
        rows = object_of("report", "--performance", "--format", "json", path)["performance_statistics"]
        counts = {row["statistic"]: row["occurrences"] for row in rows}
        ours, theirs = (object_of("report", "--inversions", "--format", "json", p)["priority_inversions"]
                        for p in (self.path, path))
        self.same("inversions of the log and of the trx",
                  *([(trx_name(row["thread"]), trx_name(row["mutex"]), row["ran_meanwhile"]) for row in rows]
                    for rows in (ours, theirs)))
        self.same("inversions in the reports of the trx", len(theirs), counts["Priority Inversions"])
        if self.name == "mixture":
            self.same("inversions of the program", [None] * 5, [row["ran_meanwhile"] for row in ours])

    def check_pseudo_threads(self):
        """In the image, events of no thread of the program are never less urgent than a thread."""
        for path in (self.path, self.path_of("again.trx")):
            with open(path, "rb") as file:
                image = file.read()
            words = struct.unpack_from("<12I", image)
            size = 16 + (words[4] >> 16)
            nr_objects = (words[5] - words[3]) // size
            pseudo = set()
            for at in range(48, 48 + nr_objects * size, size):
                name = image[at + 16:at + size].split(b"\0")[0]
                if image[at + 1] == 1 and name in (b"no thread", b"idle", b"nobody"):
                    pseudo.add(struct.unpack_from("<I", image, at + 4)[0])
            entries = struct.iter_unpack("<8I", image[48 + nr_objects * size:][:(words[7] - words[6]) // 32 * 32])
            priorities = {entry[1] for entry in entries if entry[0] in pseudo}
            self.same("priorities of the pseudo threads", priorities | {0x80000000}, {0x80000000})

    def check_merge(self, other):
        path = self.path_of("merged.trx")
        run(TOOL, "merge", "--to", "trx", "-o", path, self.path, other.path)
        expected = [e for log in (self, other) for e in log.events
                    if e["type"] != MORE_DATA and not is_thread_end(e) and not is_sched(e)]
        found = [e for e in self.read_trx(path)]
        begin, again = (min(e["ns"] for e in rows) for rows in (expected, found))
        self.same_times("merge", sorted(e["ns"] - begin for e in expected), sorted(e["ns"] - again for e in found),
                        tick_of(path))
        self.same("events of threads of print and merge",
                  collections.Counter((trx_name(e["thread"]).replace("nobody", "-"), e["cpu"]) for e in expected),
                  collections.Counter((e["thread"].replace("nobody", "-"), e["cpu"]) for e in found))

    def attempt(self, step, *arguments):
        try:
            return step(*arguments)
        except (RuntimeError, KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
            self.differences.append(f"{self.name}: {step.__name__}: {error!r:.400}")
            return []

    def check(self):
        for step in (self.check_report, self.check_diff, self.check_tables, self.check_account, self.check_trx):
            self.attempt(step)
        if not self.is_foreign and self.name != "version2":
            self.attempt(self.check_inversions)
            self.attempt(self.check_pseudo_threads)
        if self.name in ("mixture", "threadx"):
            self.attempt(self.check_filters)
        exports = {"chrome": self.attempt(self.check_chrome), "html": self.attempt(self.check_html)}
        if PERFETTO_CHECK:
            exports["perfetto"] = self.attempt(self.check_perfetto)
        self.attempt(self.check_spans, exports)
        if shutil.which("babeltrace2") and "|ctf|" in text_of("export", "--help"):
            self.attempt(self.check_ctf)


def tick_of(path):
    return float(object_of("info", "--format", "json", path)["tick_ns"])


def printed_csv(path):
    return text_of("print", "--format", "csv", "--columns", "number,ns", path)


def is_thread_end(event):
    """A SUSPEND in a trace buffer, as the inserted ones."""
    return event["event"] == "txtrace_thread_end"


def is_sched(event):
    """A trace buffer has entries of ThreadX instead, as the inserted ones."""
    return event["event"].startswith(("txtrace_switch_", "txtrace_sched_"))


def ascii_of(text):
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def unescaped(text):
    return re.sub(r'\\(["?])', r"\1", text)


def trx_name(name):
    """TraceX misreads some characters, so names in a trx do not have them."""
    return re.sub(r"\?+", "?", ascii_of(name.replace("(", "[").replace(")", "]").replace("_", "-")))


def check_file(path):
    with tempfile.TemporaryDirectory() as scratch:
        log = Log(path, scratch)
        log.check()
        return log.differences, log.nr_checks


def main():
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "*.trx")))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check_file, paths))
    with tempfile.TemporaryDirectory() as scratch:
        pair = [Log(os.path.join(sys.argv[1], f"{name}.trx"), scratch) for name in ("mixture", "plain")]
        pair[0].check_merge(pair[1])
    results.append((pair[0].differences, pair[0].nr_checks))
    for differences, _ in results:
        for difference in differences:
            print(difference)
    print(f"{len(paths)} files, {sum(nr for _, nr in results)} comparisons")
    sys.exit(any(differences for differences, _ in results))


main()
