# SPDX-License-Identifier: MIT
"""A page of txtrace export --to html in a browser, next to what other commands of the tool say about its trace."""
import csv
import io
import json
import os
import subprocess

CONTROL, SHIFT = 2, 8
nr_checks = nr_failed = 0


def check(is_true, what):
    global nr_checks, nr_failed
    nr_checks += 1
    if not is_true:
        nr_failed += 1
        print(f"FAIL: {what}")


def same(shown, expected, what):
    check(shown == expected, f"{what}: {shown!r}, not {expected!r}")


def report(browser):
    """Print the result, and return the exit status."""
    check(not browser.errors, f"errors on a page: {browser.errors}")
    strange = [url for url in browser.requests if not url.startswith(("file://", "data:", "about:"))]
    check(not strange, f"a page asks for {strange}")
    print(f"{nr_checks} checks, {nr_failed} failed")
    return nr_failed > 0


class Page:
    """A trace, as txtrace print and the page have it."""

    def __init__(self, browser, tool, scratch, trace, *options):
        self.browser, self.tool, self.trace = browser, tool, trace
        self.name = os.path.basename(trace).removesuffix(".trx")
        self.path = os.path.join(scratch, f"{self.name}.html")
        subprocess.run([tool, "export", "--to", "html", "--force", "-o", self.path, *options, trace], check=True,
                       stderr=subprocess.DEVNULL)
        self.events = self.printed(*options)
        self.open()

    def printed(self, *options):
        out = subprocess.run([self.tool, "print", "--format", "jsonl", *options, self.trace], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        events = [json.loads(line) for line in out.splitlines()]
        if any(isinstance(event["data"], dict) for event in events):
            self.show_calls(events, options)
        return events

    def show_calls(self, events, options):
        """JSON lines have the fields of a call, and the page shows them as a text."""
        out = subprocess.run([self.tool, "print", "--format", "csv", "--columns", "number,data", *options, self.trace],
                             check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        for event, row in zip(events, csv.DictReader(io.StringIO(out, newline=""))):
            event["data"] = row["data"]

    def open(self, fragment=""):
        self.browser.open(self.path, fragment)

    def run(self, expression):
        return self.browser.run(f"(() => {{ const {{trace, page}} = txtrace, {{timeline}} = page; "
                                f"return {expression}; }})()")

    def settle(self):
        """Wait until the page does not move any more and the address has the position."""
        self.browser.wait("!txtrace.page.timeline.origin && !txtrace.page.timeline.isDirty && "
                          "!txtrace.page.address.later")

    def view(self):
        view = self.run("timeline.view")
        return view["begin"], view["end"]

    def left(self):
        return self.run("timeline.canvas.getBoundingClientRect().left")

    def place(self, i):
        """Where an event is on the screen."""
        return self.run(f"(() => {{ const box = timeline.canvas.getBoundingClientRect();"
                        f"const line = timeline.lines.find(line => line.row === trace.rowOfEvent({i}));"
                        f"return [box.left + timeline.x(trace.time[{i}]),"
                        f"box.top + line.y - timeline.scroller.scrollTop + 10]; }})()")

    def text(self, name):
        return self.run(f"document.getElementById({name!r})?.textContent.replaceAll('\\u2009', '')")


def plain(text):
    """Names on the page are as they are; print shows what is no ASCII, and no thread, in another way."""
    return "".join(c if " " <= c <= "~" else "?" * len(c.encode()) for c in text)
