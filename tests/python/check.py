# SPDX-License-Identifier: MIT
"""check.py COMMAND FILE...: the module txtrace against the tool, which is named by TXTRACE.

events FILE...	the events are those of `txtrace print --format jsonl`
waits FILE...	the waits are those of `txtrace waits`
arrays FILE...	the arrays of NumPy, and the frames of pandas if it is there, have the events of the iteration
hosts FILE...	a merged log has the hosts of `txtrace info`
errors FILE	what is wrong is an exception; the file is a log
closed FILE...	events of a closed trace stay valid, and what is not read is an exception
facts FILE...	what a file lacks is what `txtrace info` tells
damage FILE	what cannot be read of a damaged file is an exception, or counted; the file is whole
hostile FILE...	the interpreter survives each file; exceptions are those of the module
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
import threading
import time
import warnings

import txtrace
from txtrace._layout import BOOL, CHAR, ENUM, FLOAT, POINTER, STRUCT

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


def run_tool(*arguments):
    """Return what the tool prints."""
    return subprocess.run([txtrace.find_tool(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def plain(text):
    """Return a text with one mark for bytes that are no UTF-8; control characters stay."""
    return re.sub("\ufffd+", "\ufffd", text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def number(digits):
    """Return a whole number of JSON.  A real number can be -0 there."""
    return -0.0 if digits == "-0" else int(digits)


# Values as the tool prints them in JSON.

def element(field, value):
    """Return an element of a field as the tool prints it."""
    if field.kind == STRUCT:
        return members(field.members, value)
    if field.kind == POINTER:
        return f"0x{value:x}"
    if field.kind == FLOAT and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if field.kind == FLOAT and field.size == 4:
        return ("f32", struct.pack("f", value))
    return plain(value) if isinstance(value, str) else value


def nested(field, dims, value):
    """Return an array."""
    if not dims or (field.kind == CHAR and len(dims) == 1):
        return element(field, value)
    return [nested(field, dims[1:], part) for part in value]


def members(fields, values):
    """Return the members of a structure."""
    return {field.name: nested(field, field.dims, values[field.name]) for field in fields if field.name in values}


def theirs_of(fields, values):
    """Return what the tool printed, with floats of 4 bytes and marks in texts as above."""
    def one(field, value):
        if field.kind == STRUCT:
            return theirs_of(field.members, value)
        if field.kind == FLOAT and field.size == 4 and not isinstance(value, str):
            return ("f32", struct.pack("f", value))
        return re.sub("\ufffd+", "\ufffd", value) if isinstance(value, str) else value

    def many(field, dims, value):
        if not dims or (field.kind == CHAR and len(dims) == 1):
            return one(field, value)
        return [many(field, dims[1:], part) for part in value]
    return {field.name: many(field, field.dims, values[field.name]) for field in fields if field.name in values}


def check_call(event, theirs, where):
    """Compare the fields of a call; the tool has words for some numbers."""
    ours = event.data
    names = {key for key in theirs if key != "wait" and (key != "object" or key in ours)}
    expect(set(ours), names, *where, "names of fields")
    for name in names & set(ours):
        value, printed = ours[name], theirs[name]
        if isinstance(value, list) or isinstance(printed, str) and not isinstance(value, str):
            is_address = isinstance(printed, str) and re.fullmatch("0x[0-9a-f]+", printed)
            if is_address and not isinstance(value, list):
                expect(value, int(printed, 16), *where, name)
            elif printed in errno.errorcode.values():
                expect(errno.errorcode.get(abs(value)), printed, *where, name)
        else:
            expect(plain(value) if isinstance(value, str) else value, printed, *where, name)
    if "object" in theirs and "object" not in ours and event.object:
        expect(plain(event.object.name), theirs["object"], *where, "object")
    expect({None: None, 0: None, 1: "begins", 2: "ends"}[event.phase], theirs.get("wait"), *where, "wait")


def check_data(event, theirs, where):
    """Compare the data of an event."""
    if event.is_call:
        check_call(event, theirs, where)
    elif isinstance(theirs, dict) and event.type.layout is not None:
        theirs = {key: value for key, value in theirs.items() if key not in ("missing_bytes", "more_hex")}
        expect(members(event.type.layout.fields, event.data), theirs_of(event.type.layout.fields, theirs), *where)
        expect(list(event.data), list(theirs), *where, "order of fields")


def check_events(path):
    """Compare all events of a file."""
    lines = run_tool("print", "--format=jsonl", path).decode("utf-8").splitlines()
    first_ns = None
    with txtrace.open(path) as trace:
        events = list(trace)
        expect(len(events), len(lines), path, "number of events")
        for event, line in zip(events, lines):
            theirs = json.loads(line, parse_int=number)
            where = (path, "event", event.number)
            first_ns = event.ns - theirs["ns"] if first_ns is None else first_ns
            expect(event.number, theirs["number"], *where, "number")
            # The tool begins with 0 where there is no date.
            expect(event.ns - (first_ns if trace.is_foreign else 0), theirs["ns"], *where, "ns")
            expect((event.cpu, event.pid, event.is_cut, event.priority),
                   tuple(theirs[key] for key in ("cpu", "pid", "cut", "priority")), *where, "cpu, pid, cut, priority")
            # The tool finds the thread of a scheduling record also by its tid.
            found = event.thread if event.context == 0 else None
            expect(f"{found.handle if found else event.context:08x}", theirs["context"], *where, "context")
            expect(f"0x{event.address:x}", theirs["address"], *where, "address")
            expect(plain(event.name), theirs["event"], *where, "name")
            if event.thread:
                expect(plain(event.thread.name), theirs["thread"], *where, "thread")
            # The tool prints at most so many bytes.
            expect(len(event.raw), theirs["size"], *where, "size")
            if not trace.is_swapped:
                expect(event.raw.hex()[:len(theirs["hex"])], theirs["hex"], *where, "hex")
            check_data(event, theirs["data"], where)
        again = [event.number for event in trace]
        expect(again, [event.number for event in events], path, "second iteration")


def check_waits(path):
    """Compare the waits."""
    with txtrace.open(path) as trace:
        ticks = (None, 12.5) if trace.is_foreign else (None,)
    for tick_ns in ticks:
        theirs = json.loads(run_tool("waits", "--format=json", *([f"--tick={tick_ns}"] if tick_ns else []), path))
        with txtrace.open(os.path.relpath(path), tick_ns=tick_ns) as trace:
            before = os.getcwd()
            os.chdir("/")
            expect(list(trace.waits()), theirs["waits"], path, "waits with the tick", tick_ns)
            os.chdir(before)
    theirs = json.loads(run_tool("waits", "--format=json", path))["waits"]
    with txtrace.open(path) as trace:
        expect(list(trace.waits()), theirs, path, "waits")
        some = [wait for wait in theirs if wait["thread"] == theirs[0]["thread"]] if theirs else []
        if some:
            chosen = list(trace.waits(f'thread="{some[0]["thread"]}"'))
            expect(chosen, some, path, "waits of a thread")


def of_array(value):
    """Return a value of an array as the iteration has it, but enums and characters as numbers and bytes."""
    if isinstance(value, bytes):
        return value.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
    if isinstance(value, tuple):
        raise TypeError("a structure")
    if isinstance(value, list):
        return [of_array(part) for part in value]
    return value


def named(names, value):
    """Return the names of numbers, as far as they have names."""
    return [named(names, part) for part in value] if isinstance(value, list) else names.get(value, value)


def same(array_value, field, value):
    """Compare a value of an array with that of an event."""
    if field.kind == STRUCT:
        parts = array_value if field.dims else [array_value]
        for part, inner in zip(parts, value if field.dims else [value]):
            for member in field.members:
                if member.name in part.dtype.names and member.name in inner:
                    same(part[member.name], member, inner[member.name])
        return
    ours = array_value.tolist() if hasattr(array_value, "tolist") else array_value
    if field.kind == ENUM:
        ours = named(field.names, ours)
    if field.kind == BOOL and not field.dims:
        ours = bool(ours)
    if field.kind == FLOAT:
        ours, value = str(ours), str(value)
        if field.size > 8:
            return
    expect(of_array(ours), value, "array", field.name)


def lacking(fields, dtype):
    """Return the fields with a fixed number of elements that have no column."""
    lost = []
    for field in fields:
        name = next((name for name in (f"data.{field.name}", field.name) if name in dtype.names), None)
        if name is None:
            lost += [field.name] if 0 not in field.dims else []
        elif field.kind == STRUCT:
            lost += lacking(field.members, dtype[name].base)
    return lost


def flat(name, field, value):
    """Yield the columns of a frame: name, field, and value."""
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from flat(f"{name}[{i}]", field, part)
    elif field.kind == STRUCT:
        for member in field.members:
            yield from flat(f"{name}.{member.name}", member, value[member.name])
    else:
        yield name, field, value


def check_arrays(path):
    """Compare arrays with the iteration."""
    with txtrace.open(path) as trace:
        events = list(trace)
        table = trace.array()
        expect(table["ns"].tolist(), [event.ns for event in events], path, "array: ns")
        expect(table["context"].tolist(), [event.context for event in events], path, "array: context")
        for name, kind in trace.types.items():
            mine = [event for event in events if event.type.id == kind.id and
                    (kind.layout is None or (event.data is not None and len(event.raw) >= kind.layout.size))]
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                table = trace.array(name=name)
            expect({warning.filename for warning in told} - {__file__}, set(), path, name, "the file of the warning")
            expect(lacking(kind.layout.fields if kind.layout else (), table.dtype), [], path, name, "columns")
            nr_all = sum(event.type.id == kind.id and not (event.phase is None and kind.id in trace.call_types)
                         for event in events)
            expect(len(told), int(nr_all != len(mine)), path, name, "warnings")
            expect(table["number"].tolist(), [event.number for event in mine], path, name, "numbers")
            for row, event in zip(table, mine):
                for field in kind.layout.fields if kind.layout else ():
                    column = f"data.{field.name}" if f"data.{field.name}" in table.dtype.names else field.name
                    if column in table.dtype.names and field.name in event.data:
                        same(row[column], field, event.data[field.name])
            if "pandas" in sys.modules:
                check_frame(trace, name, table, mine)


def check_frame(trace, name, table, events):
    """Compare a frame with the array, and its enums with the events."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        frame = trace.frame(name=name)
    expect({warning.filename for warning in told} - {__file__}, set(), name, "the file of the warning")
    layout = trace.types[name].layout
    for i, event in enumerate(events if layout is not None else ()):
        for field in layout.fields:
            if 0 in field.dims or field.name not in event.data:
                continue
            for column, leaf, value in flat(field.name, field, event.data[field.name]):
                column = f"data.{column}" if f"data.{column}" in frame else column
                expect(column in frame, True, name, "column", column)
                if leaf.kind == ENUM:
                    expect(frame[column].iloc[i], str(value), name, "frame:", column)
    expect(frame["ns"].tolist(), table["ns"].tolist(), name, "frame: ns")
    expect(frame["event"].tolist(), [name] * len(table), name, "frame: event")
    expect(frame["thread"].tolist(), [trace.context_name(context) for context in table["context"].tolist()], name,
           "frame: thread")


