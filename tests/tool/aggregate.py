# SPDX-License-Identifier: MIT
"""Compares the account of the program tight with what txtrace shows of a log with counts of calls.

aggregate.py TOOL LOG ACCOUNT [at-most]
"""
import collections
import json
import re
import shutil
import subprocess
import sys

tool, log, account = sys.argv[1:4]
is_at_most = len(sys.argv) > 4
failed = 0


def complain(text):
    global failed
    failed += 1
    print("FAIL:", text)


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


def fits(shown, own):
    return shown <= own if is_at_most else shown == own


def compare(what, shown, names):
    for name in names:
        if not fits(shown.get(name, 0), calls[name]):
            complain(f"{what} has {shown.get(name, 0)} calls of {name}, the program made {calls[name]}")


calls, taken = {}, {}
for line in open(account, encoding="utf-8"):
    kind, name, number = line.split()
    {"calls": calls, "taken": taken}[kind][name] = int(number)
if not calls or not taken:
    complain("the account is empty")

printed, nr_of_event = collections.Counter(), collections.Counter()
unlocks = []
for line in run("print", "--format", "jsonl", log).splitlines():
    event = json.loads(line)
    data = event["data"]
    nr_of_event[event["event"]] += 1
    if event["event"] == "txtrace_calls":
        printed[data["call"]] += data["calls"]
        if not 0 <= data["last_ns"] <= data["first_ns"]:
            complain(f"the last call is before the first one: {line}")
    elif isinstance(data, dict) and data.get("wait") != "ends":
        printed[event["event"]] += 1
        if event["event"] == "pthread_mutex_unlock" and data.get("object") == "waited_lock":
            unlocks.append(event["thread"])
compare("print", printed, calls)
if nr_of_event["txtrace_calls"] < 10:
    complain("nothing was counted")

services = json.loads(run("report", "--services", "--format", "json", log))["popular_services"]
compare("report", {row["service"]: row["count"] for row in services}, calls)
lines = json.loads(run("diff", "--format", "json", log, log))
compare("diff", {row["event"]: row["count"][0] for row in lines["types"]}, calls)

locks = collections.defaultdict(list)  # a child has its own copy of each lock
for row in json.loads(run("locks", "--format", "json", log))["locks"]:
    # A child that has ended before the recorder could read its modules has addresses instead of names.
    name = re.sub(r"^mutex 0x.*", "main_lock", row["lock"])
    locks[name.split(" #")[0]].append(row)
for name, number in taken.items():
    shown = sum(row["taken"] for row in locks[name])
    if not fits(shown, number):
        complain(f"locks has {name} taken {shown} times, the program took it {number} times")
    if any(row["held_s"] is not None or row["max_s"] is not None for row in locks[name]):
        complain(f"locks knows how long {name} was held, though its calls were counted")

# The wait is an event, the call that ended it, and the unlock of the lock that the waiter got.
waits = [row for row in json.loads(run("blocked", "--format", "json", log))["blocked"]
         if row["object"] == "waited_lock"]
if len(waits) != 1 or waits[0]["waits"] != 1:
    complain(f"blocked has {waits} of waited_lock, not one wait")
if len(unlocks) < 2 or len(set(unlocks)) < 2:
    complain(f"the unlocks around the wait were not recorded: {unlocks}")

chrome = collections.Counter()
for record in json.loads(run("export", "--to", "chrome", "-o", "-", log))["traceEvents"]:
    if record.get("name") == "txtrace_calls" and "args" in record:
        chrome[record["args"]["call"]] += int(record["args"]["calls"])
counted = collections.Counter()
for line in run("print", "--format", "jsonl", "-f", "event:txtrace_calls", log).splitlines():
    data = json.loads(line)["data"]
    counted[data["call"]] += data["calls"]
if chrome != counted:
    complain(f"chrome has the counts {chrome}, not {counted}")
if shutil.which("babeltrace2"):
    shutil.rmtree(log + ".ctf", ignore_errors=True)
    run("export", "--to", "ctf", "-o", log + ".ctf", log)
    ctf = collections.Counter()
    for line in subprocess.run(["babeltrace2", log + ".ctf"], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if " txtrace_calls: " in line:
            call = line.split('call = "')[1].split('"')[0]
            ctf[call] += int(line.split(" calls = ")[1].split(",")[0])
    if ctf != counted:
        complain(f"ctf has the counts {ctf}, not {counted}")
sys.exit(failed > 0)
