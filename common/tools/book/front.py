"""The front page is short and narrow enough to be read as it is; what the links of a table lead to
does not count."""
import re

PATH = "README.md"
LINES = 80
COLUMNS = 100


def check(book, page):
    if page.path != PATH:
        return
    if len(page.lines) > LINES:
        book.complain(page, LINES, f"the front page has {len(page.lines)} lines, more than {LINES}")
    for i, line in enumerate(page.lines):
        width = len(re.sub(r"\]\([^)]*\)", "]", line) if line.startswith("|") else line)
        if width > COLUMNS:
            book.complain(page, i, f"a line of the front page has {width} columns, more than "
                          f"{COLUMNS}")
