"""Links to files and headings lead somewhere. Those that lead into a house are skipped where it is
not there."""
import os
import re
import unicodedata

import live_links

TARGET = re.compile(r"\]\(([^) ]*)")
PLACE = re.compile(r'<a id="([^"]*)">')  # a place in a page that is no heading


def anchor_of(heading):
    """A heading's anchor as GitHub makes it: lower case, blanks to hyphens; letters, decimal digits,
    _ and - stay, other marks are dropped."""
    text = heading.lstrip("#").strip().lower().replace(" ", "-")
    return "".join(c for c in text if c in "_-" or unicodedata.category(c)[0] in "LM"
                   or unicodedata.category(c) in ("Nd", "Pc"))


def outside_code(line):
    """The line without what stands in `code`."""
    return "".join(line.split("`")[::2])


def check_link(book, page, line, target, anchors):
    if "://" in target or target.startswith("mailto:"):
        return
    file, mark, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page.path), file)) if file else page.path
    if book.is_absent(path + "/"):
        return
    if not book.exists(path):
        book.complain(page, line, f"the link leads nowhere: {target}")
    elif path == live_links.LIVE and live_links.state_of(target):
        return  # a state of the live page: common/tests/live/links_test.py
    elif mark and anchor not in anchors.get(path, ()):
        book.complain(page, line, f"there is no such heading: {target}")


def check(book):
    anchors = {page.path: {anchor_of(page.lines[line]) for line in page.all("#")} |
               {name for line in page.all("") for name in PLACE.findall(page.lines[line])}
               for page in book.pages}
    for page in book.pages:
        for line in page.all(""):
            for target in TARGET.findall(outside_code(page.lines[line])):
                check_link(book, page, line, target, anchors)
