# SPDX-License-Identifier: MIT
# Commands of gdb that read the trace buffer of ThreadX in the program, which may be on a board behind a debug probe:
#
#	txtrace save FILE [BUFFER]	write the buffer to a file
#	txtrace print [N] [BUFFER]	print its last N events; default 20
#
# BUFFER is an expression for the address of the buffer, or for the buffer itself.  The default is the buffer of the
# trace that was enabled last, to which ThreadX's variable _tx_trace_header_ptr points.
import os
import struct
import subprocess
import tempfile

import gdb

HEADER_BYTES = 48
ENTRY_BYTES = 32
OBJECT_BYTES = 16
POINTER = "_tx_trace_header_ptr"


def address_of(expression):
    """The address in the expression, or the address of the variable that it names."""
    try:
        value = gdb.parse_and_eval(expression)
    except gdb.error as error:
        raise gdb.GdbError("txtrace: %s: %s" % (expression, error))
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        value = value.address
    return int(value.cast(gdb.lookup_type("unsigned long")))


def default_address():
    try:
        # The variable may have no debugging information.
        address = int(gdb.parse_and_eval("*(unsigned long *)&" + POINTER))
    except gdb.error as error:
        raise gdb.GdbError("txtrace: give the buffer: there is no default: %s" % error)
    if address == 0:
        raise gdb.GdbError("txtrace: no trace was enabled: %s is 0" % POINTER)
    return address


def read_memory(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.error as error:
        raise gdb.GdbError("txtrace: %s" % error)


def read_buffer(expression):
    """The bytes of the whole buffer: header, registry and entries."""
    address = address_of(expression) if expression else default_address()
    header = read_memory(address, HEADER_BYTES)
    if header[:4] not in (b"TXTB", b"BTXT"):
        raise gdb.GdbError("txtrace: there is no trace buffer at 0x%x" % address)
    order = ">" if header[:4] == b"TXTB" else "<"
    start, _, name_size, end, first, last = struct.unpack_from(order + "IHHIII", header, 12)
    registry, entries = (end - start) & 0xFFFFFFFF, (last - first) & 0xFFFFFFFF
    if end < start or last <= first or registry % (OBJECT_BYTES + name_size) or entries % ENTRY_BYTES or first != end:
        raise gdb.GdbError("txtrace: the header of the trace buffer at 0x%x is damaged" % address)
    return header + read_memory(address + HEADER_BYTES, registry + entries)


class Txtrace(gdb.Command):
    """Read the trace buffer of ThreadX in the program."""

    def __init__(self):
        super().__init__("txtrace", gdb.COMMAND_DATA, gdb.COMPLETE_COMMAND, True)


class Save(gdb.Command):
    """txtrace save FILE [BUFFER]: write the trace buffer to a file, for TraceX and txtrace.
BUFFER is the buffer or its address; the default is the buffer that was enabled last."""

    def __init__(self):
        super().__init__("txtrace save", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        path, _, expression = argument.strip().partition(" ")
        if not path:
            raise gdb.GdbError("txtrace: file required: txtrace save FILE [BUFFER]")
        data = read_buffer(expression.strip())
        try:
            with open(os.path.expanduser(path), "wb") as file:
                file.write(data)
        except OSError as error:
            raise gdb.GdbError("txtrace: cannot write %s: %s" % (path, error.strerror))
        print("%d bytes written to %s" % (len(data), path))


class Print(gdb.Command):
    """txtrace print [N] [BUFFER]: print the last N events of the trace buffer; the default is 20.
BUFFER is the buffer or its address; the default is the buffer that was enabled last.
The command txtrace, or that in the environment variable TXTRACE, prints them."""

    def __init__(self):
        super().__init__("txtrace print", gdb.COMMAND_DATA, gdb.COMPLETE_SYMBOL)

    def invoke(self, argument, from_tty):
        words = argument.strip().split(None, 1)
        number = words.pop(0) if words and words[0].isdigit() else "20"
        data = read_buffer(" ".join(words))
        with tempfile.NamedTemporaryFile(suffix=".trx") as file:
            file.write(data)
            file.flush()
            command = [os.environ.get("TXTRACE", "txtrace"), "print", "--no-pager", "--tail=" + number, file.name]
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace")
            except OSError as error:
                raise gdb.GdbError("txtrace: cannot execute %s: %s" % (command[0], error.strerror))
        gdb.write(done.stdout)


Txtrace()
Save()
Print()
