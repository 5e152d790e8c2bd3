"""live_firefox.py PAGE: the live page in Firefox, from file://, at a desktop's and a phone's width, light
and dark: the first result and its time, nothing wider than the window, a switch, the link that
restores it, a choice, a repair. Firefox is driven by Marionette, its own protocol, over a socket.

Exit code: 77 if there is no Firefox (skipped).
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("firefox-esr", "firefox")
SIZES = {"desktop": (1366, 768), "phone": (450, 844)}  # a window is never narrower than 450
SECONDS = 60
FIRST = 30  # seconds to the first result, on a loaded machine
complaints = []


def expect(good, text):
    if not good:
        complaints.append(text)
        print(text, file=sys.stderr)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Firefox:
    """One window. Messages are "length:JSON"."""

    def __init__(self, program, dark):
        self.profile = tempfile.TemporaryDirectory()
        port = free_port()
        preferences = {"marionette.port": port, "ui.systemUsesDarkTheme": int(dark),
                       "layout.css.prefers-color-scheme.content-override": 0 if dark else 1,
                       "datareporting.policy.dataSubmissionEnabled": False,
                       "browser.shell.checkDefaultBrowser": False}
        Path(self.profile.name, "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences.items()), encoding="ascii")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--marionette", "--profile", self.profile.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": self.profile.name})
        self.socket, self.buffer, self.number = self.connect(port), b"", 0
        self.receive()  # its greeting
        self.send("WebDriver:NewSession", {})

    def connect(self, port):
        until = time.monotonic() + SECONDS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), SECONDS)
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def receive(self):
        while b":" not in self.buffer:
            self.buffer += self.socket.recv(1 << 16)
        length, _, rest = self.buffer.partition(b":")
        while len(rest) < int(length):
            more = self.socket.recv(1 << 16)
            if not more:
                raise EOFError("Firefox has ended")
            rest += more
        self.buffer = rest[int(length):]
        return json.loads(rest[:int(length)])

    def send(self, command, parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def run(self, script):
        return self.send("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]

    def open(self, address):
        self.send("WebDriver:Navigate", {"url": "about:blank"})
        self.send("WebDriver:Navigate", {"url": address})

    def wait(self, condition):
        until = time.monotonic() + SECONDS
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def verdict(self):
        self.wait("document.querySelector('#verdict.good, #verdict.bad')")
        return self.run("return document.getElementById('verdict').textContent")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def picture(self, path):
        image = self.send("WebDriver:TakeScreenshot", {"full": False})["value"]
        Path(path).write_bytes(base64.b64decode(image))

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()


def look(firefox, page, dark, pictures):
    for name, (width, height) in SIZES.items():
        firefox.send("WebDriver:SetWindowRect", {"width": width, "height": height})
        begin = time.monotonic()
        firefox.open(page)
        verdict = firefox.verdict()
        took = time.monotonic() - begin
        print(f"Firefox, {name}, {'dark' if dark else 'light'}: first result after {took:.2f} s")
        expect(verdict.startswith("Verified"), f"{name}: {verdict}")
        expect(took < FIRST, f"{name}: the first result took {took:.1f} s")
        wider = firefox.run("return document.documentElement.scrollWidth - innerWidth")
        expect(wider <= 0, f"{name}: {wider} px wider than the window")
        red = firefox.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
        expect((int(red) < 128) == dark, f"{name}: {'light' if dark else 'dark'}, and should not be")
        if pictures:
            firefox.picture(f"{pictures}/firefox-{name}-{'dark' if dark else 'light'}.png")


def use(firefox, page):
    firefox.open(f"{page}#chapter=05")
    firefox.verdict()
    firefox.click(".switch[aria-label^='fence_proxy_async']")
    firefox.wait("document.querySelector('#verdict.bad')")
    expect("missing-proxy-fence-after-read" in firefox.verdict(), firefox.verdict())
    link = firefox.run("return document.getElementById('link').getAttribute('href')")
    firefox.open(page + link)
    expect("missing-proxy-fence-after-read" in firefox.verdict(), f"{link}: {firefox.verdict()}")
    firefox.wait("document.getElementById('report').contentDocument"
                 ".querySelector('#memory-stages .flight')")
    firefox.open(f"{page}#chapter=06&variant=wait0")
    expect(firefox.verdict().startswith("Verified"), f"06, WAIT 0: {firefox.verdict()}")
    firefox.open(f"{page}#chapter=05&case=05-15")
    firefox.wait("document.querySelector('.choices.mend button')")
    count = firefox.run("return document.querySelectorAll('.choices.mend button').length")
    for i in range(count):
        firefox.click(f".choices.mend button:nth-child({i + 1})")
        firefox.wait("/^(Yes|No)/.test(document.querySelector('#case-answer p')?.textContent)")
    firefox.open(page)
    solved = firefox.run("return document.getElementById('progress').textContent")
    expect(solved.startswith("1 of"), f"after a case is solved: {solved}")


def main():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        print("skipped: no Firefox (Debian: apt-get install firefox-esr)")
        return 77
    page = Path(sys.argv[1]).resolve().as_uri()
    for dark in (False, True):
        firefox = Firefox(program, dark)
        try:
            look(firefox, page, dark, sys.argv[2] if len(sys.argv) > 2 else None)
            if not dark:
                use(firefox, page)
        finally:
            firefox.close()
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0


sys.exit(main())
