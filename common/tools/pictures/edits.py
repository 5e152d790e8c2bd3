#!/usr/bin/env python3
"""Does every picture notice when the code that it is drawn from changes?

    edits.py [--house beyond] ROOT PROGRAMS WORK COMPILER ARGUMENT...

For each of a house's pictures' EDITS, a break of the store by its id or (file, edit of
breaks/edit.py), makes the edit in a copy of the tree below WORK and draws the picture from there. It must come out different from the one that
is stored, or fail one of its own assertions. An edited kernel or header is compiled for the
simulator: COMPILER and the ARGUMENTs behind it are those with which the build links such a program.

Exit code: 0 every edit is noticed, 1 complaints on stderr, 2 usage.
"""
import concurrent.futures
import importlib
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # this lies in the source tree
import data
import make
import store
from edit import DoesNotFit
from program import Linker
from source import Source


def copy(root, folder, path, text):
    """The tree in `folder`, as links; only `path` is a file of its own, with that text."""
    at = ""
    for name in path.split("/"):
        os.makedirs(os.path.join(folder, at), exist_ok=True)
        for other in os.listdir(os.path.join(root, at)):
            if other != name and other not in ("build", ".git"):
                os.symlink(os.path.join(root, at, other), os.path.join(folder, at, other))
        at = os.path.join(at, name)
    with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
        file.write(text)


def compile_program(tree, folder, name, kernel, compiler, arguments):
    """The chapter's program with this kernel."""
    os.makedirs(folder, exist_ok=True)
    command = Linker(tree, [compiler], arguments).command(
        os.path.dirname(kernel), f"{tree}/{kernel}", f"{folder}/{name}", "-w", trace=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(f"error: the edited {kernel} does not compile:\n{done.stdout[:3000]}")


def notice(name, number, root, programs, work, compiler, arguments):
    """What is wrong with edit `number` of a picture; "" if it is noticed."""
    module = importlib.import_module(name)
    edit = module.EDITS[number]
    what = f"EDITS[{number}], {edit}"
    if isinstance(edit, str):
        broken = store.named(root)[edit]
        edit = broken.path(root), broken.edit
    path, edit = edit
    with open(os.path.join(root, path), encoding="utf-8") as file:
        source = Source(path, file.read())
    folder = os.path.join(work, f"{name}-{number}")
    try:
        copy(root, f"{folder}/tree", path, edit.applied(source))
    except DoesNotFit as why:
        return f"{name}: {what}: {why}"
    data.BOOK, data.PROGRAMS, data.COMPILER = f"{folder}/tree", [programs], compiler
    data.forget()
    if path.endswith("/kernel.cu") and getattr(module, "PROGRAM", "") == path.split("/")[-2]:
        compile_program(f"{folder}/tree", f"{folder}/sim", module.PROGRAM, path, compiler,
                        arguments)
        data.PROGRAMS = [f"{folder}/sim", programs]
    try:
        svg = module.draw()
    except AssertionError:
        svg = ""
    except Exception as error:  # a reader of a failing test would not know what it means
        return f"{name}: with {what}: {error!r}, no assertion"
    return f"{name}: does not notice {what}" if svg == make.stored(root, name) else ""


def main():
    given = sys.argv[1:]
    if given[:1] == ["--house"]:
        make.enter(given[1])
        given = given[2:]
    if len(given) < 4:
        print("usage: edits.py [--house beyond] ROOT PROGRAMS WORK COMPILER ARGUMENT...",
              file=sys.stderr)
        return 2
    root, programs, work = (os.path.abspath(path) for path in given[:3])
    compiler, arguments = given[3], given[4:]
    shutil.rmtree(work, ignore_errors=True)
    jobs, bad = [], []
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for name in make.names():
            edits = getattr(importlib.import_module(name), "EDITS", [])
            if not edits:
                bad.append(f"{name}: has no EDITS")
            jobs += [pool.submit(notice, name, i, root, programs, work, compiler, arguments)
                     for i in range(len(edits))]
        bad += [said for said in (job.result() for job in jobs) if said]
    print("".join(f"{said}\n" for said in bad), end="", file=sys.stderr)
    if not bad:
        print(f"{len(jobs)} edits, all noticed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
