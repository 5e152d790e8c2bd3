"""Links to a state of the live pages, such as "Run it".

In the repository they lead to docs/live.md, or, if docs/site/address.txt has the site's address, to
the page on the site; on the site itself always to its own. `check.py --write`, the target
docs_tables, gives all of them the form that is asked for:

    [Run it](../docs/live.md#chapter=05&m=256)
    [Run it](https://example.org/book/live.html#chapter=05&m=256)
"""
import os
import re

import pages

LIVE = "docs/live.md"
ADDRESS = "docs/site/address.txt"
# page: how the states begin that it has
PAGES = {"live.html": "chapter=0", "beyond.html": "chapter=1[0-6]",
         "blackwell.html": "chapter=1[7-9]", "museum.html": "exhibit=",
         "layouts.html": "swizzle=", "ring.html": "stages="}
LINK = re.compile(
    rf"\]\((?P<target>(?:[./a-z]*live\.md|https?://[^) ]*/(?:{'|'.join(map(re.escape, PAGES))}))"
    r"#(?P<state>(?:chapter|exhibit|swizzle|stages)=[^) ]*))\)")


def address(root):
    """The site's, which ends with /; "": it has none."""
    try:
        with open(os.path.join(root, ADDRESS), encoding="utf-8") as file:
            words = [line.strip() for line in file if not line.startswith("#") and line.strip()]
    except OSError:
        words = []
    if len(words) > 1 or words and not re.fullmatch(r"https?://\S+", words[0]):
        pages.fail(f"{ADDRESS}: has to have one address, https://..., or none")
    return words[0].rstrip("/") + "/" if words else ""


def page_of(state):
    return next(page for page, begins in PAGES.items() if re.match(begins, state))


def target(root, path, state):
    """What a link on the page at this path, from the root, has as its target."""
    site = address(root)
    if site:
        return f"{site}{page_of(state)}#{state}"
    return f"{os.path.relpath(LIVE, os.path.dirname(path))}#{state}"


def state_of(link):
    """The state in the target of a link; None if it is none of these."""
    found = LINK.fullmatch(f"]({link})")
    return found["state"] if found else None


def check(book, page):
    for line in page.all(""):
        def form(found):
            return f"]({target(book.root, page.path, found['state'])})"

        text = LINK.sub(form, page.lines[line])
        if not page.replace(line, line + 1, [text]) and not book.rewrite:
            book.complain(page, line, f"a link to a live page has not the form that {ADDRESS} asks "
                          "for: build docs_tables")
