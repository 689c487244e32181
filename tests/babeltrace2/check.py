# SPDX-License-Identifier: MIT
"""check.py COMMAND FILE...: the plugin of Babeltrace 2 against the tool, which is named by TXTRACE.

events FILE...	the event messages are the events of `txtrace print --format jsonl`
seek FILE...	after seek_beginning() an iterator returns the same messages once more
hostile FILE...	the process survives each file; each is read, or refused with an error of Babeltrace
Print the number of comparisons, and exit with 1 if one fails.
"""

import errno
import json
import math
import os
import re
import struct
import subprocess
import sys

import bt2

NR_MOST = 20  # failures that are printed
counts = {"checks": 0, "failures": 0}


def expect(ours, theirs, *what):
    """Count a comparison."""
    counts["checks"] += 1
    if ours == theirs:
        return
    counts["failures"] += 1
    if counts["failures"] <= NR_MOST:
        print("FAIL:", *what, "is", repr(ours), "and not", repr(theirs))


def marks(text):
    """Return a text with one mark for bytes that are no UTF-8."""
    return re.sub("[\ufffd?]+", "?", text)


def value_of(field):
    """Return the value of a field of Babeltrace."""
    if isinstance(field, bt2._StructureFieldConst):
        return {name: value_of(part) for name, part in field.items()}
    if isinstance(field, bt2._ArrayFieldConst):
        return [value_of(part) for part in field]
    if isinstance(field, bt2._StringFieldConst):
        return marks(str(field))
    if isinstance(field, bt2._EnumerationFieldConst):
        try:
            return (int(field), tuple(field.labels))
        except AssertionError:  # bt2 has no other way to say that the number has no name
            return (int(field), ())
    return float(field) if isinstance(field, bt2._RealFieldConst) else int(field)


def is_same(ours, theirs):
    """Compare a value with what the tool prints in JSON."""
    if isinstance(theirs, dict):
        return (isinstance(ours, dict) and list(ours) == list(theirs) and
                all(is_same(ours[i], theirs[i]) for i in theirs))
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    if isinstance(ours, tuple):  # an enum: its name, or its number if it has no name; a bool
        number, labels = ours
        return theirs in labels if isinstance(theirs, str) else number == int(theirs)
    if isinstance(ours, float):
        if isinstance(theirs, str):
            return {"nan": math.isnan(ours), "inf": ours == math.inf, "-inf": ours == -math.inf}[theirs]
        return ours == theirs or struct.pack("f", ours) == struct.pack("f", theirs)
    if isinstance(theirs, str) and isinstance(ours, int):
        return re.fullmatch("0x[0-9a-f]+", theirs) is not None and ours == int(theirs, 16)
    return ours == (marks(theirs) if isinstance(theirs, str) else theirs)


def check_payload(ours, event, where):
    """Compare the data of an event; the tool has a text where it has no fields."""
    theirs = event["data"]
    if isinstance(theirs, dict) and "wait" not in theirs and "missing_bytes" not in theirs and not is_call(event):
        more = bytes(ours.pop("txtrace_more", [])).hex()
        expect(more, theirs.pop("more_hex", ""), *where, "bytes after the fields")
        counts["checks"] += 1
        if not is_same(ours, theirs):
            expect(ours, theirs, *where)
    elif isinstance(theirs, dict) and is_call(event):
        named = theirs.pop("object", None) if "object" not in ours else None
        expect(list(ours), list(theirs), *where, "names of fields")
        for name in ours:
            # An object has its name in the place of its address.
            if isinstance(ours[name], int) and theirs.get(name) in errno.errorcode.values():
                expect(errno.errorcode.get(abs(ours[name])), theirs[name], *where, name)
            elif not is_same(ours[name], theirs.get(name)) and ours[name] != marks(named or ""):
                expect(isinstance(ours[name], str), True, *where, name, theirs.get(name))
    elif list(ours) == ["data"] and not is_call(event):
        expect(bytes(ours["data"]).hex(), event["hex"], *where, "bytes")


def is_call(event):
    """Return true for a recorded call."""
    return 3840 <= event["type"] < 4096


