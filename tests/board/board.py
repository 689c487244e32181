# SPDX-License-Identifier: MIT
# board.py TXTRACE ELF SYMBOLS: txtrace capture from a machine that QEMU emulates, with the program board.c.  SYMBOLS is
# what nm prints.  The account of the program is read by a client of gdb's protocol that is not the tool's.
import csv
import io
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

tool, elf, symbols = sys.argv[1:4]
with open(symbols) as lines:
    address_of = {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}

NR_ENTRIES = 1024
HEADER_BYTES = 48
ENTRIES_AT = HEADER_BYTES + 4 * 48
NR_INSTRUCTIONS = 60  # more than the function insert() has
WAIT_S = 60
bad = []


def complain(text):
    bad.append(text)
    print("FAIL:", text)


def check(holds, text):
    if not holds:
        complain(text)


class Client:
    """The account of the program, and its control.  It leaves the machine halted when it closes."""

    def __init__(self, port):
        until = time.monotonic() + WAIT_S
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), WAIT_S)
                break
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # QEMU says that it has stopped the machine, if it ran.
        self.send("qAttached")
        while self.receive()[0] in "TS":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()

    def receive(self):
        while self.socket.recv(1) != b"$":
            pass
        text = b""
        while not text.endswith(b"#"):
            text += self.socket.recv(1)
        self.socket.recv(2)
        self.socket.sendall(b"+")
        return text[:-1].decode()

    def send(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) % 256))

    def ask(self, text):
        self.send(text)
        return self.receive()

    def read(self, address, size):
        out = b""
        while len(out) < size:
            out += bytes.fromhex(self.ask("m%x,%x" % (address + len(out), min(1024, size - len(out)))))
        return out

    def word(self, name, offset=0):
        return struct.unpack("<I", self.read(address_of[name] + offset, 4))[0]

    def step(self):
        self.ask("s")

    def run_to(self, name, times):
        """Let the machine run until it comes to this function once more, so many times."""
        breakpoint = "0,%x,2" % address_of[name]
        for _ in range(times):
            check(self.ask("Z" + breakpoint) == "OK", "QEMU sets no breakpoint")
            self.ask("c")
            check(self.ask("z" + breakpoint) == "OK", "QEMU removes no breakpoint")
            self.step()

    def run_past(self, nr):
        """Let the machine run until the program has recorded more events than this."""
        until = time.monotonic() + WAIT_S
        while self.word("nr_events") <= nr:
            if time.monotonic() > until:
                raise SystemExit("board: the program stands still")
            self.send("c")
            time.sleep(0.1)
            self.socket.sendall(b"\x03")
            self.receive()

    def numbers(self):
        """The events in the buffer, as the program counts: the first number, and the number after the last."""
        end = self.word("nr_events")
        slot = (self.word("trace_buffer", 32) - self.word("trace_buffer", 24)) // 32
        end += slot != end % NR_ENTRIES  # the program has moved `current`, and not counted yet
        return max(0, end - NR_ENTRIES), end


class Machine:
    def __init__(self, monitor="none"):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.qemu = subprocess.Popen(["qemu-system-arm", "-M", "mps2-an385", "-display", "none", "-monitor", monitor,
                                      "-serial", "none", "-kernel", elf, "-S", "-gdb", "tcp:127.0.0.1:%d" % self.port],
                                     stdin=subprocess.DEVNULL)
        with Client(self.port):
            pass  # it listens

    def end(self):
        self.qemu.kill()
        self.qemu.wait()


