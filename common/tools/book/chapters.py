"""Every chapter has the same sections; and how long it takes to read one."""
import re

import pages

SECTIONS = ("## Where we are", "## The idea", "## Prediction", "## The code", "## Measured",
            "## What breaks without it", "## Exercises", "## Further reading")

# A reader's pace, if every line is read once. Prose goes at about the slowest of Carver's rates
# (Reading Rate, 1990), at which one reads to remember: 138 words a minute, after 200 for learning.
PROSE_WORDS = 140  # a minute, cells of tables included
CODE_LINE = 6  # seconds: excerpts and edits
OTHER_LINE = 4  # reports, and indented lines: diagrams, commands
FIGURE = 30


def check(book, page):
    headings = list(page.all("## "))
    for section, line in zip(SECTIONS, headings + [-1] * len(SECTIONS)):
        if line < 0 or page.lines[line] != section:
            book.complain(page, line if line >= 0 else len(page.lines) - 1,
                          f"expected the section '{section[3:]}'")
            return
    for line in headings[len(SECTIONS):len(SECTIONS) + 1]:
        book.complain(page, line, "a section that the other chapters do not have")


def count_words(line):
    """The words of a line, without the addresses of its links."""
    return len(re.findall(r"(?a:[^\W_]\S*)", re.sub(r"\]\([^)]*", "", line)))


def reading(page):
    """The page's words of prose, and how many seconds it takes to read it."""
    words = seconds = i = 0
    while i < len(page.lines):
        line = page.lines[i]
        if line.startswith(pages.FENCE):
            end = page.fence_end(i)
            if end < 0:
                break
            seconds += (OTHER_LINE if line == "```text" else CODE_LINE) * (end - i - 1)
            i = end
        elif line.startswith("!["):
            seconds += FIGURE
        elif line.startswith("    "):
            seconds += OTHER_LINE
        elif line.lstrip(" >").startswith("<!--"):
            i = page.marker_end(i)
        elif not line.startswith("Measured: "):
            words += count_words(line)
        i += 1
    return words, words * 60 // PROSE_WORDS + seconds


def print_lengths(book):
    for page in book.pages:
        if not pages.is_chapter(page.path):
            continue
        folder = page.path[:-len("/README.md")]
        words, seconds = reading(page)
        out = f"{folder}: {words} words, README.md {len(page.lines)} lines"
        for name in book.list(folder):
            if name.endswith(".cu"):
                out += f", {name} {book.text(f'{folder}/{name}').count(chr(10))} lines"
        print(f"{out}, {seconds / 60:.1f} minutes")
