# SPDX-License-Identifier: MIT
"""The fields of the data of an event type, and their values."""

import struct
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ._abi import ffi, text

UNSIGNED, SIGNED, FLOAT, BOOL, CHAR, POINTER, ENUM, STRUCT = range(8)
KINDS = ("unsigned", "signed", "float", "bool", "char", "pointer", "enum", "struct")

_MISSING = object()
_FORMATS = {
    (UNSIGNED, 1): "B", (UNSIGNED, 2): "H", (UNSIGNED, 4): "I", (UNSIGNED, 8): "Q",
    (SIGNED, 1): "b", (SIGNED, 2): "h", (SIGNED, 4): "i", (SIGNED, 8): "q",
    (POINTER, 4): "I", (POINTER, 8): "Q", (FLOAT, 4): "f", (FLOAT, 8): "d", (BOOL, 1): "?", (CHAR, 1): "B",
}


class Field(NamedTuple):
    """A field of the data of an event type: see txtrace_get_layout(3)."""

    name: str
    kind: int
    bit: int
    bits: int
    size: int
    dims: Tuple[int, ...]  # the first 0: as many elements as the rest of the data has
    names: Dict[int, str]  # of an enum
    is_signed: bool
    members: Tuple["Field", ...]  # of a structure

    @property
    def is_text(self) -> bool:
        """True for an array of characters, or an array of such arrays."""
        return self.kind == CHAR and len(self.dims) > 0

    def format(self) -> Optional[str]:
        """Return the letter of the module struct for one element, or None if there is none."""
        kind = self.kind
        if kind == ENUM:
            kind = SIGNED if self.is_signed else UNSIGNED
        return None if self.bits else _FORMATS.get((kind, self.size))


def _as_text(raw: bytes) -> str:
    return text(raw.split(b"\0", 1)[0])


def _as_char(number: int) -> str:
    return text(bytes((number,)) if number else b"")


