# SPDX-License-Identifier: MIT
"""Events as arrays of NumPy, and as frames of pandas."""

import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy

from ._abi import EVENT_SIZE
from ._calls import CALL_BEGINS
from ._layout import BOOL, CHAR, ENUM, FLOAT, SIGNED, STRUCT, Field, Layout

if TYPE_CHECKING:
    from ._trace import EventType, Trace

_EVENT = numpy.dtype([
    ("ns", "u8"), ("address", "u8"), ("pthread", "u8"), ("offset", numpy.uintp), ("length", numpy.uintp),
    ("type", "u4"), ("pid", "i4"), ("truncation", "i4"), ("cpu", "u4"), ("context", "u4"), ("priority", "i4"),
    ("interrupted", "u4"), ("phase", "i4"), ("native", "u4"), ("state", "u4"), ("object", "u4"), ("waker", "u4"),
    ("reserved", "u8", 2)],
    align=True)
_COLUMNS = ("ns", "type", "pid", "cpu", "context", "priority", "address", "phase", "object", "waker")
_FRAME_COLUMNS = ("time", "event", "thread")  # those that a frame has in addition


def _element(field: Field, order: str) -> Any:
    """Return the dtype of one element, or None if NumPy has none for it, or for a member of it."""
    if field.kind == STRUCT:
        whole = _struct(field.members, field.size, order)
        return whole if len(whole.names or ()) == len(field.members) else None
    if field.bits:
        return None
    if field.kind == FLOAT and field.size > 8:
        return numpy.dtype(numpy.longdouble) if numpy.dtype(numpy.longdouble).itemsize == field.size else None
    is_signed = field.kind == SIGNED or (field.kind == ENUM and field.is_signed)
    letter = "f" if field.kind == FLOAT else "?" if field.kind == BOOL else "i" if is_signed else "u"
    return numpy.dtype("?") if letter == "?" else numpy.dtype(f"{order}{letter}{field.size}")


def _type_of(field: Field, order: str) -> Any:
    dims = field.dims
    if dims and dims[0] == 0:
        return None  # each event may have another number of elements
    if field.kind == CHAR:
        size = dims[-1] if dims else 1
        return numpy.dtype((f"S{size}", dims[:-1])) if len(dims) > 1 else numpy.dtype(f"S{size}")
    element = _element(field, order)
    return None if element is None else numpy.dtype((element, dims)) if dims else element


