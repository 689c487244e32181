# SPDX-License-Identifier: MIT
"""
A browser without a screen, for the tests of pages: Chromium, driven by its DevTools protocol through two pipes, so
that nothing but Python is needed.  What goes wrong on the page is kept in Browser.errors.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser():
    named = os.environ.get("CHROMIUM")
    return named if named else next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, width=1440, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="txtrace-browser", ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.come, from_browser = os.pipe()
        # It reads from 3 and writes to 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", find_browser(), "--headless",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={self.profile.name}",
             f"--window-size={width},{height}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name})
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.requests = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.come)
        self.profile.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.come, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def run(self, expression):
        """What an expression of JavaScript is worth."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"this does not become true: {expression}; {self.errors}")
            time.sleep(0.02)

    def open(self, path, fragment=""):
        """Open a file anew; returns how long it took until it was ready, in seconds."""
        self.call("Page.navigate", url="about:blank")
        begin = time.monotonic()
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        self.wait("document.body?.dataset.ready === 'yes'")
        return time.monotonic() - begin

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, modifiers=0):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, modifiers=modifiers)

    def drag(self, x, y, to_x, to_y, modifiers=0):
        self.mouse("mousePressed", x, y, button="left", clickCount=1, modifiers=modifiers)
        for step in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x + (to_x - x) * step, y + (to_y - y) * step, button="left", buttons=1,
                       modifiers=modifiers)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1, modifiers=modifiers)

    def wheel(self, x, y, by):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
