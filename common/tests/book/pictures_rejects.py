#!/usr/bin/env python3
"""What the pictures' tools must complain about. pictures_rejects.py ROOT PROGRAMS WORK COMPILER"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
root, programs, work = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path.insert(0, os.path.join(root, "common/tools/pictures"))
import data
import edits
import make
import palette

failed = 0


def expect(what, complaints):
    """One of the complaints has these words; without words there is none."""
    global failed
    if not any(what in text for text in complaints) if what else complaints:
        print(f"expected '{what}', got {complaints}", file=sys.stderr)
        failed = 1


def edited(name, path, old, new):
    """A copy of the tree with an edit."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    assert text.count(old) >= 1, (path, old)
    edits.copy(root, f"{work}/{name}", path, text.replace(old, new))
    return f"{work}/{name}"


shutil.rmtree(work, ignore_errors=True)
data.BOOK, data.PROGRAMS, data.COMPILER = root, [programs], sys.argv[4]
svg = make.stored(root, "swizzle")
expect("", make.form(svg))
expect("bytes, more than", make.form(svg + " " * make.LIMIT))
expect("no <desc>", make.form(svg.replace("<desc", "<g").replace("</desc", "</g")))
expect("letters of 12 units", make.form(svg.replace("font-size:19px", "font-size:12px")))
expect("letters of 9.5 units", make.form(svg.replace("<text ", '<text font-size="9.5" ', 1)))
expect("the caption does not say", make.form(svg.replace("(simulated", "(seen")))

stored = make.path_of("swizzle")
expect("", make.check(root, "swizzle"))
expect("it is stale", make.check(edited("stale", stored, ">8 wavefronts<", ">7 wavefronts<"),
                                 "swizzle"))
data.BOOK = edited("claim", "common/sim/models/descriptor.h", "address >> 3", "address >> 4")
data.forget()
expect("what it claims is not so: swizzle.py, line", make.check(root, "swizzle"))

light, dark = palette.themes(root)
expect("", palette.complaints(root))
expect("--mma1 and --wait", palette.complaints(
    edited("alike", palette.PAGE, f"--wait: {light['wait']}", "--wait: #d9a441")))
expect("for a reader with protanopia", palette.complaints(
    edited("dark", palette.PAGE, f"--mma1: {dark['mma1']}", "--mma1: #5f9433")))
expect("light --load is", palette.complaints(
    edited("other", palette.FIGURES, f"--load:{light['load']}", "--load:#123456")))
sys.exit(failed)