def _struct(fields: Tuple[Field, ...], size: int, order: str) -> Any:
    names: List[str] = []
    formats: List[Any] = []
    offsets: List[int] = []
    for field in fields:
        found = _type_of(field, order)
        if found is not None:
            names.append(field.name)
            formats.append(found)
            offsets.append(field.bit // 8)
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def _bits(rows: Any, field: Field, is_big: bool) -> Any:
    """Return a bit-field of all rows of bytes."""
    first, end = field.bit // 8, (field.bit + field.bits + 7) // 8
    number = numpy.zeros(rows.shape[:-1], "u8")
    where = range(first, end) if is_big else range(end - 1, first - 1, -1)
    top = field.bit + field.bits  # a field of 64 bits may touch 9 bytes, so shift while the bytes are put together
    for byte in where:
        low, high = max(field.bit, byte * 8), min(top, byte * 8 + 8)
        shift = byte * 8 + 8 - high if is_big else low - byte * 8
        part = (rows[..., byte] >> numpy.uint8(shift)) & numpy.uint8((1 << (high - low)) - 1)
        number = (number << numpy.uint64(high - low)) | part.astype("u8")
    if field.kind == BOOL:
        return number != 0
    if field.kind == SIGNED or (field.kind == ENUM and field.is_signed):
        unused = numpy.int64(64 - field.bits)
        return (number.astype("i8") << unused) >> unused
    return number


def _decode(fields: Tuple[Field, ...], size: int, rows: Any, is_big: bool) -> Dict[str, Any]:
    """Return the columns of the fields of rows of bytes, which are the last axis and contiguous."""
    dtype = _struct(fields, size, ">" if is_big else "<")
    table = rows.view(dtype).reshape(rows.shape[:-1]) if dtype.names and size else None
    columns: Dict[str, Any] = {}
    for field in fields:
        if table is not None and field.name in (dtype.names or ()):
            columns[field.name] = table[field.name]
        elif field.bits and not field.dims:
            columns[field.name] = _bits(rows, field, is_big)
        elif field.kind == STRUCT and 0 not in field.dims:
            found = _structures(field, rows, is_big)
            if found.dtype.names:
                columns[field.name] = found
    return columns


def _structures(field: Field, rows: Any, is_big: bool) -> Any:
    """Return structures with members for which NumPy has no dtype, such as bit-fields: these become whole numbers."""
    first, number = field.bit // 8, 1
    for size in field.dims:
        number *= size
    parts = numpy.ascontiguousarray(rows[..., first:first + number * field.size])
    parts = parts.reshape(rows.shape[:-1] + field.dims + (field.size,))
    members = _decode(field.members, field.size, parts, is_big)
    nr_axes = parts.ndim - 1
    found = numpy.zeros(parts.shape[:-1], [(name, value.dtype, value.shape[nr_axes:])
                                           for name, value in members.items()])
    for name, value in members.items():
        found[name] = value
    return found


def _rows(events: Any, data: Any, size: int) -> Any:
    """Return the first `size` bytes of the data of each event."""
    return data[events["offset"].astype("i8")[:, None] + numpy.arange(size)]


def _need_fields(trace: "Trace", name: str) -> "EventType":
    found = trace.types.get(name)
    if found is None:
        raise KeyError(f"{trace.path} has no event type {name!r}")
    if trace.is_swapped:
        raise ValueError(f"{trace.path} has the byte order of another machine: iterate over its events")
    return found


def array(trace: "Trace", name: Optional[str], nr_calls: int = 1) -> Any:
    """Return the events as a structured array: see Trace.array().  The user is so many calls above this one."""
    wanted = None if name is None else _need_fields(trace, name)
    layout = wanted.layout if wanted else None
    tables: List[Dict[str, Any]] = []
    nr_short = 0
    for first, raw, chunk in trace.batches():
        events = numpy.frombuffer(raw, _EVENT)
        numbers = numpy.arange(first, first + len(events), dtype="u8")
        if wanted is not None:
            mine = events["type"] == wanted.id
            if wanted.id in trace.call_types:
                mine &= events["phase"] >= 0
            events, numbers = events[mine], numbers[mine]
        if layout is not None:
            whole = events["length"] >= layout.size
            nr_short += len(events) - int(whole.sum())
            events, numbers = events[whole], numbers[whole]
        if len(events) == 0:
            continue
        tables.append(_columns(numbers, events, numpy.frombuffer(chunk, "u1"), layout))
    if nr_short:
        warnings.warn(f"{trace.path}: {nr_short} events {name} have less data than their description, and are left out",
                      stacklevel=nr_calls + 2)
    if not tables:  # the columns are the same if there are no events
        tables.append(_columns(numpy.zeros(0, "u8"), numpy.zeros(0, _EVENT), numpy.zeros(0, "u1"), layout))
    return _join(tables)


def _columns(numbers: Any, events: Any, data: Any, layout: Optional[Layout]) -> Dict[str, Any]:
    columns = {"number": numbers, **{column: events[column] for column in _COLUMNS}}
    if layout is not None:
        rows = numpy.ascontiguousarray(_rows(events, data, layout.size))
        columns.update({_free(column): value
                        for column, value in _decode(layout.fields, layout.size, rows, layout.is_big).items()})
    return columns


def _free(name: str) -> str:
    """Return the column of a field; one with the name of a column of all events gets "data." in front."""
    return f"data.{name}" if name in ("number", *_COLUMNS) else name


def _join(tables: List[Dict[str, Any]]) -> Any:
    columns = {column: numpy.concatenate([table[column] for table in tables]) for column in tables[0]}
    table = numpy.zeros(len(columns["number"]),
                        [(column, value.dtype, value.shape[1:]) for column, value in columns.items()])
    for column, value in columns.items():
        table[column] = value
    return table


def _flatten(name: str, value: Any, field: Optional[Field], columns: Dict[str, Any]) -> None:
    """Make one column of each single value: at[0].x.  The field is None if the value is of all events."""
    if value.ndim > 1:
        for i in range(value.shape[1]):
            _flatten(f"{name}[{i}]", value[:, i], field, columns)
    elif value.dtype.names:
        for member in field.members if field is not None else ():
            if member.name in value.dtype.names:
                _flatten(f"{name}.{member.name}", value[member.name], member, columns)
    elif field is not None and field.kind == ENUM:
        names = field.names
        columns[name] = _named(value, lambda number: names.get(int(number), str(number)))
    elif value.dtype.kind == "S":
        columns[name] = [raw.split(b"\0", 1)[0].decode("utf-8", "surrogateescape") for raw in value.tolist()]
    else:
        columns[name] = value.astype(value.dtype.newbyteorder("="))


def frame(trace: "Trace", name: Optional[str]) -> Any:
    """Return the events as a DataFrame: see Trace.frame()."""
    import pandas  # pylint: disable=import-outside-toplevel

    table = array(trace, name, 2)
    layout = trace.types[name].layout if name is not None else None
    fields = {_free(field.name): field for field in layout.fields} if layout is not None else {}
    columns: Dict[str, Any] = {}
    for column in table.dtype.names:
        _flatten(f"data.{column}" if column in _FRAME_COLUMNS else column, table[column], fields.get(column), columns)
    if "result" in columns and name is not None and trace.types[name].id in trace.call_types:
        columns["result"] = pandas.Series(columns["result"]).astype("Int64").mask(table["phase"] == CALL_BEGINS)
    columns["time"] = pandas.to_datetime(table["ns"], unit="ns", utc=True) if not trace.is_foreign else table["ns"]
    columns["event"] = _named(table["type"], lambda number: trace.event_type(int(number)).name)
    columns["thread"] = _named(table["context"], lambda handle: trace.context_name(int(handle)))
    return pandas.DataFrame(columns)


def _named(numbers: Any, name: Any) -> Any:
    import pandas  # pylint: disable=import-outside-toplevel

    values, codes = numpy.unique(numbers, return_inverse=True)
    labels = [name(value) for value in values]
    unique = list(dict.fromkeys(labels))
    where = numpy.array([unique.index(label) for label in labels], dtype="i8")
    return pandas.Categorical.from_codes(where[codes] if len(labels) else codes, unique)


assert _EVENT.itemsize == EVENT_SIZE
