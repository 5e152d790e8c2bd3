"""How many numbers of a page's prose nothing holds: the count may not rise.

Counted are numbers with a fraction, in per cent or with a unit, in paragraphs, lists and
quotations, but for those that a claim of the marker before them holds (prose.py). Tables are not
counted: most are made of records. common/tools/book/unheld.txt has the count of each page; check.py
--write lowers a count there, and check.py --unheld writes all of them anew, for a new page or where
pages have been merged.
"""
import re

import pages
import prose

COUNTS = "common/tools/book/unheld.txt"
UNIT = r"(?:%|TFLOPS|µs|ms|cycles|TB/s|GB/s|GHz|MHz|pJ|W|times)"
NUMBER = re.compile(rf"(?<![\w.,×/-])(\d[\d,]*\.\d+|\d[\d,]*(?= {UNIT}(?!\w)))(?![\d×])")

VERSION = re.compile(r"\b(CUDA|nvcc|gcc|clang|CMake|Python|driver|version|cuDNN|capability|since"
                     r"|PTX ISA|[Rr]eleases?) [\d.]+(\s+(to|and) [\d.]+)?")


def readable(text):
    """What a reader sees: no markers, no addresses, no code; and no versions."""
    text = VERSION.sub("", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    return re.sub(r"`[^`]*`", "", re.sub(r"\]\([^)]*\)", "]", text)).replace("**", "")


def paragraphs(page):
    """Each paragraph of prose, or list, with the claims' texts of the marker before it."""
    i, fenced = 0, False
    while i < len(page.lines):
        line = page.lines[i].lstrip(prose.QUOTE)
        fenced ^= page.lines[i].startswith(pages.FENCE)
        if fenced or not line or page.lines[i].startswith(("    ", "#", pages.FENCE)):
            i += 1
            continue
        made = re.match(r"<!-- (grid|table|suite|drawn|figure|picture|pair|ladder)", line)
        if made:
            prefix = page.lines[i][:page.lines[i].index("<")]
            i = page.find(i, prefix + "<!-- end -->") + 1 or len(page.lines)
            continue
        held = []
        if line.startswith("<!--"):
            last = page.marker_end(i)
            if prose.is_marker(page.lines[i]):
                held = [claim[:prose.RELATION.search(claim).start()].strip()
                        for _, claim in prose.read_claims(page, i, last)
                        if prose.RELATION.search(claim)]
            i = last + 1
            if not held or i >= len(page.lines):
                continue
        text, end = prose.paragraph(page, i)
        if not page.lines[i].lstrip(prose.QUOTE).startswith(("|", "![")):
            yield text, held
        i = max(end, i + 1)


def count(page):
    numbers = 0
    for text, held in paragraphs(page):
        found = NUMBER.findall(readable(text))
        for claim in held:
            number = re.match(r"[\d.,]*\d", claim)
            if number and number.group() in found:
                found.remove(number.group())
        if not text.lstrip().startswith(("Measured: ", "Simulated, not measured: ")):
            numbers += len(found)
    return numbers


def recorded(book):
    lines = (book.text(COUNTS) or "").split("\n")
    return {path: int(number) for number, path in (line.split(" ", 1) for line in lines if line)}


def check(book, page):
    if not book.exists(COUNTS):
        return
    now, before = count(page), recorded(book).get(page.path, 0)
    if now > before:
        book.complain(page, 0,
                      f"nothing holds {now} numbers of the prose, and {before} are recorded. Put"
                      " the new one into a marker in front of its paragraph, such as "
                      "<!-- numbers: results=h200-steps 80 % = cublas(07, 8192) -->: "
                      "common/tools/book/prose.py")


def write(book, may_rise=False):
    """Writes the counts. Unless they may rise, none becomes greater."""
    if not may_rise and not book.exists(COUNTS):
        return
    before = recorded(book)
    counts = {page.path: count(page) for page in book.pages}
    lines = [f"{number if may_rise else min(number, before.get(path, 0))} {path}\n"
             for path, number in counts.items()]
    book.write(COUNTS, "".join(lines))
