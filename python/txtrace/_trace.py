# SPDX-License-Identifier: MIT
"""Traces and their events."""

import errno
import os
import struct
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _waits
from ._abi import (EVENT_FORMAT, EVENT_SIZE, HOST_PIDS, NAME_BYTES, NO_OVERRUN, OPEN_DAMAGED, OPEN_RUNNING, TraceError,
                   check, ffi, lib, text)
from ._calls import CALL_BEGINS
from ._layout import Layout

BATCH_EVENTS = 8192
BATCH_BYTES = 4 << 20  # an event has at most 1 MiB of data

_ENOENT = 2
_TYPES_MOST = 1 << 20  # no file has more event types, or objects
_SWITCH_IN, _CPU_TIME = 9, 15  # the scheduling records of <trace_ext.h>
_THREAD = 1  # Object.type
_CONTEXTS = {0xFFFFFFFF: "interrupt", 0xF0F0F0F0: "initialization"}


class Object(NamedTuple):
    """A thread, or another object: see struct txtrace_object in txtrace_file(3)."""

    handle: int
    type: int
    name: str
    pid: int
    tid: int
    priority: int
    released: bool
    address: int
    site: int


class EventType(NamedTuple):
    """An event type of a trace."""

    id: int
    name: str
    layout: Optional[Layout]  # None: its data have no description
    description: str


class Loss(NamedTuple):
    """How many events are missing in a trace: see txtrace_get_loss() in txtrace_ext(3)."""

    overwritten: int
    dropped: int
    abandoned: int
    by_log: int  # the stream recorded them, and the log could not keep or write them
    unreadable: int  # in the file, but damaged, or overwritten while they were read; of the last whole iteration
    uncounted: bool  # more may be missing: the log was full, not written, cut or damaged, or its writer died

    def __bool__(self) -> bool:
        return any(tuple(self))


class Origin(NamedTuple):
    """A log that a merged log was made of, or a log that is not merged itself: see txtrace_get_origin(3)."""

    name: str
    host: int
    host_name: str
    boot_id: str
    uuid: str
    pid: int
    shift_ns: int
    drift: float  # added for each nanosecond
    uncertainty_ns: Optional[int]  # None: not known


