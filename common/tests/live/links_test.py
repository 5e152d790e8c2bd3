"""links_test.py ROOT KERNELS PROGRAM [--sample N]: what the book's links to the live page show.

Every broken kernel of a page that the live page has (live/run_links.py) is followed by its link, and
the run of that state says what the page quotes. Every other link, such as those of tables, names a
switch or a kernel that there is, and its run says one of the verdicts of its line; a chapter as it
is, and its variants, are right. An exercise's link names its case. Of the runs, --sample has every Nth.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", name) for name in ("live", "breaks")]
import choices
import exercises
import run_links
import simulate
import report
from live_runs import check_all, seed

FEWEST = {"01": 100, "10": 40, "17": 30}  # of the books that begin with these chapters
VERDICT = re.compile(r"`([a-z][a-z0-9-]+)`|\b(deadlock|wrong result|exit code 1)\b")


def missing(book, live, shown):
    """The broken kernels without their link."""
    by_path = {page.path: page for page in book.pages}
    for one in shown:
        page, at = by_path[one["page"]], one["line"] + 1
        wanted = run_links.line_of(book, page, run_links.address_of(live, one))
        if at >= len(page.lines) or page.lines[at] != wanted:
            yield f"{page.path}:{at + 1}: not {wanted}; cmake --build build --target live_links"


def linked(book, live, shown):
    """(place, address, verdicts): each link, and what its run may say."""
    numbers = {one["name"][:2] for one in live["chapters"]}
    quoted = {(one["page"], one["line"] + 1): one["says"] for one in shown}
    for page in book.pages:
        for at in page.all(""):
            for found in run_links.live_links.LINK.finditer(page.lines[at]):
                address = found["state"]
                if address.removeprefix("chapter=")[:2] not in numbers:
                    continue
                says = quoted.get((page.path, at))
                found = [says] if says else ["".join(pair) for pair in
                                             VERDICT.findall(page.lines[at])]
                yield f"{page.path}:{at + 1}", address, found


def main():
    root, kernels, program = sys.argv[1:4]
    every = int(sys.argv[5]) if "--sample" in sys.argv else 1
    live, shown = run_links.load(kernels)
    book = run_links.pages.Book(root)
    wrong = list(missing(book, live, shown))
    every_link = list(linked(book, live, shown))
    if len(every_link) < FEWEST[live["chapters"][0]["name"][:2]]:
        wrong.append(f"{len(every_link)} links")

    written = {one["id"] for one in choices.CHOICES + exercises.EXERCISES}

    def dead(place, address):
        """What an address names that there is not: a case, a switch, a kernel."""
        asked = re.fullmatch(r"chapter=(\d\d)&case=(\1-e\d)", address)
        if asked:
            return None if asked.group(2) in written else f"{place}: there is no {asked.group(2)}"
        try:
            run_links.decoded(live, address)
        except (LookupError, StopIteration, ValueError) as what:
            return f"{place}: {address}: {what!r}"
        return None

    def check(place, address, verdicts):
        if "case=" in address:
            return None
        chapter, run, off, kernel = run_links.decoded(live, address)
        says = report.verdict_of(*simulate.run_case([program], chapter, run, off, kernel))
        right = kernel < 0 or live["kernels"][kernel]["kind"] == "variant"
        wanted = [report.VERIFIED] if right and not off else verdicts
        if says not in wanted:
            return f"{place}: {address} says {says}, not {' or '.join(wanted)}"
        return None

    dead_ones = [what for what in (dead(*one[:2]) for one in every_link) if what]
    for text in wrong + dead_ones:
        print(text)
    if dead_ones:
        return 1
    return 1 if check_all(every_link[seed() % every::every], check) or wrong else 0


sys.exit(main())
