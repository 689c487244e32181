# SPDX-License-Identifier: MIT
"""Compares the account that a program kept of itself (oracle.h) with what txtrace shows of its trace.

check.py TOOL ACCOUNT LOG

No length of time decides.  The account has the time before and after each call, so what the log has of the call must
lie between the two, by one and the same offset of the two clocks.  If the account knows that a thread slept in a call
from one time to another, the wait in the log must contain this period.  The exports must have the same waits.  The
clock of the log is a line through samples of CLOCK_MONOTONIC, and may be wrong by TOLERANCE_NS.
"""
import collections
import csv
import decimal
import glob
import io
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import page_data

PERFETTO_CHECK = os.environ.get("PERFETTO_CHECK", "")
import running

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
        self.calls, self.objects, self.names, self.says, self.longest, self.worked = [], {}, {}, [], {}, {}
        self.ran = {}
        self.waits_for, self.processes = {}, []
        with open(path, encoding="utf-8") as file:
            for line in file:
                kind, rest = line.rstrip("\n").split(" ", 1)
                if kind == "thread":
                    pid, tid, name = rest.split()
                    self.names[int(tid)] = name
                elif kind == "object":
                    address, name = rest.split()
                    self.objects[int(address, 16)] = name
                elif kind == "process":
                    self.processes.append(tuple(rest.split("\t")))
                elif kind == "waits_for":
                    service, name = rest.split(" ", 1)
                    self.waits_for[service] = name
                elif kind == "longest":
                    address, ns = rest.split()
                    self.longest[int(address, 16)] = int(ns)
                elif kind == "worked":
                    tid, ns = rest.split()
                    self.worked[int(tid)] = int(ns)
                elif kind == "ran":
                    tid, least, most = map(int, rest.split())
                    self.ran[tid] = (least, most)
                elif kind == "call":
                    tid, service, address, *times = rest.split()
                    self.calls.append(Call(int(pid), int(tid), service, int(address, 16), *map(int, times)))
                else:
                    self.says.append((kind == "says", *rest.split("\t")))


class Shown:
    """The calls in the log: for each thread and function, their (begin, end, object, has waited)."""

    def __init__(self):
        self.calls, self.first_of_cpu, self.span, self.ends = collections.defaultdict(list), {}, {}, {}
        # thread to pid; pid to the end of the process, to its programs
        self.process, self.over, self.starts, self.lives = {}, {}, {}, {}
        self.ran = collections.defaultdict(list)  # for each thread, the times in which it had a CPU
        self.sched_start = None
        self.is_counted = False  # the kernel refused scheduling records, so the reports have estimates
        self.first_ns, self.last_ns, self.is_whole = None, 0, "lost: dropped           0" in run("info", log)
        columns = "number,time,ns,cpu,pid,thread,context,event,data"
        for line in run("print", "--format", "jsonl", "--columns", columns, log).splitlines():
            event = json.loads(line)
            self.first_ns = self.first_ns or event["ns"]
            self.last_ns = event["ns"]
            self.first_of_cpu.setdefault(event["cpu"], event["ns"])
            tid = self.tid(event["thread"])
            if event["event"] in ("txtrace_thread_end", "txtrace_process_end"):
                self.ends[tid] = event["ns"]
            self.follow(event)
            self.note_life(event, tid)
            self.span[tid] = self.span.get(tid, (event["ns"],))[0], event["ns"]
            if isinstance(event["data"], dict):
                self.add(event)
        self.ran = collections.defaultdict(list, {
            tid: [(since, until or self.last_ns) for since, until in spans] for tid, spans in self.ran.items()})

    def follow(self, event):
        found = re.match(r"tid=(\d+)", str(event["data"]))
        tid = int(found[1]) if found else 0
        if event["event"] in ("txtrace_cpu_time", "txtrace_thread_time"):
            self.is_counted = True
        if event["event"] == "txtrace_sched_start":
            self.sched_start = event["ns"]
        elif event["event"] == "txtrace_switch_in":
            self.ran[tid].append((event["ns"], None))
        elif event["event"] == "txtrace_switch_out":
            if not self.ran[tid]:
                self.ran[tid].append((self.sched_start, None))
            if self.ran[tid][-1][1] is None:
                self.ran[tid][-1] = (self.ran[tid][-1][0], event["ns"])

    def note_life(self, event, tid):
        data, pid = event["data"], event["pid"]
        if tid:
            self.process[tid] = pid
            self.lives.setdefault(int(event["context"], 16), [pid, event["ns"], event["ns"]])[2] = event["ns"]
        if event["event"] in ("txtrace_process_end", "_exit"):
            self.over.setdefault(pid, event["ns"])
        if event["event"] == "txtrace_process_start":
            self.starts.setdefault(pid, []).append((event["ns"], int(event["context"], 16)))
        if event["event"] == "waitpid" and isinstance(data, dict) and data.get("child", 0) > 0:
            self.over.setdefault(data["child"], event["ns"])

    def end_of(self, tid):
        """When a thread that records nothing more has ended."""
        return self.over.get(self.process.get(tid), self.last_ns)

    def add(self, event):
        data, key = event["data"], (self.tid(event["thread"]), event["event"])
        wait, address = data.get("wait"), 0
        found = re.match(r"0x([0-9a-f]+)$", str(next(iter(data.values()), "")))
        if found:
            address = int(found[1], 16)
        elif next(iter(data), "") == "fd":
            address = data["fd"]  # in the account, too, the number of a descriptor is its address
        if wait == "ends" and self.calls[key] and self.calls[key][-1][1] is None:
            begin, _, address, _ = self.calls[key].pop()
            self.calls[key].append((begin, event["ns"], address, True))
        elif wait == "ends" and self.is_whole:
            complain(f"{key}: a wait ends that has not begun, at {event['time']}")
        else:
            self.calls[key].append((event["ns"], None if wait == "begins" else event["ns"], address, wait == "begins"))

    @staticmethod
    def tid(thread):
        found = re.search(r" (\d+)(?: 1[0-9a-f]{6})?$", thread)  # a second name of a buffer ends with the handle
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