def start_capture(machine, path, *options):
    return subprocess.Popen([tool, "capture", "--gdb", "127.0.0.1:%d" % machine.port, "--elf", elf, "--symbol",
                             "trace_buffer", "-o", path, "--force", *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end_capture(capture, what, expected=0):
    try:
        out, err = capture.communicate(timeout=WAIT_S)
    except subprocess.TimeoutExpired:
        capture.kill()
        out, err = capture.communicate()
        complain("%s does not end" % what)
    check(capture.returncode == expected, "%s exits with %d: %s%s" % (what, capture.returncode, out, err))
    return out, err


def read_numbers(path, what):
    """The numbers of the events of a file, which must be whole; the tool itself finds the file good."""
    result = subprocess.run([tool, "check", "--strict", path], capture_output=True, text=True)
    check(result.returncode == 0, "check after %s: %s" % (what, result.stdout))
    result = subprocess.run([tool, "print", "--format", "csv", "--columns", "thread,event,data", path],
                            capture_output=True, text=True)
    check(result.returncode == 0, "print after %s: %s" % (what, result.stderr))
    numbers = []
    for row in csv.DictReader(io.StringIO(result.stdout)):
        words = struct.unpack("<4I", bytes.fromhex(row["data"]))
        check(words[1] == words[0] ^ 0xFFFFFFFF, "%s: an event is not whole: %s" % (what, row))
        numbers.append(words[0])
        if row["event"] == "TX_TRACE_USER_EVENT_4096":
            check(row["thread"] in ("producer", "consumer"), "%s: the thread is %s" % (what, row["thread"]))
    return numbers


def is_gap_free(numbers):
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def check_halted(machine, path, what):
    """All events that are certain, and no other.  In a full buffer the oldest may be half overwritten."""
    with Client(machine.port) as client:
        first, end = client.numbers()
    out, _ = end_capture(start_capture(machine, path), what)
    first += end >= NR_ENTRIES
    numbers = read_numbers(path, what)
    check(numbers == list(range(first, end)), "%s: %d events %s to %s, and not %d to %d"
          % (what, len(numbers), numbers[:1], numbers[-1:], first, end - 1))
    check(out.startswith("%d events" % (end - first)), "%s prints %s" % (what, out))
    return first, end


def halted(machine, path):
    _, err = end_capture(start_capture(machine, path), "capture before the program runs", 2)
    check("there is no trace buffer" in err, "capture before the program runs says: %s" % err)
    check(not os.path.exists(path), "capture before the program runs leaves a file")
    with Client(machine.port) as client:
        client.run_to("on_timer", 20)
        first, end = client.numbers()
        check(first == 0 and 20 <= end < NR_ENTRIES, "the program has recorded %d events" % end)
    check_halted(machine, path, "a capture of a part of the buffer")
    with Client(machine.port) as client:
        client.run_past(3 * NR_ENTRIES)
    _, end = check_halted(machine, path, "a capture of the full buffer")
    print("halted: %d events counted, the file has the newest %d" % (end, NR_ENTRIES - 1))


def dumps(directory):
    """txtrace extract finds the buffer in the memory that QEMU saves, whole and plausible."""
    monitor, path = os.path.join(directory, "monitor"), os.path.join(directory, "memory.bin")
    found = os.path.join(directory, "found")
    os.mkdir(found)
    machine = Machine(f"unix:{monitor},server,nowait")
    try:
        with Client(machine.port) as client:
            client.run_past(2 * NR_ENTRIES)
            client.run_to("insert", 1)  # between two events, so all entries are whole
            first, end = client.numbers()
            with socket.socket(socket.AF_UNIX) as commands:
                commands.connect(monitor)
                commands.sendall(f'pmemsave 0x20000000 65536 "{path}"\ninfo status\n'.encode())
                answer = b""
                while b"VM status" not in answer:  # the memory is saved
                    answer += commands.recv(4096)
    finally:
        machine.end()
    result = subprocess.run([tool, "extract", "-o", found, path], capture_output=True, text=True)
    check(result.returncode == 0 and "good" in result.stdout, f"extract from QEMU's memory: {result.stdout}")
    for name in os.listdir(found):
        numbers = read_numbers(os.path.join(found, name), "extract")
        check(numbers == list(range(first, end)), f"extract finds {numbers[:1]} to {numbers[-1:]}")
    check(len(os.listdir(found)) == 1, f"extract finds {os.listdir(found)}")


def between_instructions(machine, path, nr_before, i):
    """Halt the machine after so many instructions of the function that writes an event."""
    with Client(machine.port) as client:
        client.run_to("insert", nr_before)
        for _ in range(i):
            client.step()
    check_halted(machine, path, "a capture %d instructions after the beginning of an event" % i)


def first_round(path):
    """The same in a buffer that is not full.  The tool lets the machine run on, so each time it is a new one."""
    for i in range(2, NR_INSTRUCTIONS, 6):
        machine = Machine()
        try:
            between_instructions(machine, path, 20, i)
        finally:
            machine.end()


def await_size(path, size, capture):
    until = time.monotonic() + WAIT_S
    while not os.path.exists(path) or os.path.getsize(path) < size:
        if time.monotonic() > until or capture.poll() is not None:
            complain("the file does not reach %d bytes" % size)
            return
        time.sleep(0.02)


def running(machine, path):
    capture = start_capture(machine, path, "--live")
    out, _ = end_capture(capture, "capture --live")
    numbers = read_numbers(path, "capture --live")
    check(is_gap_free(numbers), "capture --live: numbers are missing")
    check(out.startswith("%d events" % len(numbers)), "capture --live prints %s" % out)
    for options in (["--append"], ["--append", "--live"]):
        what = "capture " + " ".join(options)
        os.unlink(path)
        with Client(machine.port) as client:
            before = client.numbers()[1]
        capture = start_capture(machine, path, "--interval", "20", *options)
        await_size(path, ENTRIES_AT + 4 * NR_ENTRIES * 32, capture)
        capture.send_signal(signal.SIGINT)
        out, _ = end_capture(capture, what)
        with Client(machine.port) as client:
            after = client.numbers()[1]
        numbers = read_numbers(path, what)
        check(out.startswith("%d events" % len(numbers)), "%s prints %s" % (what, out))
        check(numbers[0] <= before and numbers[-1] < after, "%s: events %d to %d, and the program counted %d to %d"
              % (what, numbers[0], numbers[-1], before, after))
        if "overwritten" not in out:
            check(is_gap_free(numbers), "%s: numbers are missing, and it does not say so: %s" % (what, out))
        print("%s: %d events, %d missing" % (what, len(numbers), numbers[-1] + 1 - numbers[0] - len(numbers)))


def too_slow(machine, path):
    """The tool sleeps while the program passes the buffer, and afterwards says what is missing."""
    what = "capture that slept"
    os.unlink(path)
    capture = start_capture(machine, path, "--append", "--live")
    await_size(path, ENTRIES_AT + 32, capture)
    capture.send_signal(signal.SIGSTOP)
    time.sleep(1)  # five times as long as the program takes for the buffer; more does no harm
    size = os.path.getsize(path)
    capture.send_signal(signal.SIGCONT)
    await_size(path, size + 32, capture)
    capture.send_signal(signal.SIGINT)
    out, _ = end_capture(capture, what)
    numbers = read_numbers(path, what)
    missing = numbers[-1] + 1 - numbers[0] - len(numbers)
    said = [int(line.split()[2]) for line in out.splitlines() if line.startswith("at least")]
    check(said and 0 < said[0] <= missing, "%s: %d events are missing, and it prints %s" % (what, missing, out))
    check(sorted(set(numbers)) == numbers, "%s: events are out of order" % what)


def gone(machine, path):
    what = "capture from a machine that ends"
    os.unlink(path)
    capture = start_capture(machine, path, "--append")
    await_size(path, ENTRIES_AT + 32, capture)
    machine.end()
    _, err = end_capture(capture, what, 2)
    check(err.count("\n") == 1 and "the file has what was read before" in err, "%s says %s" % (what, err))
    check(is_gap_free(read_numbers(path, what)), "%s: numbers are missing" % what)


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "board.trx")
        machine = Machine()
        try:
            halted(machine, path)
            for i in range(NR_INSTRUCTIONS):
                between_instructions(machine, path, 1, i)
            first_round(path)
            dumps(directory)
            if not bad:
                running(machine, path)
                too_slow(machine, path)
                gone(machine, path)
        finally:
            machine.end()
    sys.exit(1 if bad else 0)


main()
