"""Excerpts of files: a fenced block behind

    <!-- excerpt: 05_tma_mbarrier/kernel.cu -->

stands in that file, line by line. Rewriting makes of an excerpt whose first and last line still
exist what is between them now.
"""
import re

import pages


def find_range(source, first, last, count):
    """The range of the source that begins with `first`, ends with `last` and comes nearest to
    `count` lines; None if there is none."""
    begins = [i for i, line in enumerate(source) if line == first]
    ends = [i + 1 for i, line in enumerate(source) if line == last]
    ranges = [(begin, end) for begin in begins for end in ends if begin < end]
    return min(ranges, key=lambda r: abs(r[1] - r[0] - count), default=None)


def check_excerpt(book, page, line):
    path = re.match(r"<!-- excerpt: *(\S*)", page.lines[line]).group(1)
    first, end = line + 2, page.fence_end(line + 1)
    if end < first + 1:
        book.complain(page, line, "no fenced block follows the excerpt's marker")
        return
    if not page.may_show(path):
        book.complain(page, line, f"this page cannot show a file of {pages.house_of(path)}")
        return
    text = book.text(path)
    if text is None:
        book.complain(page, line, f"there is no file '{path}' to take an excerpt from")
        return
    source = pages.split(text)
    shown = page.lines[first:end]
    if any(source[i:i + len(shown)] == shown for i in range(len(source))):
        return
    found = find_range(source, shown[0], shown[-1], len(shown))
    if not found:
        book.complain(page, line, f"this excerpt is not in {path}, nor are its first and last line")
    elif book.rewrite:
        page.replace(first, end, source[found[0]:found[1]])
    else:
        book.complain(page, line, f"this excerpt is not in {path}: build the target docs")


def check(book, page):
    for line in page.all("<!-- excerpt:"):
        check_excerpt(book, page, line)