def check_sleeps(account, pairs, offset, shown):
    """A wait in the log contains the time in which the thread certainly slept."""
    for call, begin, end, has_waited in pairs:
        if not call.asleep or not has_waited:
            continue
        until = call.awake + offset if call.awake else call.asleep + offset
        if begin > call.asleep + offset + TOLERANCE_NS or (end or shown.end_of(call.tid)) < until - TOLERANCE_NS:
            complain(f"{account.names[call.tid]} slept in {call.service} longer than the log says")


def rows_of(command, *options):
    return next(iter(json.loads(run(*command.split(), "--format", "json", *options, log)).values()))


def ns_of(seconds):
    return round(seconds * 1e9)


def read_sites():
    """The names of objects that are the places of their first calls, by address.  A second one there has a number."""
    found = re.findall(r"  (\S+\+0x[0-9a-f]+)( #\d+)?  0x([0-9a-f]+)(?:  \1)?$", run("info", "--objects", log), re.M)
    return {int(address, 16): site + number for site, number, address in found}


def is_object(shown, name, address):
    """
    The program may end before the recorder finds the name of an object: then the log has its address.  An object in
    shared memory has the name of its place there, and is at the same offset in a page.  A tool that cannot read symbols
    calls an object by the place of its first call.
    """
    place = re.search(r" in [0-9a-f]+:[0-9a-f]+:\d+\+0x([0-9a-f]+)", shown)
    if place:
        return int(place[1], 16) % 4096 == address % 4096
    return (shown in (name, sites.get(address)) or (address < 4096 and shown.endswith(f" fd {address}"))
            or re.fullmatch(rf".*\b(0x)?0*{address:x}", shown) is not None)


def check_blocked(account, pairs, shown):
    """The waits of each thread for each object, exactly as the log has them."""
    waits = collections.defaultdict(list)
    for call, begin, end, has_waited in pairs:
        if has_waited:
            waits[call.tid, call.object or call.service].append((end or shown.end_of(call.tid)) - begin)
    rows = rows_of("blocked --by thread")
    for (tid, what), lengths in waits.items():
        name = account.objects.get(what) or account.waits_for.get(what, what)
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


