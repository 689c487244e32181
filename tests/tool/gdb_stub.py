# SPDX-License-Identifier: MIT
# gdb_stub.py MODE FILE: a stub of gdb's remote protocol for one connection, which has the bytes of FILE at 0x20000000
# and behaves as MODE says.  It prints its port first.
import socket
import sys
import time

ADDRESS = 0x20000000


def packet(text, right=True):
    body = text.encode("latin-1")
    return b"$" + body + b"#" + b"%02x" % ((sum(body) + (0 if right else 1)) % 256)


def run_length(text):
    out = ""
    i = 0
    while i < len(text):
        n = 1
        while i + n < len(text) and text[i + n] == text[i] and n < 98:
            n += 1
        # The counts of '#' and '$' may not be sent, and a run needs at least four characters.
        while n > 3 and chr(n - 1 + 29) in "#$+-":
            n -= 1
        if n > 3:
            out += text[i] + "*" + chr(n - 1 + 29)
        else:
            out += text[i] * n
        i += n
    return out


class Gone(Exception):
    pass


class Stub:
    def __init__(self, connection, mode, data):
        self.connection, self.mode, self.data = connection, mode, data
        self.acks = True
        self.runs = False
        self.n = 0

    def byte(self):
        c = self.connection.recv(1)
        if not c:
            raise Gone
        return c

    def request(self):
        while True:
            c = self.byte()
            if self.runs and self.mode == "stops":
                # As QEMU does: the first byte stops the machine, and the request is lost.
                self.runs = False
                self.connection.sendall(packet("T02thread:01;"))
                if c == b"\x03":
                    continue
                while self.byte() != b"#":
                    pass
                self.byte(), self.byte()
                continue
            if c == b"\x03":
                return "\x03"
            if c == b"$":
                break
        text = b""
        while (c := self.byte()) != b"#":
            text += c
        self.byte(), self.byte()
        return text.decode("latin-1")

    def reply(self, text):
        if self.acks:
            self.connection.sendall(b"+")
        self.connection.sendall(packet(text))

    def memory(self, text):
        at, size = (int(x, 16) for x in text[1:].split(","))
        self.n += 1
        data = self.data[at - ADDRESS : at - ADDRESS + size]
        mode = self.mode
        if mode == "error" or at < ADDRESS or len(data) < size:
            return self.reply("E01")
        if mode == "short" and size > 1:
            data = data[: size // 2]
        if mode == "more":
            data += b"more"
        if mode == "closes" and self.n > 7:
            raise Gone
        if mode == "hangs" and self.n > 7:
            time.sleep(30)
        if mode == "ends" and self.n > 7:
            return self.reply("W00")
        if mode == "text":
            return self.reply("no hex digits!")
        if mode == "empty":
            return self.reply("")
        if mode == "once" and self.n % 2 == 1:
            self.connection.sendall(b"-+%Stop:T05#00" + packet(data.hex(), False))
            while self.byte() != b"-":
                pass
            self.connection.sendall(packet(data.hex()))
            self.acks and self.byte()
            return None
        if mode == "wrong":
            for _ in range(20):
                self.connection.sendall(packet(data.hex(), False))
            return None
        if mode == "runs":
            return self.reply(run_length(data.hex()))
        if mode == "output":
            self.connection.sendall(packet("O" + b"hello".hex()))
        return self.reply(data.hex())

    def serve(self):
        if self.mode == "silent":
            time.sleep(30)
        if self.mode == "garbage":
            self.connection.sendall(bytes((i * 7919) % 251 for i in range(1 << 20)))
            time.sleep(30)
        if self.mode == "endless":
            self.connection.sendall(b"$" + b"a" * (1 << 20))
            time.sleep(30)
        while True:
            text = self.request()
            if text.startswith("qSupported"):
                self.reply("PacketSize=%x" % (100 if self.mode == "small" else 1000))
            elif text == "QStartNoAckMode" and self.mode not in ("once", "wrong"):
                self.reply("OK")
                self.acks = False
            elif text == "?":
                self.reply("T05thread:01;")
            elif text.startswith("m"):
                self.memory(text)
            elif text == "D":
                self.reply("OK")
                return
            elif text == "c":
                self.runs = True
            elif text == "\x03":
                self.reply("T02")
            else:
                self.reply("")


def main():
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        server.settimeout(30)
        connection, _ = server.accept()
        with connection:
            try:
                Stub(connection, sys.argv[1], data).serve()
            except (Gone, OSError):
                pass


main()
