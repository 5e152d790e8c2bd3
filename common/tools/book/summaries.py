"""A number on a page that sums up others stands in the page that it is about.

Such a page is one of SUMMARIES. In a paragraph or an item of a list that links to chapters or to
the library, each number with a fraction, in per cent or with a unit must stand in one of the pages
that it links to, in its text or its tables. So must each number of a claim (prose.py), in the page
of a kernel that its expression names, or in the table of kernels on the page itself.
"""
import os
import re

import pages
import prose
from unheld import NUMBER, readable

SUMMARIES = ("README.md", "docs/README.md", "docs/ladder.md", "docs/topics.md", "docs/faq.md",
             "beyond/README.md", "beyond/library/README.md")
LINK = re.compile(r"\]\(([^)#\s]*\.md)")
KERNEL = re.compile(r"\b(\d\d|hopper_gemm|w4a8_gemm)(?=[:,])")


def items(page):
    """The first line and the text of each paragraph, and of each item of a list."""
    first, lines, fenced = 0, [], False
    for i, line in enumerate(page.lines + [""]):
        fenced ^= line.startswith(pages.FENCE)
        if fenced or not line or line.startswith(("- ", "|", "<!--", "    ", "#", pages.FENCE)):
            if lines:
                yield first, " ".join(lines)
            first, lines = i, [line[2:]] if line.startswith("- ") and not fenced else []
        else:
            first = first if lines else i
            lines.append(line)


def is_summed_up(path):
    return pages.is_chapter(path) or path in ("beyond/library/README.md",
                                                "beyond/library/measured.md")


def linked(page, text):
    """The pages to which a text links, if chapters are among them."""
    places = [os.path.normpath(os.path.join(os.path.dirname(page.path), place))
              for place in LINK.findall(text)]
    places = [place for place in places if place != page.path]
    return places if any(map(is_summed_up, places)) else []


def stands(book, places, number):
    return any(prose.occurrences(readable(book.text(place) or ""), number) for place in places)


def chapters_of(book, expression):
    """The pages of the kernels that a claim is about."""
    for name in KERNEL.findall(expression):
        if not name.isdigit():
            yield "beyond/library/measured.md"
            continue
        for house in ("", "beyond"):
            yield from (os.path.join(house, folder, "README.md") for folder in book.list(house)
                        if folder.startswith(name + "_"))


def check_claims(book, page):
    for first in page.all("<!-- numbers:"):
        for line, claim in prose.read_claims(page, first, page.marker_end(first)):
            text, relation, expression = prose.RELATION.split(claim, 1) \
                if prose.RELATION.search(claim) else ("", "", "")
            number = NUMBER.match(text.strip()) or re.match(r"[\d.,]+(?<![.,])", text)
            places = [place for place in chapters_of(book, expression) if place != page.path]
            tables = "\n".join(row for row in page.lines if row.startswith("|"))
            if relation == "=" and number and places and not stands(book, places, number.group()) \
                    and not prose.occurrences(tables, number.group()):
                book.complain(page, line, f"'{number.group()}' stands neither in "
                              f"{' nor in '.join(dict.fromkeys(places))}")


def check(book, page):
    if page.path not in SUMMARIES:
        return
    for line, text in items(page):
        places = linked(page, text)
        for number in NUMBER.findall(readable(text)) if places else ():
            if not stands(book, places, number):
                book.complain(page, line, f"'{number}' does not stand in "
                              f"{' or '.join(dict.fromkeys(places))}")
    check_claims(book, page)