def check_waits(account, shown, pairs):
    """A row for each wait, with its begin, its call, and its end, exactly as the log has them."""
    waits = collections.defaultdict(list)
    for call, begin, end, has_waited in pairs:
        if has_waited:
            waits[call.tid, call.service].append((begin - shown.first_ns, (end or shown.end_of(call.tid)) - begin,
                                                  end is not None))
    rows = collections.defaultdict(list)
    for row in rows_of("waits"):
        if row["duration_s"] is None:  # the end is missing
            continue
        rows[Shown.tid(row["thread"]), row["call"]].append(
            (ns_of(row["start_s"]), ns_of(row["duration_s"]), row["end"] != "lasts"))
    for key, expected in waits.items():
        # A program does not account for all of its calls.
        missing = collections.Counter(expected) - collections.Counter(rows[key])
        if missing:
            complain(f"waits has no row for {key}: {list(missing)[:3]} of {len(expected)}, but {rows[key][:3]}")


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


def check_ran(account):
    if not account.ran:
        return
    profile = json.loads(run("report", "--profile", "--format", "json", log))["execution_profile"]
    times = {Shown.tid(row["thread"]): ns_of(row["time_s"]) for row in profile}
    for tid, (least, most) in account.ran.items():
        if not least - TOLERANCE_NS <= times.get(tid, 0) <= most + TOLERANCE_NS:
            complain(f"{account.names[tid]} ran {least} to {most} ns, report says {times.get(tid)}")


def check_lives(shown):
    """No thread ran after its process had ended, or had executed another program."""
    for row in json.loads(run("report", "--profile", "--format", "json", log))["execution_profile"]:
        if row["context"] is None:  # a thread without events
            continue
        pid, first, last = shown.lives.get(int(row["context"], 16), (0, shown.first_ns, shown.last_ns))
        ends = [at for at, context in shown.starts.get(pid, ()) if at >= last and context != int(row["context"], 16)]
        end = max(last, min([shown.over.get(pid, shown.last_ns), *ends]))
        if ns_of(row["time_s"]) > end - first:
            complain(f"report says {row['time_s']} s of {row['thread']}, which lived for {(end - first) / 1e9} s")


def spans_of_chrome(_):
    trace = json.loads(run("export", "--to", "chrome", "-o", "-", log), parse_float=decimal.Decimal)
    first_ns, names = int(trace["otherData"]["first_event_ns"]), {}
    opened = collections.defaultdict(list)
    for record in trace["traceEvents"]:
        track = record["pid"], record["tid"]
        if record.get("name") == "thread_name":
            names[track] = record["args"]["name"]
        elif record["ph"] == "B":
            opened[track].append(first_ns + int(record["ts"] * 1000))
        elif record["ph"] == "E":
            yield Shown.tid(names[track]), opened[track].pop(), first_ns + int(record["ts"] * 1000)


def spans_of_page(first_ns):
    page = run("export", "--to", "html", "-o", "-", log)
    names = {row[0]: row[1] for row in page_data.facts_of(page)["objects"]}
    for kind, context, begin, end, _ in page_data.spans_of(page):
        if kind == page_data.WAIT:
            yield Shown.tid(names.get(context, "")), first_ns + begin, first_ns + end


def spans_of_perfetto(_):
    path = f"{log}.pf"
    run("export", "--to", "perfetto", "--force", "-o", path, log)
    opened = collections.defaultdict(list)
    for line in subprocess.run([PERFETTO_CHECK, path], capture_output=True, text=True, check=True,
                               encoding="utf-8").stdout.splitlines():
        found = re.match(r"(begin|end) (\d+) \[([^]]*)\]", line)
        if found and found[1] == "begin":
            opened[found[3]].append(int(found[2]))
        elif found:
            yield Shown.tid(found[3]), opened[found[3]].pop(), int(found[2])


def check_exports(account, pairs, shown):
    """Each wait of the account is in each export, with its begin and its end."""
    expected = collections.Counter((call.tid, begin, end or shown.end_of(call.tid))
                                   for call, begin, end, has_waited in pairs if has_waited)
    readers = [spans_of_chrome, spans_of_page] + ([spans_of_perfetto] if PERFETTO_CHECK else [])
    for reader in readers:
        missing = expected - collections.Counter(reader(shown.first_ns))
        for (tid, begin, end), _ in list(missing.items())[:3]:
            complain(f"{reader.__name__}: {account.names[tid]} lacks its wait from {begin} to {end}")


