"""The pictures of ideas.

    <!-- picture: ring -->
    ...
    <!-- end -->

What stands between is made from pictures/ring.svg of the page's house: the picture, with its title
as the words for a reader who cannot see it, and its caption. What is in the SVG is made by
common/tools/pictures.
"""
import html
import re
import textwrap

import pages

COLUMNS = 100


def part(svg, name):
    """The text of one of the SVG's elements that are not drawn."""
    found = re.search(rf"<{name}[^>]*>([^<]*)</{name}>", svg)
    return html.unescape(found.group(1)) if found else ""


def make(book, page, line):
    name = page.lines[line].partition("<!-- picture:")[2].split("-->")[0].strip()
    path = book.path_for(page, f"pictures/{name}.svg")
    svg = book.text(path)
    if svg is None:
        book.complain(page, line, f"there is no picture {path}: build the target pictures")
        return None
    caption = re.sub(r"\]\((?![a-z]+:|#)([^)]*)\)",  # links in it are from docs/
                     lambda link: f"]({page.link('docs/' + link[1])})", part(svg, "metadata"))
    return ["", f"![{part(svg, 'title')}]({page.link(path)})", "",
            *textwrap.wrap(f"*{caption}*", COLUMNS, break_long_words=False, break_on_hyphens=False),
            ""]


def check(book, page):
    book.remake(page, "<!-- picture:", "picture", make)


def check_all(book):
    """No picture lies there that no page shows."""
    shown = {name for page in book.pages for text in page.lines
             for name in re.findall(r"<!-- picture: *(\S+) *-->", text)}
    for folder in (house + "docs/pictures" for house in ("", *pages.HOUSES)):
        for file in book.list(folder):
            if file.endswith(".svg") and file[:-4] not in shown:
                book.complain(book.pages[0], 0, f"no page shows {folder}/{file}")