def messages_of(path):
    """Iterate over the messages of a file, which Babeltrace finds by itself."""
    return bt2.TraceCollectionMessageIterator(path)


def check_events(path):
    """Compare the events."""
    lines = subprocess.run([os.environ["TXTRACE"], "print", "--format=jsonl", path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=True).stdout.decode("utf-8").splitlines()
    theirs = [event for event in map(json.loads, lines)
              if event["event"] not in ("posix_trace_overflow", "posix_trace_resume")]
    nr_gaps = sum('"event":"posix_trace_overflow"' in line for line in lines)
    last_ns = nr_events = nr_discarded = 0
    for message in messages_of(path):
        if isinstance(message, bt2._DiscardedEventsMessageConst):
            nr_discarded += 1
        if not isinstance(message, bt2._EventMessageConst) or message.event.name == "txtrace_span":
            continue
        if nr_events == len(theirs):
            nr_events += 1
            break
        event, theirs_now = message.event, theirs[nr_events]
        where = (path, "event", theirs_now["number"])
        nr_events += 1
        last_ns = max(last_ns, theirs_now["ns"])
        expect(message.default_clock_snapshot.value, last_ns, *where, "time")
        expect(message.default_clock_snapshot.clock_class.origin_is_unix_epoch, not theirs_now.get("foreign", False) and
               last_ns > 10 ** 18, *where, "origin of the clock")
        expect(marks(event.name), marks(theirs_now["event"]), *where, "name")
        context = event.common_context_field
        expect((int(context["cpu_id"]), int(context["vpid"]), marks(str(context["thread"])), int(context["priority"])),
               (theirs_now["cpu"], theirs_now["pid"], marks(theirs_now["thread"]),
                -1 if theirs_now["priority"] is None else theirs_now["priority"]), *where, "context")
        check_payload(value_of(event.payload_field), theirs_now, where)
    expect(nr_events, len(theirs), path, "number of events")
    expect(nr_discarded, nr_gaps, path, "gaps")


class Twice(bt2._UserSinkComponent):
    """A sink that reads everything, and then once more from the beginning."""

    seen = [[], []]

    def __init__(self, config, params, obj):
        self._port = self._add_input_port("in")
        self._round = 0

    def _user_graph_is_configured(self):
        self._iterator = self._create_message_iterator(self._port)

    def _user_consume(self):
        try:
            message = next(self._iterator)
        except StopIteration:
            if self._round == 1:
                raise bt2.Stop
            expect(self._iterator.can_seek_beginning(), True, "seek_beginning() is possible")
            self._iterator.seek_beginning()
            self._round = 1
            return
        is_event = isinstance(message, bt2._EventMessageConst)
        self.seen[self._round].append(
            (type(message).__name__, message.event.name if is_event else "",
             message.default_clock_snapshot.value if is_event else 0,
             repr(value_of(message.event.payload_field)) if is_event else ""))


def check_seek(path):
    """Read twice with one iterator."""
    Twice.seen = [[], []]
    graph = bt2.Graph()
    source = graph.add_component(bt2.find_plugin("txtrace").source_component_classes["file"], "source",
                                 {"inputs": [path]})
    sink = graph.add_component(Twice, "sink")
    graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
    graph.run()
    expect(len(Twice.seen[0]) > 10, True, path, "messages")
    expect(Twice.seen[1], Twice.seen[0], path, "second round")


def check_hostile(path):
    """Read what can be read."""
    counts["checks"] += 1
    graph = bt2.Graph()
    source = graph.add_component(bt2.find_plugin("txtrace").source_component_classes["file"], "source",
                                 {"inputs": [path]})
    sink = graph.add_component(bt2.find_plugin("utils").sink_component_classes["dummy"], "sink")
    try:
        graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
        graph.run()
    except bt2._Error:
        pass


def main():
    """Run a command."""
    commands = {"events": check_events, "seek": check_seek, "hostile": check_hostile}
    for path in sys.argv[2:]:
        commands[sys.argv[1]](path)
    print(f"{sys.argv[1]}: {counts['checks']} comparisons, {counts['failures']} failures")
    return counts["failures"] > 0 or counts["checks"] == 0


sys.exit(main())
