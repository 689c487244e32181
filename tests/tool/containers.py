#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""containers.py KIND FILE...: write a file that has trace buffers as memory at known addresses.

	core64, core32be	an ELF core file: FILE in two segments that follow each other in memory, the second one
				first in the file; FILE again in a segment of its own; a segment of zeros
	physical		an ELF core file without virtual addresses
	overlap			two segments with the same addresses and different bytes
	mdmp, mdmp64		a minidump with a memory list
	repeated		an ELF core file whose segments all have the same bytes of the file
The output is standard output.
"""
import struct
import sys

AT = 0x20000000


def core(segments, bits=64, order="<", physical=False):
    """segments: (address, bytes) in the order of the file; the table has them the other way round."""
    kind = 2 if bits == 64 else 1
    word = "Q" if bits == 64 else "I"
    ident = b"\x7fELF" + bytes([kind, 1 if order == "<" else 2, 1]) + bytes(9)
    header_size, entry_size = (64, 56) if bits == 64 else (52, 32)
    header = struct.pack(order + "HHI" + 3 * word + "IHHHHHH", 4, 40, 1, 0, header_size, 0, 0, header_size,
                         entry_size, len(segments), 0, 0, 0)
    at = header_size + entry_size * len(segments)
    table, body = [], b""
    for address, data in segments:
        virtual = 0 if physical else address
        if bits == 64:
            entry = struct.pack(order + "IIQQQQQQ", 1, 6, at + len(body), virtual, address, len(data), len(data), 1)
        else:
            entry = struct.pack(order + "IIIIIIII", 1, at + len(body), virtual, address, len(data), len(data), 6, 1)
        table.append(entry)
        body += data
    return ident + header + b"".join(reversed(table)) + body


def minidump(memory, is_64):
    header, directory = 32, 12
    at = header + directory
    if is_64:
        size = 16 + 16 * len(memory)
        listing = struct.pack("<QQ", len(memory), at + size)
        for address, data in memory:
            listing += struct.pack("<QQ", address, len(data))
    else:
        size = 4 + 16 * len(memory)
        listing, offset = struct.pack("<I", len(memory)), at + size
        for address, data in memory:
            listing += struct.pack("<QII", address, len(data), offset)
            offset += len(data)
    return (struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, 1, header, 0, 0, 0) +
            struct.pack("<III", 9 if is_64 else 5, size, at) + listing + b"".join(data for _, data in memory))


def main():
    kind = sys.argv[1]
    data = [open(name, "rb").read() for name in sys.argv[2:]]
    whole = data[0]
    if kind in ("core64", "core32be"):
        order, bits = ("<", 64) if kind == "core64" else (">", 32)
        segments = [(AT + 1000, whole[1000:]), (AT, whole[:1000]), (0x40000000, b"TXTB" + whole),
                    (0x60000000, bytes(5000))]
        out = core(segments, bits, order)
    elif kind == "physical":
        out = core([(0x80000000, bytes(100) + whole)], physical=True)
    elif kind == "repeated":
        out = bytearray(core([(AT + (i << 20), b"") for i in range(20000)]))
        for i in range(20000):
            struct.pack_into("<QQQQQ", out, 64 + 56 * i + 8, 64 + 56 * 20000, AT + (i << 20), 0, len(whole), len(whole))
        out += whole
    elif kind == "overlap":
        out = core([(AT, bytes(64) + whole), (AT + 32, bytes(200) + data[1] + bytes(20000))])
    else:
        out = minidump([(0x1000, bytes(512)), (0x7FF600000000, bytes(8) + whole)], kind == "mdmp64")
    sys.stdout.buffer.write(out)


main()
