# SPDX-License-Identifier: MIT
"""Which thread runs when in a trace buffer, by TraceX's rules, and what must not be so in a buffer made from a log.

The rules are those of tests/tool/profile.py, which reads the bytes of the file and knows nothing of the tool.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tool"))
import profile  # noqa: E402  (of this project)

FILLERS = 3


def header_of(path):
    """({handle: name} of the threads, ns of a tick).  Reserved words of the header have the tick, as a double."""
    with open(path, "rb") as file:
        data = file.read()
    words = struct.unpack("<12I", data[:48])
    size = 16 + (words[4] >> 16)
    entries = (data[48 + i * size:][:size] for i in range((words[5] - words[3]) // size))
    names = {struct.unpack("<I", entry[4:8])[0]: entry[16:].split(b"\0")[0].decode()
             for entry in entries if entry[1] == 1}
    return names, struct.unpack("<d", data[40:48])[0]


class Buffer:
    def __init__(self, path):
        self.names, self.tick_ns = header_of(path)
        self.events, _ = profile.read(path)
        if [event[2:4] for event in self.events[:FILLERS]] == [[profile.RUNNING, i] for i in range(FILLERS)]:
            self.events = self.events[FILLERS:]
        self.following = profile.next_contexts(self.events)
        begin = self.events[0][3] if self.events else 0
        self.times = [round((event[3] - begin) * self.tick_ns) for event in self.events]

    def charges(self):
        """(name, begin, end) of each time between two events, in ns from the first event on."""
        for i, context in enumerate(self.following[:-1]):
            if self.times[i] < self.times[i + 1]:
                yield self.names.get(context, "not registered"), self.times[i], self.times[i + 1]

    def faults(self):
        """What no buffer that is made from a log of calls may have."""
        asleep = {}
        for i, (context, word, ident, _, *info, _) in enumerate(self.events):
            name = self.names.get(context)
            # In an interrupt, the word is the handle of the interrupted thread.
            if context != profile.INTERRUPT and word & 0x3FF == 1023:
                yield f"event {i} of {name} has the priority 1023"
            if ident == profile.SUSPEND:
                if info[3] == info[0]:
                    yield f"SUSPEND {i} names {name} itself as the next thread"
                if i + 1 < len(self.events) and self.events[i + 1][0] == context == info[0]:
                    yield f"after SUSPEND {i}, {name} itself has the next event"
                asleep[info[0]] = True
            elif ident == profile.RESUME:
                # A thread resumes itself where the log does not show which thread woke it when it got its CPU.
                if asleep.get(context) and context != info[0]:
                    yield f"RESUME {i} has the context of {name}, which waits or has ended"
                asleep[info[0]] = False
            elif asleep.get(context) and ident != profile.RUNNING:
                asleep[context] = False  # after the end of the thread the C library may make calls
            if i + 1 < len(self.events) and self.following[i] not in (context, self.events[i + 1][0]):
                yield f"after event {i}, TraceX adds a Running event"
