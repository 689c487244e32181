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


def _element(field: Field, order: str) -> Any:
    """Return the dtype of one element, or None if NumPy has none for it."""
    if field.kind == STRUCT:
        return _struct(field.members, field.size, order)
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


def _bit_fields(layout: Layout) -> List[Field]:
    return [field for field in layout.fields if field.bits and not field.dims]


def _bits(rows: Any, field: Field, is_big: bool) -> Any:
    """Return a bit-field of all rows of bytes."""
    first, end = field.bit // 8, (field.bit + field.bits + 7) // 8
    number = numpy.zeros(len(rows), "u8")
    where = range(first, end) if is_big else range(end - 1, first - 1, -1)
    top = field.bit + field.bits  # a field of 64 bits may touch 9 bytes, so shift while the bytes are put together
    for byte in where:
        low, high = max(field.bit, byte * 8), min(top, byte * 8 + 8)
        shift = byte * 8 + 8 - high if is_big else low - byte * 8
        part = (rows[:, byte] >> numpy.uint8(shift)) & numpy.uint8((1 << (high - low)) - 1)
        number = (number << numpy.uint64(high - low)) | part.astype("u8")
    if field.kind == BOOL:
        return number != 0
    if field.kind == SIGNED or (field.kind == ENUM and field.is_signed):
        unused = numpy.int64(64 - field.bits)
        return (number.astype("i8") << unused) >> unused
    return number


def _decode(layout: Layout, rows: Any) -> Dict[str, Any]:
    """Return the columns of the fields of rows of bytes."""
    dtype = _struct(layout.fields, layout.size, ">" if layout.is_big else "<")
    table = rows.view(dtype).reshape(len(rows)) if dtype.names and layout.size else None
    bits = {field.name: _bits(rows, field, layout.is_big) for field in _bit_fields(layout)}
    columns: Dict[str, Any] = {}
    for field in layout.fields:
        if field.name in bits:
            columns[field.name] = bits[field.name]
        elif table is not None and field.name in (dtype.names or ()):
            columns[field.name] = table[field.name]
    return columns


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


def array(trace: "Trace", name: Optional[str]) -> Any:
    """Return the events as a structured array: see Trace.array()."""
    wanted = None if name is None else _need_fields(trace, name)
    layout = wanted.layout if wanted else None
    parts: Dict[str, List[Any]] = {}
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
        columns = {"number": numbers, **{column: events[column] for column in _COLUMNS}}
        if layout is not None:
            rows = numpy.ascontiguousarray(_rows(events, numpy.frombuffer(chunk, "u1"), layout.size))
            columns.update({_free(column, columns): value for column, value in _decode(layout, rows).items()})
        for column, value in columns.items():
            parts.setdefault(column, []).append(value)
    if nr_short:
        warnings.warn(f"{trace.path}: {nr_short} events {name} have less data than their description, and are left out",
                      stacklevel=3)
    return _join(parts)


def _free(column: str, taken: Dict[str, Any]) -> str:
    """Return the name of a column; a field with the name of a column of all events gets "data." in front."""
    return f"data.{column}" if column in taken else column


def _join(parts: Dict[str, List[Any]]) -> Any:
    if not parts:
        return numpy.zeros(0, [("number", "u8"), *((column, _EVENT[column]) for column in _COLUMNS)])
    columns = {column: numpy.concatenate(values) for column, values in parts.items()}
    table = numpy.zeros(len(columns["number"]),
                        [(column, value.dtype, value.shape[1:]) for column, value in columns.items()])
    for column, value in columns.items():
        table[column] = value
    return table


def _flatten(name: str, value: Any, columns: Dict[str, Any]) -> None:
    """Make one column of each single value: at[0].x."""
    if value.ndim > 1:
        for i in range(value.shape[1]):
            _flatten(f"{name}[{i}]", value[:, i], columns)
    elif value.dtype.names:
        for member in value.dtype.names:
            _flatten(f"{name}.{member}", value[member], columns)
    elif value.dtype.kind == "S":
        columns[name] = [raw.split(b"\0", 1)[0].decode("utf-8", "surrogateescape") for raw in value.tolist()]
    else:
        columns[name] = value.astype(value.dtype.newbyteorder("="))


def frame(trace: "Trace", name: Optional[str]) -> Any:
    """Return the events as a DataFrame: see Trace.frame()."""
    import pandas  # pylint: disable=import-outside-toplevel

    table = array(trace, name)
    columns: Dict[str, Any] = {}
    for column in table.dtype.names:
        _flatten(column, table[column], columns)
    if "result" in columns and name is not None and trace.types[name].id in trace.call_types:
        columns["result"] = pandas.Series(columns["result"]).astype("Int64").mask(table["phase"] == CALL_BEGINS)
    columns["time"] = pandas.to_datetime(table["ns"], unit="ns", utc=True) if not trace.is_foreign else table["ns"]
    columns["event"] = _named(pandas, table["type"], lambda number: trace.event_type(int(number)).name)
    columns["thread"] = _named(pandas, table["context"], lambda handle: trace.context_name(int(handle)))
    layout = trace.types[name].layout if name is not None else None
    for field in layout.fields if layout is not None else ():
        column = field.name if field.name not in ("number", *_COLUMNS) else f"data.{field.name}"
        if field.kind == ENUM and not field.dims and column in columns:
            columns[column] = _named(pandas, table[column],
                                     lambda number, names=field.names: names.get(int(number), str(number)))
    return pandas.DataFrame(columns)


def _named(pandas: Any, numbers: Any, name: Any) -> Any:
    values, codes = numpy.unique(numbers, return_inverse=True)
    labels = [name(value) for value in values]
    unique = list(dict.fromkeys(labels))
    where = numpy.array([unique.index(label) for label in labels], dtype="i8")
    return pandas.Categorical.from_codes(where[codes] if len(labels) else codes, unique)


assert _EVENT.itemsize == EVENT_SIZE
