"""A headless Chromium, driven by its DevTools protocol over a pipe: no library, no network."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60  # seconds for an answer, also on a machine that does much else


class Browser:
    """One page at a time. What it writes to its console, errors included, is in `console`."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if not program:
            raise FileNotFoundError("no Chromium (Debian: apt-get install chromium)")
        self.profile = tempfile.mkdtemp()
        self.said = tempfile.TemporaryFile()
        to_browser, self.to = os.pipe()
        self.come, from_browser = os.pipe()

        def hand_over():  # the browser reads from 3 and writes to 4
            ends = os.dup(to_browser), os.dup(from_browser)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        # Root (in a container) may run it only without its sandbox; the page is our own.
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=self.said)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.console, self.events = [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)  # its children may still write there

    # ---- the protocol ----

    def give_up(self, reason):
        self.said.seek(0)
        said = self.said.read().decode(errors="replace")[-2000:]
        raise RuntimeError(f"Chromium {reason}; it said: {said or 'nothing'}")

    def receive(self, waiting_for):
        while b"\0" not in self.buffer:
            if not select.select([self.come], [], [], PATIENCE)[0]:
                self.give_up(f"is silent for {PATIENCE} s, after {waiting_for}")
            more = os.read(self.come, 1 << 20)
            if not more:
                self.give_up(f"has ended, after {waiting_for}")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(arg.get("value")) for arg in values["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(str(values["exceptionDetails"].get("exception", values)))
        elif method == "Log.entryAdded":
            self.console.append(values["entry"]["text"])
        elif method:
            self.events.append(method)
        return message

    def send(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    # ---- what a reader does ----

    def screen(self, width, height, phone, dark):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.send("Page.navigate", url="about:blank")
        self.events.clear()
        self.send("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.receive("opening " + url)
        self.settle()

    def run(self, script):
        """The value of an expression."""
        done = self.send("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def until(self, script):
        """Waits until an expression is true, and says whether it is."""
        end = time.monotonic() + 10
        while not (true := self.run(script)) and time.monotonic() < end:
            time.sleep(0.02)
        return true

    def settle(self):
        """The page has drawn what it was told, and its address has followed."""
        self.run("""new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
                      () => setTimeout(done, 300))))""")

    def touch(self, *paths, steps=10):
        """Fingers that move at the same time, each from one point to another."""
        def points(share):
            return [{"x": a[0] + share * (b[0] - a[0]), "y": a[1] + share * (b[1] - a[1]), "id": i}
                    for i, (a, b) in enumerate(paths)]
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=points(0))
        for step in range(1, steps + 1):
            if any(a != b for a, b in paths):
                self.send("Input.dispatchTouchEvent", type="touchMove",
                          touchPoints=points(step / steps))
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def picture(self, path, whole=False):
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
