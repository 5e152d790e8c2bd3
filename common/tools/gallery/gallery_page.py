"""gallery_page.py: the record of verdicts, and docs/mutants.md made from it."""

import collections
import os
import re

import harmless

BEGINNING = """# Broken kernels{title}

A *break* is a kernel with one thing wrong. Most of those on this page are made by rule: at every place
where a kernel waits, arrives, fences or commits, or multiplies a row by a pitch, each meaningful
edit gives one. The simulator has to notice it. The rules read the sources, so these breaks
follow the kernels. If an edit breaks an order, the simulator must report a hazard or a deadlock,
even if the result is right. If an edit changes an address, a size or a number, a wrong result is
enough.

This page is a summary. [verdicts.tsv]({verdicts}) lists the breaks with
their verdicts. An edit of the same line of a function that several kernels have is listed once, for
the first of them, unless its verdicts differ. To see reports, choose breaks by a part of their
file, function, line or edit:

    BREAKS={example} cmake --build build --target gallery{house}

The other commands:

    ctest --test-dir build -R gallery{house}_all -V   # runs all and compares them with the record
    ctest --test-dir build -R gallery{house}_sample   # a few, drawn from the commit's hash
    cmake --build build --target gallery_record{house}   # rewrites the record and this page
    BREAKS={chapter} cmake --build build --target gallery_record{house}   # of one chapter

*Killed* are the breaks that the simulator or the verification notices, and *By* names the kinds of
report. All others are [harmless](#what-is-harmless-and-why).

"""
PARTICULARS = (r"is not ordered after|mbarrier [\w.\[\]]+ at|CTA \d|thread \d|^it completes|"
               r"[+] 0?x?\d|\d{3,}")


def advice_of(message):
    """What the report says besides who and where, which differ from run to run."""
    told = [line.strip() for line in message.split("\n")[1:]]
    return " ".join(line for line in told if not re.search(PARTICULARS, line))


def quoted(code):
    return f"`{code.replace('|', chr(92) + '|')}`" if code else ""


def totals(results):
    files = collections.defaultdict(collections.Counter)
    for edit, outcome in results:
        files[edit.file][outcome.verdict] += 1
    lines = ["| File | Killed | All | By |", "|---|---:|---:|---|"]
    killed = 0
    for file, counts in sorted(files.items()):
        survived = counts.pop("survived", 0)
        total = sum(counts.values())
        killed += total
        kinds = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
        lines.append(f"| {file} | {total} | {total + survived} | {kinds} |")
    lines.append(f"| all | {killed} | {len(results)} | |")
    return lines


def survivors(results):
    reasons = collections.defaultdict(list)
    for edit, _ in results:
        reason = harmless.reason_of(edit)
        if reason:
            reasons[reason].append(edit)
    lines = ["", "## What is harmless, and why", "",
             "| Example | Edit | Breaks | Why nothing can go wrong |",
             "|---|---|---:|---|"]
    for reason, edits in reasons.items():
        edit = edits[0]
        lines.append(f"| {quoted(edit.code)} in {edit.file} | {edit.what} | {len(edits)} | "
                     f"{reason} |")
    return lines


REMOVED = """
A test also removes every line that synchronizes in the other configurations of its kernel. The
simulator must notice that, too, or `NOT_NEEDED` in harmless{house}.py must state why the
configuration works without the line. For example, a configuration with two stages needs no last
wait for copies:

    ctest --test-dir build -R removed{house} -V
"""
RIGHT = """
## What is right, though unusual

A simulator that reports every kernel would pass the table above. So
[right.py](../common/breaks/right.py) has {right} correct kernels, each a few edits away from
a chapter's, with the reason why each is correct: other depths of the ring, other threads that
produce, wait or release, early arrivals, other fences, staging in the ring, turns by `bar.sync` and
`bar.arrive`. The simulator must not report any of them, for any shape and under any schedule. One
further edit breaks {broken} of them, and these it must report:

    ctest --test-dir build -R right_variants_all -V
    BREAKS='staging in the ring' cmake --build build --target right_variants
"""


RIGHT_ELSEWHERE = """
[right{house}.py](../breaks/right{house}.py) has {right} correct kernels that are unusual,
which the simulator must not report: `ctest --test-dir build -R right_variants{house}_all -V`.
"""
WORDS = {"": {"title": "", "example": "07_warp", "chapter": "08_"},
         "beyond": {"title": " of part two", "example": "10_stream_k/split_k", "chapter": "12_"},
         "library": {"title": " of the libraries", "example": "hopper_gemm/fitted",
                     "chapter": "w4a8_gemm"}}


def text_of(house, results):
    words = {**WORDS[house.name], "house": f"_{house.name}" if house.name else "",
             "verdicts": os.path.relpath(house.record, os.path.dirname(house.page))}
    unusual = (RIGHT_ELSEWHERE if house.name else RIGHT).format(
        right=len(house.right), broken=sum(bool(one.broken) for one in house.right), **words)
    table = "\n".join(totals(results) + survivors(results))
    return BEGINNING.format(**words) + table + "\n" + REMOVED.format(**words) + unusual


def is_current(house, results):
    if not os.path.exists(house.page):
        return False
    with open(house.page, encoding="ascii") as file:
        return file.read() == text_of(house, results)


def write(house, fields, rows, results):
    with open(house.record, "w", encoding="ascii") as file:
        for row in [fields, *rows]:
            file.write("\t".join(row) + "\n")
    with open(house.page, "w", encoding="ascii") as file:
        file.write(text_of(house, results))
