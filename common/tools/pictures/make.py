#!/usr/bin/env python3
"""Makes the pictures of docs/pictures from the code and the simulator, or compares them.

    make.py [--check] [--house beyond] [--compiler CC] ROOT PROGRAMS [NAME...]

Each picture is a module of this folder with draw(), which returns the SVG and asserts what the
picture claims, and EDITS, changes of its sources that it must notice (edits.py). A house that is
named has its modules in HOUSE/tools/pictures and its pictures in HOUSE/docs/pictures. With --check
nothing is written: a picture that is not as it would be made now is a complaint, and so is one that
is too large, has no title or description, or letters that are too small; and colours that a reader
could not tell apart (palette.py).

Exit code: 0 all is well, 1 complaints on stderr, 2 usage.
"""
import argparse
import importlib
import os
import re
import sys

sys.dont_write_bytecode = True  # this lies in the source tree
import data
import palette

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "breaks"))  # the pictures' EDITS are written as there
ROOT = os.path.join(HERE, "..", "..", "..")
FOLDER = "docs/pictures"  # of the house
TARGET = "pictures"       # that makes them
MODULES = HERE
LIMIT = 30_000  # bytes
SMALLEST = 13  # units of a letter


def enter(house):
    """From here on the pictures are those of a house; "" is part one."""
    global FOLDER, MODULES, TARGET
    if house:
        TARGET = f"pictures_{house}"
        FOLDER, MODULES = f"{house}/docs/pictures", os.path.join(ROOT, house, "tools/pictures")
        sys.path.insert(0, MODULES)


def names():
    def draws(file):
        with open(os.path.join(MODULES, file), encoding="utf-8") as text:
            return "\ndef draw():" in text.read()
    return sorted(file[:-3] for file in os.listdir(MODULES) if file.endswith(".py") and draws(file))


def path_of(name):
    return f"{FOLDER}/{name.replace('_', '-')}.svg"


def form(svg):
    """What every picture must be."""
    out = []
    if len(svg.encode()) > LIMIT:
        out.append(f"{len(svg.encode())} bytes, more than {LIMIT}")
    for part in ("title", "desc", "metadata"):
        if not re.search(rf"<{part}[^>]*>[^<]+</{part}>", svg):
            out.append(f"no <{part}>")
    small = [size for size in re.findall(r"font-size[:=]\"?([\d.]+)", svg)
             if float(size) < SMALLEST]
    if small:
        out.append(f"letters of {', '.join(small)} units, less than {SMALLEST}")
    if not re.search(r"\((simulated|predicted|measured|counted)[ ,);]",
                     svg.partition("<metadata>")[2].partition("</metadata>")[0]):
        out.append("the caption does not say whether its numbers are simulated, predicted, "
                   "measured or counted")
    return out


def stored(root, name):
    try:
        with open(os.path.join(root, path_of(name)), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def check(root, name):
    """What is wrong with a picture."""
    try:
        svg = importlib.import_module(name).draw()
    except AssertionError as failed:
        where = failed.__traceback__
        while where.tb_next and where.tb_next.tb_frame.f_code.co_filename.startswith(MODULES):
            where = where.tb_next
        return [f"what it claims is not so: {name}.py, line {where.tb_lineno}: {failed}"]
    return form(svg) + ([] if stored(root, name) == svg else
                        [f"it is stale: build the target {TARGET}"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--house", default="")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("root")
    parser.add_argument("programs")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    data.BOOK, data.PROGRAMS = options.root, [options.programs]
    data.COMPILER = options.compiler
    enter(options.house)
    wanted = options.name or names()
    bad = 0
    for name in wanted:
        if options.check:
            for text in check(options.root, name):
                print(f"{path_of(name)}: {text}", file=sys.stderr)
                bad += 1
            continue
        svg = importlib.import_module(name).draw()
        assert not form(svg), f"{name}: {form(svg)}"
        if stored(options.root, name) != svg:
            os.makedirs(os.path.join(options.root, FOLDER), exist_ok=True)
            with open(os.path.join(options.root, path_of(name)), "w", encoding="utf-8") as file:
                file.write(svg)
            print(f"written: {path_of(name)}, {len(svg.encode())} bytes")
    if options.check and not options.name:
        here = {path_of(name) for name in wanted}
        folder = os.path.join(options.root, FOLDER)
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if f"{FOLDER}/{file}" not in here:
                print(f"{FOLDER}/{file}: nothing makes it", file=sys.stderr)
                bad += 1
        for text in palette.complaints(options.root) if not options.house else []:
            print(text, file=sys.stderr)
            bad += 1
        if not bad:
            total = sum(os.path.getsize(os.path.join(options.root, path)) for path in here)
            print(f"{len(wanted)} pictures, {total} bytes")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