def check_why(account):
    """Without a time, why shows what cost a thread most, and the sum of it."""
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


def overlap(spans, begin, end):
    return sum(max(0, min(end, until) - max(begin, since)) for since, until in spans)


def innermost(spans):
    """A signal handler may wait while its thread waits.  Return the waits in which no other one began."""
    return [(begin, end) for begin, end in spans
            if not any(begin < other[0] and other[1] < end for other in spans)]


def check_charges(account, shown, pairs, path, begin_ns, is_core):
    """TraceX gives no time to a thread that slept or had ended.  Return the time of each thread, and its rounding.

    In the file of a CPU, with scheduling records, it gives time only to a thread that had the CPU.  Each time in a
    buffer is rounded to a tick.
    """
    buffer, waits, times = running.Buffer(path), collections.defaultdict(list), collections.Counter()
    rounding = collections.Counter()
    said = subprocess.run([tool, "check", "--strict", path], capture_output=True, text=True, check=False)
    if said.returncode:
        complain(f"check --strict: {said.stdout}")
    for fault in buffer.faults():
        complain(f"{os.path.basename(path)}: {fault}")
    for call, begin, end, has_waited in pairs:
        if has_waited:
            waits[call.tid].append((begin, end or shown.end_of(call.tid)))
    slept = collections.Counter()
    for name, since, until in buffer.charges():
        tid = Shown.tid(name)
        times[tid or name] += until - since
        rounding[tid or name] += buffer.tick_ns
        if is_core and shown.ran:
            slept[tid] += until - since - overlap(shown.ran[tid], begin_ns + since, begin_ns + until)
        else:
            slept[tid] += overlap(innermost(waits.get(tid, ())), begin_ns + since, begin_ns + until)
    for tid, ns in slept.items():
        most = TOLERANCE_NS + rounding[tid] if is_core and shown.ran else buffer.tick_ns * len(waits[tid])
        if tid in account.names and ns > most:
            complain(f"{os.path.basename(path)}: {account.names[tid]} gets {ns} ns in which it slept")
    if times["nobody"]:
        complain(f"{os.path.basename(path)}: nobody gets {times['nobody']} ns")
    return times, rounding


def check_running(account, shown, pairs):
    """What TraceX shows of which thread runs, if it is given the log by export --to trx."""
    run("export", "--to", "trx", "--force", "-o", log + ".all", log)
    check_charges(account, shown, pairs, log + ".all", shown.first_ns, False)
    for path in glob.glob(log + "-cpu*.core"):
        os.remove(path)
    run("export", "--to", "trx", "--per-core", "--force", "-o", log + ".core", log)
    times, rounding = collections.Counter(), collections.Counter()
    for path in glob.glob(log + "-cpu*.core"):
        cpu = int(re.search(r"-cpu(\d+)\.core$", path)[1])
        for total, of_cpu in zip((times, rounding),
                                 check_charges(account, shown, pairs, path, shown.first_of_cpu[cpu], True)):
            total.update(of_cpu)
    told = collections.Counter()
    for row in json.loads(run("report", "--profile", "--format", "json", log))["execution_profile"]:
        # After an exec, the thread has a second row.
        told[Shown.tid(row["thread"].split(" (")[0])] += ns_of(row["time_s"])
    for tid, name in (account.names or shown.process).items():
        if abs(told[tid] - times[tid]) > TOLERANCE_NS + rounding[tid]:
            complain(f"report says {told[tid]} ns of {name}, the files of the CPUs say {times[tid]} ns")
        waited = sum(until - since for since, until in innermost([
            (since, until) for (waiter, _), calls in shown.calls.items() if waiter == tid
            for since, until, _, has_waited in calls if has_waited and until]))
        ran = sum(until - since for since, until in shown.ran[tid])
        if shown.ran[tid] and abs(told[tid] - ran) > TOLERANCE_NS:
            complain(f"report says {told[tid]} ns of {name}, the records {ran} ns")
        if (not shown.ran[tid] and tid in shown.ends
                and told[tid] > shown.ends[tid] - shown.span[tid][0] - waited + TOLERANCE_NS):
            complain(f"report says {told[tid]} ns of {name}, longer than it lived and did not wait")
    for tid, ns in account.worked.items():
        begin, end = shown.span[tid]
        most_wrong = TOLERANCE_NS * (1 + len(shown.ran[tid])) + rounding[tid]
        if not ns - most_wrong <= times[tid] <= end - begin:
            complain(f"{account.names[tid]} worked for {ns} ns, the files of the CPUs say {times[tid]} ns")


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size * 0.99995:
            return f"{ns / size:.1f} {unit}"
    return f"{ns} ns"


