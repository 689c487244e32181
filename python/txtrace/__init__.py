# SPDX-License-Identifier: MIT
"""Read traces of posixtrace, and trace buffers of ThreadX.

    import txtrace

    with txtrace.open("app.trx") as trace:
        for event in trace:
            print(event.ns, event.name, event.data)
        for wait in trace.waits():
            print(wait["thread"], wait["object"], wait["duration_s"])
        orders = trace.array("order")       # NumPy
        frame = trace.frame("order")        # pandas

The package calls the library libposixtrace.so.0 with cffi.  It needs no compiler.  NumPy and pandas are needed only for
the functions that return their objects.
"""

from ._abi import TraceError
from ._calls import CALL_BEGINS, CALL_ENDS, CALL_WHOLE
from ._layout import Field, Layout
from ._trace import Event, EventType, Loss, Object, Origin, Trace, open  # pylint: disable=redefined-builtin
from ._waits import find_tool

__all__ = [
    "CALL_BEGINS", "CALL_ENDS", "CALL_WHOLE", "Event", "EventType", "Field", "Layout", "Loss", "Object", "Origin",
    "Trace", "TraceError", "find_tool", "open",
]
