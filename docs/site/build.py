#!/usr/bin/env python3
"""Makes the site. build.py [--browser] BUILD: BUILD/site/index.html, with the packages of
requirements.txt in BUILD/site-venv. Nothing else is downloaded. With --browser, no site is made, but
what its test in a browser needs is installed there, too.

Exit code: 0 made, 1 not made, 77 the packages cannot be installed here.
"""
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # what follows lies in the source tree
import tree

HERE = Path(__file__).resolve().parent
CANNOT_INSTALL = 77


def run(*command):
    return subprocess.run([str(word) for word in command], check=False).returncode


def environment(build, *lists):
    """A virtual environment with the packages of these lists: its Python; None if pip fails."""
    venv = build / "site-venv"
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in lists)).hexdigest()
    stamp = venv / "-".join(file.stem for file in lists)
    python = venv / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    if not python.exists() and run(sys.executable, "-m", "venv", venv):
        return None
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--retries", "1"]
    for file in lists:
        if run(python, "-m", "pip", "install", *options, "--requirement", file):
            return None
    stamp.write_text(wanted)
    return python


def stage(folder):
    """The pages under the names that Sphinx needs, with the figures beside them."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in tree.walk(tree.ROOT):
        if path.endswith(".md"):
            to = folder / (tree.document(path) + ".md")
        elif path.endswith((".svg", ".png")):
            to = folder / path
        else:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree.ROOT / path, to)


def main(arguments):
    browser = arguments[:1] == ["--browser"]
    if len(arguments) != 1 + browser:
        print("usage: build.py [--browser] BUILD", file=sys.stderr)
        return 1
    build = Path(arguments[-1]).resolve()
    if sys.version_info < (3, 11):
        print("the site needs Python 3.11 or later")
        return CANNOT_INSTALL
    names = ["requirements.txt", "requirements-test.txt"] if browser else ["requirements.txt"]
    python = environment(build, *(HERE / name for name in names))
    if not python:
        print(f"the packages of {' and '.join(names)} in {HERE} cannot be installed")
        return CANNOT_INSTALL
    if browser:
        return 0
    source, site = build / "site-source", build / "site"
    live = build / "live" / "live.html"  # docs/live.md
    os.environ["BOOK_LIVE"] = "1" if live.exists() else ""
    stage(source)
    shutil.rmtree(site, ignore_errors=True)
    link = ["-A", "live=live.html"] if live.exists() else []
    if run(python, "-B", "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-j", "2", "-c", HERE,
           "-d", build / "site-doctrees", *link, source, site):
        return 1
    if live.exists():
        for page in live.parent.glob("*.html"):
            shutil.copyfile(page, site / page.name)
    print(site / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
