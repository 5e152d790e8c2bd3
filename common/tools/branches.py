#!/usr/bin/env python3
"""branches.py GCOV DIRECTORY say|discard: which branches of the kernels that ran were taken.

--check calls it in a build with HOPPER_BRANCHES (harness/branches.c). DIRECTORY has what the
processes counted, under the paths of the object files; it is removed. A branch is one way out of a
condition; `a && b` has four. With several kernels or types of one source it is enough that one has
taken it.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = [ROOT / "common/sim", ROOT / "common/hopper"]  # what a kernel's line becomes in C


def counted(gcov, directory):
    """gcov's account of each file of counts, with the directory that its names are relative to."""
    for counts in sorted(directory.rglob("*.gcda")):
        notes = pathlib.Path("/") / counts.relative_to(directory).with_suffix(".gcno")
        shutil.copy2(notes, counts.with_suffix(".gcno"))
        gcov_ran = subprocess.run(
            [gcov, "--json-format", "--stdout", "--branch-probabilities", counts], cwd=directory,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if "stamp mismatch" in gcov_ran.stderr.decode():
            sys.exit(f"branches.py: {notes.stem} was compiled again, but not linked: build again")
        for account in map(json.loads, gcov_ran.stdout.splitlines()):
            yield notes, pathlib.Path(account["current_working_directory"]), account["files"]


def on_the_device(lines, function):
    """Whether a function's definition begins with KERNEL or DEVICE, perhaps in a line of its own."""
    line = function["start_line"] - 1
    while line > 0 and re.search(r"\w\s*$", lines[line - 1]) and lines[line - 1][0] != "#":
        line -= 1
    return re.match(r"\s*(KERNEL|DEVICE)", lines[line]) is not None


def branches_of(gcov, directory):
    """{(path, line, on the device, ways): how often each way was taken} of the kernels that ran."""
    taken = {}
    for notes, where, files in counted(gcov, directory):
        if not any(line["count"] for file in files for line in file["lines"]):
            continue  # another kernel of the program
        for file in files:
            path = (where / file["file"]).resolve()
            if ROOT not in path.parents or any(part in path.parents for part in NOT_OURS):
                continue
            if path.stat().st_mtime > notes.stat().st_mtime:
                sys.exit(f"branches.py: {path.relative_to(ROOT)} has changed: build again")
            lines = path.read_text(encoding="utf-8").splitlines()
            device = {function["name"]: on_the_device(lines, function)
                      for function in file["functions"]}
            for line in file["lines"]:
                ways = [branch["count"] for branch in line["branches"]]
                if ways:
                    key = path, line["line_number"], device[line["function_name"]], len(ways)
                    taken[key] = [a + b for a, b in zip(ways, taken.get(key, [0] * len(ways)))]
    return taken


def say(taken):
    """How many ran, and the lines of those that did not."""
    for device, where in (True, "device"), (False, "host"):
        of = {key: ways for key, ways in sorted(taken.items()) if key[2] == device}
        if not of:
            continue
        missed = {key: ways.count(0) for key, ways in of.items() if 0 in ways}
        print(f"  {sum(map(len, of.values()))} branches of {where} code, "
              + (f"{sum(missed.values())} of them never taken:" if missed else "all taken"))
        for (path, line, _, count), never in missed.items():
            text = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
            print(f"    {path.relative_to(ROOT)}:{line}  {never} of {count} ways: {text}")


def main():
    gcov, directory, wish = sys.argv[1:]
    try:
        if wish == "say":
            say(branches_of(gcov, pathlib.Path(directory)))
    finally:
        shutil.rmtree(directory)


main()