class Event:
    """An event.  It keeps the memory of the events that were read with it, and stays valid when the trace is closed."""

    __slots__ = ("_trace", "_raw", "_chunk", "number")

    def __init__(self, trace: "Trace", raw: Tuple[int, ...], chunk: bytes, number: int):
        self._trace = trace
        self._raw = raw
        self._chunk = chunk
        self.number = number  # in the file, from 0

    @property
    def ns(self) -> int:
        """Nanoseconds since the epoch.

        A trace buffer of ThreadX has no date: its last event gets the time at which the file was last changed, so only
        differences between its events mean something.
        """
        return self._raw[0]

    @property
    def address(self) -> int:
        """Address of the code that recorded the event."""
        return self._raw[1]

    @property
    def pthread(self) -> int:
        """The pthread_t of the thread."""
        return self._raw[2]

    @property
    def type(self) -> EventType:
        """The event type."""
        return self._trace.event_type(self._raw[5])

    @property
    def name(self) -> str:
        """Name of the event type."""
        return self._trace.event_type(self._raw[5]).name

    @property
    def pid(self) -> int:
        """The process, or 0.  In a merged log, the number of its host is in front: see txtrace_merge(3)."""
        return self._raw[6]

    @property
    def host(self) -> str:
        """Name of the machine of its process, or ""."""
        return self._trace.hosts.get(max(self._raw[6], 0) // HOST_PIDS, "")

    @property
    def is_cut(self) -> bool:
        """True if the program recorded more data than the trace has."""
        return self._raw[7] != 0

    @property
    def cpu(self) -> int:
        """The CPU on which the event was recorded."""
        return self._raw[8]

    @property
    def context(self) -> int:
        """Handle of the thread; 0: none."""
        return self._raw[9]

    @property
    def priority(self) -> Optional[int]:
        """Priority of the thread, 0 to 1023; a smaller number is more urgent."""
        return None if self._raw[10] < 0 else self._raw[10]

    @property
    def interrupted(self) -> int:
        """In an interrupt, the handle of the interrupted thread; otherwise 0."""
        return self._raw[11]

    @property
    def thread(self) -> Optional[Object]:
        """The thread that recorded the event, or of a scheduling record, if the trace has it."""
        found = self._trace.objects.get(self._raw[9])
        if found is None and _SWITCH_IN <= self._raw[5] <= _CPU_TIME:
            data = self.data or {}  # a thread that has not recorded an event yet has no handle
            found = self._trace.thread_of(data.get("tid", 0))
        return found

    @property
    def is_call(self) -> bool:
        """True for a recorded call of an unchanged program."""
        return self._raw[12] >= 0

    @property
    def phase(self) -> Optional[int]:
        """CALL_WHOLE, CALL_BEGINS (a wait begins) or CALL_ENDS; None: the event is no call."""
        return None if self._raw[12] < 0 else self._raw[12]

    @property
    def object(self) -> Optional[Object]:
        """The object of a call."""
        return self._trace.objects.get(self._raw[15])

    @property
    def waker(self) -> Optional[Object]:
        """The thread that ended the wait of a call."""
        return self._trace.objects.get(self._raw[16])

    @property
    def raw(self) -> bytes:
        """The data as bytes."""
        offset = self._raw[3]
        return self._chunk[offset:offset + self._raw[4]]

    @property
    def data(self) -> Optional[Dict[str, Any]]:
        """The fields of the data by their names, as far as the data have them; None: the type has no description."""
        trace, raw = self._trace, self._raw
        layout = trace.layout_of(raw[5])
        if layout is None or (raw[5] in trace.call_types and raw[12] < 0):
            return None
        offset = raw[3]
        data = self._chunk[offset:offset + raw[4]]
        if trace.is_swapped:
            data = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
        fields = layout.decode(data)
        if raw[12] == CALL_BEGINS:
            fields.pop("result", None)  # it is not known yet
        return fields

    def __repr__(self) -> str:
        return f"<txtrace.Event {self.number} {self.name} ns={self.ns} data={self.data!r}>"


class Trace:
    """A trace file that is open.  Iterate over it as often as you like; each iteration reads the file anew.

    After the last event, an iteration raises TraceError if events could not be read because the file is damaged there,
    or was cut meanwhile.  With damaged=True it does not, and loss.unreadable counts them.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], running: bool = False, damaged: bool = False,
                 tick_ns: Optional[float] = None):
        self.path: str = os.fspath(path)
        self._flags = (OPEN_RUNNING if running else 0) | (OPEN_DAMAGED if damaged else 0)
        self._tick_ns = tick_ns
        self._lock = threading.RLock()  # a thread may close the trace while others use _fd and _trid
        self._fd = -1
        self._trid: Optional[int] = None
        self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        # The tool opens the file later, when the program may have another working directory.
        self._full_path = self.path if os.path.isabs(self.path) else os.path.join(os.getcwd(), self.path)
        try:
            self._trid = self._open()
            self._read_facts()
        except BaseException:
            self.close()
            raise

    def _open(self) -> int:
        trid = ffi.new("trace_id_t *")
        with self._lock:
            if self._fd < 0:
                self._need_open()
            error = lib.txtrace_open(self._fd, self._flags, trid)
            check(error, self.path, self._advice() if error == errno.EINVAL else "")
        if self._tick_ns is not None:
            error = lib.txtrace_set_tick(trid[0], self._tick_ns)
            if error:
                lib.posix_trace_close(trid[0])
                check(error, f"{self.path}: tick_ns")
        return int(trid[0])

    def _advice(self) -> str:
        """Return what may help if the library refuses the file."""
        trid = ffi.new("trace_id_t *")
        for flag, advice in ((OPEN_RUNNING, "it is being written; running=True reads the events that it has now"),
                             (OPEN_DAMAGED, "it is cut or damaged; damaged=True reads the events that are whole")):
            if lib.txtrace_open(self._fd, self._flags | flag, trid) == 0:
                lib.posix_trace_close(trid[0])
                return advice
        return ("neither a log nor a whole trace buffer of ThreadX; `txtrace pack` makes a log of a stream, and a "
                "compressed file must be unpacked")

    def _read_origins(self) -> List[Origin]:
        raw = ffi.new("struct txtrace_origin *")
        origins: List[Origin] = []
        while lib.txtrace_get_origin(self._trid, len(origins), raw) == 0:
            origins.append(Origin(text(ffi.string(raw.name)), raw.host, text(ffi.string(raw.host_name)),
                                  text(ffi.string(raw.boot_id)), text(ffi.string(raw.uuid)), raw.pid, raw.shift_ns,
                                  raw.drift / 1e12, raw.uncertainty_ns if raw.uncertainty_ns >= 0 else None))
        return origins

    def _read_facts(self) -> None:
        info = ffi.new("struct txtrace_file_info *")
        loss = ffi.new("struct txtrace_loss *")
        status = ffi.new("struct posix_trace_status_info *")
        check(lib.txtrace_get_file_info(self._trid, info), self.path)
        check(lib.txtrace_get_loss(self._trid, loss), self.path)
        check(lib.posix_trace_get_status(self._trid, status), self.path)
        #: True: the file is a trace buffer of ThreadX, or a copy of a ring, and no log of posixtrace.
        self.is_foreign: bool = info.foreign != 0
        self.is_swapped: bool = self.is_foreign and info.byte_swapped != 0
        #: False: its writer ended before it had completed the log, or is still writing it; or it is cut or damaged.
        self.is_complete: bool = info.complete != 0 and not info.damaged and not info.running
        #: How many events the log lacks.  An iteration that reaches the end replaces it, with what could not be read.
        self.loss = Loss(loss.overwritten, loss.dropped, loss.abandoned, info.nr_log_lost, 0,
                         status.posix_log_overrun_status != NO_OVERRUN or not (self.is_complete or info.running))
        #: The logs that a merged log was made of; of a log that is not merged, itself.  A trace buffer has none.
        self.origins: List[Origin] = self._read_origins()
        #: The names of the hosts by their numbers.
        self.hosts: Dict[int, str] = {origin.host: origin.host_name for origin in self.origins}
        self._types: Dict[int, EventType] = {}
        self._layouts: Dict[int, Optional[Layout]] = {}
        self.call_types: "set[int]" = set()
        #: The threads and other objects by their handles.
        self.objects: Dict[int, Object] = self._read_objects()
        self._threads: Dict[int, Optional[Object]] = {}  # None: several threads had this tid
        for found in self.objects.values():
            if found.type == _THREAD and found.tid:  # the kernel's idle threads have no tid
                self._threads[found.tid] = None if found.tid in self._threads else found

    def _read_objects(self) -> Dict[int, Object]:
        objects: Dict[int, Object] = {}
        raw = ffi.new("struct txtrace_object *")
        end = ffi.new("int *")
        check(lib.txtrace_rewind_objects(self._trid), self.path)
        for _ in range(_TYPES_MOST):
            check(lib.txtrace_getnext_object(self._trid, raw, end), self.path)
            if end[0]:
                break
            objects[raw.handle] = Object(raw.handle, raw.type, text(ffi.string(raw.name)), raw.pid, raw.tid,
                                         raw.priority, raw.released != 0, raw.address, raw.site)
        return objects

    # Types.

    def event_type(self, number: int) -> EventType:
        """Return the event type with this number."""
        known = self._types.get(number)
        if known is None:
            with self._lock:
                known = self._types[number] = self._read_type(self._need_open(), number)
        return known

    def layout_of(self, number: int) -> Optional[Layout]:
        """Return the layout of the event type with this number, or None if it has none."""
        if number not in self._layouts:
            self._layouts[number] = self.event_type(number).layout
        return self._layouts[number]

    def _read_type(self, trid: int, number: int) -> EventType:
        name = ffi.new(f"char[{NAME_BYTES}]")
        layout = ffi.new("struct txtrace_layout **")
        length = ffi.new("size_t *")
        description = ffi.new("char[4096]")
        if lib.posix_trace_eventid_get_name(trid, number, name) != 0:
            return EventType(number, f"type {number}", None, "")
        found = None
        error = lib.txtrace_get_layout(trid, number, layout)
        if error not in (0, _ENOENT):
            check(error, self.path)
        if not error:
            try:
                found = Layout(layout[0])
            finally:
                lib.txtrace_free_layout(layout[0])
        if lib.txtrace_get_type_description(trid, number, description, 4096, length) != 0:
            length[0] = 0
        described = text(ffi.buffer(description, length[0])[:])
        if found is not None and not described and number > 16 and not self.is_foreign:
            self.call_types.add(number)  # only recorded calls have a layout without a description
        return EventType(number, text(ffi.string(name)), found, described)

    @property
    def types(self) -> Dict[str, EventType]:
        """All event types of the trace by their names."""
        number = ffi.new("trace_event_id_t *")
        end = ffi.new("int *")
        types: Dict[str, EventType] = {}
        with self._lock:
            trid = self._need_open()
            check(lib.posix_trace_eventtypelist_rewind(trid), self.path)
            for _ in range(_TYPES_MOST):
                check(lib.posix_trace_eventtypelist_getnext_id(trid, number, end), self.path)
                if end[0]:
                    break
                found = self.event_type(number[0])
                types[found.name] = found
        return types

    def thread_of(self, tid: int) -> Optional[Object]:
        """Return the thread with this thread id, or None if there is none, or more than one."""
        return self._threads.get(tid)

    # Events.

    def batches(self) -> Iterator[Tuple[int, bytes, bytes]]:
        """Yield (number of the first event, array of struct txtrace_event, data) until the end of the file.

        Then raise TraceError if events could not be read, and the trace was not opened with damaged=True.
        """
        trid = self._open()
        try:
            info = ffi.new("struct txtrace_file_info *")
            check(lib.txtrace_get_file_info(trid, info), self.path)
            is_running = info.running != 0
            events = ffi.new(f"struct txtrace_event[{BATCH_EVENTS}]")
            data = ffi.new(f"unsigned char[{BATCH_BYTES}]")
            read = ffi.new("size_t *")
            first = 0
            while True:
                self._need_open()
                check(lib.txtrace_getnext_events(trid, events, BATCH_EVENTS, data, BATCH_BYTES, read), self.path)
                number = read[0]
                if number == 0:
                    check(lib.txtrace_get_file_info(trid, info), self.path)
                    self._note_unreadable(info.nr_missing, is_running)
                    return
                last = events[number - 1]
                yield first, ffi.buffer(events, number * EVENT_SIZE)[:], ffi.buffer(data, last.offset + last.length)[:]
                first += number
        finally:
            lib.posix_trace_close(trid)

    def _note_unreadable(self, number: int, is_running: bool) -> None:
        """Note at the end of an iteration how many events could not be read."""
        self.loss = self.loss._replace(unreadable=number)
        # The writer of a running log may have overwritten them meanwhile; this is no damage.
        if number and not is_running and not self._flags & OPEN_DAMAGED:
            raise TraceError(errno.EBADMSG, f"{self.path}: {number} events could not be read: the file is damaged "
                             "there; damaged=True reads the others without this error")

    def __iter__(self) -> Iterator[Event]:
        unpack = struct.Struct(EVENT_FORMAT).iter_unpack
        types = self._types
        for number, events, chunk in self.batches():
            for raw in unpack(events):
                if raw[5] not in types or self._trid is None:
                    self._need_open()
                    self.event_type(raw[5])  # so that the event has its type when the trace is closed
                yield Event(self, raw, chunk, number)
                number += 1

    def waits(self, expression: Optional[str] = None) -> Iterator[Dict[str, Any]]:
        """Yield the waits of threads, as `txtrace waits --format json` prints them.

        expression is a filter, as for --filter; see txtrace-filter(7).
        """
        return _waits.waits(self._full_path, expression, self._tick_ns)

    def context_name(self, context: int) -> str:
        """Return the name of a thread, or "interrupt", "initialization", "-" or the handle."""
        found = self.objects.get(context)
        if found is not None:
            return found.name
        return _CONTEXTS.get(context, "-" if context == 0 else f"{context:08x}")

    # Arrays.

    def array(self, name: Optional[str] = None) -> Any:
        """Return the events as a NumPy array: all, or those of an event type with the fields of its data."""
        from . import _arrays  # pylint: disable=import-outside-toplevel  # NumPy may be missing
        return _arrays.array(self, name)

    def frame(self, name: Optional[str] = None) -> Any:
        """Return the same as a pandas DataFrame, with names of threads, types and enums."""
        from . import _arrays  # pylint: disable=import-outside-toplevel
        return _arrays.frame(self, name)

    # The end.

    def _need_open(self) -> int:
        trid = self._trid
        if trid is None:
            raise ValueError(f"{self.path}: the trace is closed; read its events and types before close(), or before "
                             "the end of `with`")
        return trid

    def close(self) -> None:
        """Close the file.  Events that were read stay valid; an iteration that has not ended raises ValueError."""
        with self._lock:
            if self._trid is not None:
                lib.posix_trace_close(self._trid)
                self._trid = None
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()

    def __repr__(self) -> str:
        return f"<txtrace.Trace {self.path!r}>"


def open(path: Union[str, "os.PathLike[str]"], running: bool = False, damaged: bool = False,
         tick_ns: Optional[float] = None) -> Trace:
    """Open a trace file.

    running: also a log that is being written, with the events that it has now.
    damaged: also a log that was cut or damaged, with the events that are whole.  Without it, an iteration over a log
        that has a damaged part raises TraceError at its end.
    tick_ns: length of a tick of a trace buffer of ThreadX.
    """
    return Trace(path, running, damaged, tick_ns)