def raises(kind, function, *what):
    """Expect an exception of this kind, and return it."""
    try:
        function()
    except kind as error:
        expect(True, True)
        return error
    expect("no exception", kind.__name__, *what)
    return None


def closed(path):
    """Expect what is not read of a closed trace to be a ValueError, and events to stay what they were."""
    trace = txtrace.open(path)
    events = iter(trace)
    kept = [next(events) for _ in range(100)]
    trace.close()
    error = raises(ValueError, lambda: next(events), "an iteration of a closed trace")
    expect("the trace is closed" in str(error), True, "the message")
    error = raises(ValueError, lambda: trace.types, "the types of a closed trace")
    expect("the trace is closed" in str(error), True, "the message")
    with txtrace.open(path) as trace:
        for event, same_event in zip(kept, trace):
            expect(event.type.description, same_event.type.description, "an event of a closed trace", "type")
            for name in ("name", "data", "raw", "thread", "object", "host", "priority"):
                expect(str(getattr(event, name)), str(getattr(same_event, name)), "an event of a closed trace", name)
            expect(repr(event), repr(same_event), "an event of a closed trace")


def closed_meanwhile(path):
    """Expect nothing but a ValueError if another thread closes a trace."""
    told = []

    def use_it(trace):
        try:
            while True:
                list(trace.types)
                for event in trace:
                    str(event.data)
        except ValueError as error:
            told.append("" if "the trace is closed" in str(error) else repr(error))
        except Exception as error:  # pylint: disable=broad-except  # that is the fault
            told.append(repr(error))

    for i in range(200):
        trace = txtrace.open(path)
        user = threading.Thread(target=use_it, args=(trace,))
        user.start()
        time.sleep(i * 50e-6)
        trace.close()
        user.join()
    expect([error for error in told if error], [], "a trace that another thread closes")
    expect(len(told), 200, "a trace that another thread closes")