class Layout:
    """The fields of an event type: field names, kinds and places, and the decoding of data."""

    def __init__(self, raw: Any):
        self.size: int = raw.size
        self.is_big: bool = raw.is_big != 0
        self.is_rest: bool = raw.is_rest != 0
        self._order = ">" if self.is_big else "<"
        shared: Dict[Any, Dict[int, str]] = {}
        self.fields: Tuple[Field, ...] = self._read(raw, 0, raw.nr_fields, shared)
        self._simple = self._make_simple()

    def _read(self, raw: Any, first: int, end: int, shared: Dict[Any, Dict[int, str]]) -> Tuple[Field, ...]:
        fields: List[Field] = []
        while first < end:
            field = raw.field[first]
            fields.append(Field(
                text(ffi.string(field.name)), field.kind, field.bit, field.bits, field.size,
                tuple(field.dim[i] for i in range(field.nr_dims)), self._names(field, shared), field.is_signed != 0,
                self._read(raw, first + 1, first + 1 + field.nr_members, shared)))
            first += 1 + field.nr_members
        return tuple(fields)

    @staticmethod
    def _names(field: Any, shared: Dict[Any, Dict[int, str]]) -> Dict[int, str]:
        if field.kind != ENUM:
            return {}
        key = int(ffi.cast("uintptr_t", field.names))
        if key not in shared:
            # The first name of a number counts.  An enum without a sign has numbers without a sign.
            mask = (1 << 64) - 1
            shared[key] = {}
            for i in range(field.nr_names):
                value = field.names[i].value
                number = value if field.is_signed else value & mask
                shared[key].setdefault(number, text(ffi.string(field.names[i].name)))
        return shared[key]

    # Data without nested parts are decoded with one call of struct.

    def _make_simple(self) -> Optional[Tuple[struct.Struct, Tuple[str, ...], List[Tuple[int, Callable[[Any], Any]]]]]:
        letters, at = self._order, 0
        convert: List[Tuple[int, Callable[[Any], Any]]] = []
        for i, field in enumerate(self.fields):
            offset, letter = field.bit // 8, field.format()
            is_array = len(field.dims) > 0 and not (field.kind == CHAR and len(field.dims) == 1 and field.dims[0] > 0)
            if letter is None or is_array or offset < at:
                return None
            letters += "x" * (offset - at)
            at = offset + field.size
            if field.is_text:
                letters += f"{field.dims[0]}s"
                at = offset + field.dims[0]
                convert.append((i, _as_text))
            else:
                letters += letter
                if field.kind == ENUM:
                    convert.append((i, lambda number, names=field.names: names.get(number, number)))  # type: ignore
                elif field.kind == CHAR:
                    convert.append((i, _as_char))
        return struct.Struct(letters), tuple(field.name for field in self.fields), convert

    def decode(self, data: bytes) -> Dict[str, Any]:
        """Return the values that the data have whole, and the beginning of a text, by their names."""
        simple = self._simple
        if simple is not None and len(data) >= simple[0].size:
            values: Any = simple[0].unpack_from(data)
            if simple[2]:
                values = list(values)
                for i, convert in simple[2]:
                    values[i] = convert(values[i])
            return dict(zip(simple[1], values))
        return self._struct(self.fields, data, 0)

    def _struct(self, fields: Tuple[Field, ...], data: bytes, bit: int) -> Dict[str, Any]:
        values: Dict[str, Any] = {}
        for field in fields:
            at = bit + field.bit
            is_rest = len(field.dims) > 0 and field.dims[0] == 0
            if at > len(data) * 8 or (at == len(data) * 8 and not is_rest):
                continue
            value = self._array(field, field.dims, data, at) if field.dims else self._element(field, data, at)
            if value is not _MISSING:
                values[field.name] = value
        return values

    def _array(self, field: Field, dims: Tuple[int, ...], data: bytes, bit: int) -> Any:
        stride = field.size
        for size in dims[1:]:
            stride *= size
        number = dims[0] if dims[0] > 0 else (len(data) - bit // 8) // stride
        if field.kind == CHAR and len(dims) == 1:
            return _as_text(data[bit // 8:bit // 8 + number])
        values = []
        for i in range(number):
            at = bit + i * stride * 8
            if at >= len(data) * 8:
                break
            value = self._array(field, dims[1:], data, at) if len(dims) > 1 else self._element(field, data, at)
            if value is not _MISSING:
                values.append(value)
        return values

    def _element(self, field: Field, data: bytes, bit: int) -> Any:
        if field.kind == STRUCT:
            return self._struct(field.members, data, bit)
        bits = field.bits or field.size * 8
        if bit + bits > len(data) * 8:
            return _MISSING
        letter = field.format()
        if letter is not None:
            number = struct.unpack_from(self._order + letter, data, bit // 8)[0]
        elif field.kind == FLOAT:
            return _long_double(data[bit // 8:bit // 8 + field.size], self.is_big)
        else:
            number = self._bits(data, bit, bits)
            if field.kind == SIGNED or (field.kind == ENUM and field.is_signed):
                number -= (number >> (bits - 1)) << bits
        if field.kind == CHAR:
            return _as_char(number)
        if field.kind == BOOL:
            return number != 0
        return field.names.get(number, number) if field.kind == ENUM else number

    def _bits(self, data: bytes, bit: int, bits: int) -> int:
        first, end = bit // 8, (bit + bits + 7) // 8
        number = int.from_bytes(data[first:end], "big" if self.is_big else "little")
        number >>= end * 8 - bit - bits if self.is_big else bit - first * 8
        return number & ((1 << bits) - 1)


def _long_double(raw: bytes, is_big: bool) -> float:
    """Return a long double as a float: x87 of 12 or 16 bytes, or IEEE 754 of 16 bytes."""
    del is_big
    pointer = ffi.new("long double *")
    size = min(len(raw), ffi.sizeof("long double"))  # of 12 and 16 bytes of an x87, 10 are used
    ffi.buffer(pointer)[:size] = raw[:size]
    return float(pointer[0])