def question(account, word, offset, first_ns):
    """
    NAME@OBJECT: the time is in the middle of the last certain sleep of the thread in a call with the object, or in a
    call with this name, if it has no object.
    """
    name, _, what = word.partition("@")
    tids = [tid for tid, known in account.names.items() if known == name]
    for call in reversed(account.calls):
        if what and call.tid in tids and call.awake and account.objects.get(call.object, call.service) == what:
            return f"{call.tid}@{((call.asleep + call.awake) / 2 + offset - first_ns) / 1e9:.9f}s"
    return str(tids[0]) if len(tids) == 1 else name


def by_value(text):
    """A line REPORT,LABEL,COLUMN,VALUE for each value of CSV; the label is the first value of the row."""
    lines = []
    for row in csv.DictReader(io.StringIO(text)):
        (_, report), *values = [(column, value) for column, value in row.items() if value]
        lines += [",".join((report, values[0][1], column, value)) for column, value in values[1:]]
    return "\n".join(lines)


def shown_as(word, known, address):
    """An object, and the word before it, as an expression.  The tool leaves out the type that its name has.

    See is_object().
    """
    site = sites.get(address)
    shown = rf"{word}(?:{known}|[^,;]*?\b(?:0x)?0*{address:x})"
    return rf"(?:{shown}|{'' if word.strip() in site else word}{re.escape(site)})" if site else shown


def check_says(account, offset, first_ns):
    for is_said, command, expression in account.says:
        name, *words = command.split()
        thread = [question(account, words.pop(), offset, first_ns)] if name == "why" and words else []
        said = run(name, *words, log, *thread).replace("\r", "")
        if "csv" in words:
            said = by_value(said)
        for address, known in account.objects.items():
            if address >= 4096:
                def show(found, known=known, address=address):
                    return shown_as(found[1] or "", known, address)

                expression = re.sub(rf"\b(\w+ )?{known}\b", show, expression)
        if (re.search(expression, said, re.M) is not None) != is_said:
            complain(f"txtrace {command} {'does not say' if is_said else 'says'} {expression}:\n{said}")


def check_processes(account):
    """The tree of processes, and the same tree in text: a process is below its parent, and indented further."""
    if not account.processes:
        return
    rows = json.loads(run("report", "--processes", "--format", "json", log))["processes"]
    told = {(str(row["pid"]), str(row["parent"]), row["status"], row["command"] or "") for row in rows}
    for process in set(account.processes) ^ told:
        complain(f"{'report' if process in told else 'account'} alone has process {process}")
    if len(rows) != len(told):
        complain("report has a process twice")
    above = []
    lines = run("report", "--processes", log).splitlines()
    header = next(i for i, line in enumerate(lines) if line.endswith("Command"))
    column = lines[header].index("Command")
    for line in lines[header + 1:]:
        pid, parent, *_ = line.split()
        depth = len(line[column:]) - len(line[column:].lstrip())
        while above and above[-1][1] >= depth:
            above.pop()
        if above and above[-1][0] != parent:
            complain(f"process {pid} is below {above[-1][0]}, not its parent {parent}")
        above.append((pid, depth))


def main():
    account, shown = Account(account_path), Shown()
    pairs, offset = check_calls(account, shown)
    if pairs:
        check_sleeps(account, pairs, offset, shown)
        check_blocked(account, pairs, shown)
        check_waits(account, shown, pairs)
        check_locks(account)
        check_why(account)
        check_exports(account, pairs, shown)
    if shown.is_whole:
        if not shown.is_counted:
            check_running(account, shown, pairs)
    check_ran(account)
    check_lives(shown)
    check_processes(account)
    check_longest(account)
    check_says(account, offset, shown.first_ns)
    sys.exit(failed > 0)


sites = read_sites() if os.environ.get("PX_NO_SYMBOLS") else {}
main()