def check_closed(path):
    """Events and iterations of a trace that is closed."""
    closed(path)
    closed_meanwhile(path)


def check_errors(path):
    """Expect exceptions."""
    raises(FileNotFoundError, lambda: txtrace.open(path + ".missing"), "a missing file")
    error = raises(txtrace.TraceError, lambda: txtrace.open(__file__), "a text")
    expect(error.errno if error else None, errno.EINVAL, "a text")
    raises(txtrace.TraceError, lambda: txtrace.open(os.path.dirname(path)), "a directory")
    trace = txtrace.open(path)
    events = iter(trace)
    kept = next(events)
    if "numpy" in sys.modules:
        raises(KeyError, lambda: trace.array("no such type"), "no such type")
    with open(path, "rb") as file:
        whole = file.read()
    with open(path + ".cut", "wb") as file:
        file.write(whole[:len(whole) * 2 // 3])
    raises(txtrace.TraceError, lambda: txtrace.open(path + ".cut"), "a cut log")
    expect("damaged=True" in str(raises(txtrace.TraceError, lambda: txtrace.open(path + ".cut"))), True, "the advice")
    expect("txtrace pack" in str(raises(txtrace.TraceError, lambda: txtrace.open(__file__))), True, "the advice")
    with txtrace.open(path + ".cut", damaged=True) as cut:
        expect(0 < sum(1 for _ in cut) < sum(1 for _ in trace), True, "a cut log has some events")
        error = raises(txtrace.TraceError, lambda: list(cut.waits("data.missing > 3")), "a wrong filter")
        expect(error.errno if error else None, errno.EINVAL, "a wrong filter")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            list(cut.waits())
        expect({warning.filename for warning in told}, {__file__}, "the file of the warning")
    expect(trace.context_name(0xF0F0F0F0), "initialization", "the context of the initialization")
    trace.close()
    trace.close()
    raises(ValueError, lambda: next(iter(trace)), "a closed trace")
    raises(ValueError, lambda: trace.types, "a closed trace")
    expect(kept.number, 0, "an event of a closed trace")
    os.environ["TXTRACE"] = path + ".missing"
    with txtrace.open(path) as trace:
        raises(FileNotFoundError, lambda: list(trace.waits()), "a missing tool")


def check_facts(path):
    """What a file lacks, as far as that is known before it is read."""
    theirs = json.loads(run_tool("info", "--format=json", path))
    with txtrace.open(path, damaged=True) as trace:
        expect(trace.is_complete, theirs.get("complete", True), path, "is_complete")
        keys = ["overwritten", "dropped", "abandoned", "log"]
        expect(list(trace.loss[:4]), [theirs.get(f"lost_{key}", 0) for key in keys], path, "loss")
        is_uncounted = theirs.get("log_has_lost_events", False) or not trace.is_complete
        expect(trace.loss.uncounted, is_uncounted, path, "loss.uncounted")
        expect(bool(trace.loss), is_uncounted or any(trace.loss[:4]), path, "bool(loss)")


def read_all(path, **options):
    """Return how many events an iteration returned, its exception, and the loss that is known after it."""
    number, error = 0, None
    with txtrace.open(path, **options) as trace:
        try:
            for number, _ in enumerate(trace, 1):
                pass
        except txtrace.TraceError as caught:
            error = caught
        return number, error, trace.loss


def check_unreadable(path, nr_whole, what):
    """Expect an exception without damaged=True, and a count with it."""
    missing = subprocess.run([txtrace.find_tool(), "print", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             check=False).stderr.decode()
    missing = int((re.search(r"(\d+) events could not be read|at least (\d+)", missing) or [0, 0])[1] or 0)
    try:
        number, error, loss = read_all(path)
    except txtrace.TraceError:
        expect(what, "cut", "the exception of open()")
    else:
        expect(error.errno if error else None, errno.EBADMSG, what, "errno")
        expect(f": {missing} events could not be read" in str(error), True, what, str(error))
        expect((number + missing, loss.unreadable), (nr_whole, missing), what, "events before the exception")
    number, error, loss = read_all(path, damaged=True)
    expect(error, None, what, "damaged=True")
    expect(number < nr_whole and bool(loss), True, what, "loss")
    expect(number + loss.unreadable, nr_whole, what, "all events")
    if "numpy" in sys.modules:
        with txtrace.open(path, damaged=True) as trace:
            expect((len(trace.array()), trace.loss), (number, loss), what, "array")
        raises(txtrace.TraceError, lambda: txtrace.open(path).array(), what, "array")
    if "pandas" in sys.modules:
        raises(txtrace.TraceError, lambda: txtrace.open(path).frame(), what, "frame")


def check_damage(path):
    """Damage in the middle, a cut, and a cut while the file is read."""
    nr_whole, error, loss = read_all(path)
    expect((error, loss.unreadable), (None, 0), "a whole file")
    with open(path, "rb") as file:
        whole = file.read()
    middle = len(whole) // 2
    changed = path + ".changed"
    with txtrace.open(path) as trace:
        is_foreign = trace.is_foreign
    if not is_foreign:
        for what, data in (("holes", whole[:middle] + bytes(70000) + whole[middle + 70000:]), ("cut", whole[:middle])):
            with open(changed, "wb") as file:
                file.write(data)
            check_unreadable(changed, nr_whole, what)
            check_facts(changed)
    for damaged in (False, True):
        with open(changed, "wb") as file:
            file.write(whole)
        with txtrace.open(changed, damaged=damaged) as trace:
            number, events, error = 0, iter(trace), None
            try:
                for number, _ in enumerate(events, 1):
                    if number == 100:
                        os.truncate(changed, middle)
            except txtrace.TraceError as caught:
                error = caught
            expect(number < nr_whole, True, "a cut while it is read")
            expect(error.errno if error else None, None if damaged else errno.EBADMSG, "a cut while it is read")
            expect(number + trace.loss.unreadable, nr_whole, "a cut while it is read")


def use(path, **options):
    """Use everything of a file that may be damaged."""
    with txtrace.open(path, **options) as trace:
        list(trace.types.values())
        for event in trace:
            repr((event, event.thread, event.object, event.waker, event.priority, event.raw))
        if "numpy" in sys.modules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name in [None, *trace.types]:
                    try:
                        trace.array(name)
                    except ValueError:
                        pass  # the other byte order


def check_hosts(path):
    """A merged log has the hosts that txtrace info lists, and each event has that of txtrace print."""
    with txtrace.open(path) as trace:
        listed = json.loads(run_tool("info", "--format", "json", path))["origin_list"]
        expect([(one.name, one.host, one.host_name, one.boot_id, one.pid, one.shift_ns, one.uncertainty_ns)
                for one in trace.origins],
               [(one["name"], one["host"], one["host_name"], one["boot_id"], one["pid"], one["shift_ns"],
                 one["uncertainty_ns"]) for one in listed], path, "origins")
        printed = [json.loads(line) for line in run_tool("print", "--format", "jsonl", path).splitlines()]
        expect([(event.ns, event.pid, event.cpu, event.host, event.type.id) for event in trace],
               [(one["ns"], one["pid"], one["cpu"], one["host"], one["type"]) for one in printed], path, "events")


def check_hostile(path):
    """The interpreter survives."""
    for options in ({}, {"damaged": True, "running": True}, {"tick_ns": 12.5}):
        try:
            use(path, **options)
        except txtrace.TraceError:
            pass
        counts["checks"] += 1


def main():
    """Run a command."""
    commands = {"events": check_events, "waits": check_waits, "arrays": check_arrays, "errors": check_errors,
                "closed": check_closed, "facts": check_facts, "damage": check_damage, "hosts": check_hosts,
                "hostile": check_hostile}
    for path in sys.argv[2:]:
        commands[sys.argv[1]](path)
    print(f"{sys.argv[1]}: {counts['checks']} comparisons, {counts['failures']} failures")
    return counts["failures"] > 0 or counts["checks"] == 0


for module in ("numpy", "pandas"):
    if sys.argv[1] in ("arrays", "errors", "damage", "hostile"):
        try:
            __import__(module)
        except ImportError:
            pass
sys.exit(main())
