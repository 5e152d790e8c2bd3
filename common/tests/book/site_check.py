#!/usr/bin/env python3
"""Holds the site to the book. site_check.py ROOT SITE

Every page of the book is there, in the contents and in order, with GitHub's anchors at its headings;
every chapter has its kernel's listing; every excerpt leads to its lines; every link within the site
leads somewhere; nothing is loaded from elsewhere, and no marker shows.

Exit code: 0 all is well, 1 complaints on stderr.
"""
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

sys.dont_write_bytecode = True
ROOT = Path(sys.argv[1]).resolve()
SITE = Path(sys.argv[2]).resolve()
sys.path.append(str(ROOT / "docs" / "site"))
import tree
import live_links

LINES = re.compile(r"L(\d+)-L(\d+)")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"),
          ("source", "srcset")}
complaints = 0


def complain(place, text):
    global complaints
    complaints += 1
    print(f"{place}: {text}", file=sys.stderr)


class Reader(HTMLParser):
    """A page's anchors, links, what it loads, the headings' anchors in order, its neighbours."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.headings = set(), [], [], []
        self.excerpts, self.next, self.contents, self.comments = 0, None, [], []
        self.sections, self.in_contents = [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        classes = (has.get("class") or "").split()
        if "id" in has:
            self.ids.add(has["id"])
        if tag == "section":
            self.sections.append(has.get("id"))
        if re.fullmatch("h[1-6]", tag) and self.sections:
            self.headings.append(self.sections[-1])
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
            if "reference" in classes and "internal" in classes:
                self.contents.append(has["href"])
            if "next-page" in classes:
                self.next = has["href"]
        for name, value in attributes:
            if (tag, name) in LOADED and has.get("rel") not in ("next", "prev", "search"):
                self.loaded.append(value)
        self.excerpts += tag == "p" and "excerpt" in classes

    def handle_endtag(self, tag):
        if tag == "section":
            self.sections.pop()

    def handle_comment(self, text):
        self.comments.append(text)


def address(page, target):
    """The file and the anchor to which a link of a page leads."""
    file, anchor = urldefrag(target)
    path = (SITE / page).parent.joinpath(unquote(file)).resolve() if file else SITE / page
    return path, unquote(anchor)


def anchors_of(page):
    """The anchors that GitHub gives a page's headings, in order."""
    seen, fenced, anchors = {}, False, []
    for line in (ROOT / page).read_text(encoding="utf-8").split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and re.match("#{1,6} ", line):
            anchor = tree.links.anchor_of(line)
            count = seen[anchor] = seen.get(anchor, -1) + 1
            anchors.append(f"{anchor}-{count}" if count else anchor)
    return anchors


def tracked():
    """The pages that git knows, or those that lie there where there is no repository."""
    known = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True,
                           check=False).stdout.split()
    return [page for page in known if (ROOT / page).exists()] or tree.pages(ROOT)


def check_page(page, following, site):
    place = tree.html(page)
    read = site[place]
    want = anchors_of(page)
    if read.headings != want:
        wrong = sorted(set(want) ^ set(read.headings))
        complain(place, f"the headings' anchors are not GitHub's: {wrong or 'their order'}")
    marked = re.findall(r"^<!-- excerpt:", (ROOT / page).read_text(encoding="utf-8"), re.M)
    if read.excerpts != len(marked):
        complain(place, f"{len(marked)} excerpts, {read.excerpts} of them lead to their lines")
    leads = read.next and address(place, read.next)[0]
    if following and leads != SITE / tree.html(following):
        complain(place, f"the next page should be {following}, not {leads}")
    states = [found["state"] for found in
              live_links.LINK.finditer((ROOT / page).read_text(encoding="utf-8"))]
    for live in live_links.PAGES:
        runs = [live_links.page_of(state) for state in states].count(live)
        led = sum(address(place, link)[0] == SITE / live for link in read.links)
        if live in site and led < runs:
            complain(place, f"{runs} links to {live}, {led} of them lead to it")
    kernel = re.sub("README.md$", "kernel.cu", page)
    if kernel != page and (ROOT / kernel).exists() \
            and not any(address(place, link)[0] == SITE / tree.html(kernel) for link in read.links):
        complain(place, f"no link leads to the listing of {kernel}")


def check_links(place, read, site):
    for link in read.links:
        if re.match("[a-z]+:", link):
            continue
        path, anchor = address(place, link)
        name = path.relative_to(SITE).as_posix() if path.is_relative_to(SITE) else ""
        lines = LINES.fullmatch(anchor)
        wanted = {f"L{line}" for line in lines.groups()} if lines else {anchor} - {""}
        if not path.is_file():
            complain(place, f"the link leads nowhere: {link}")
        elif name in site and name not in live_links.PAGES \
                and not wanted <= site[name].ids:
            complain(place, f"there is no such anchor: {link}")
    for source in read.loaded:
        if re.match("([a-z]+:)?//", source):
            complain(place, f"loaded from elsewhere: {source}")
        elif not address(place, source.partition("?")[0])[0].is_file():
            complain(place, f"loaded, and not there: {source}")


def main():
    site = {path.relative_to(SITE).as_posix(): Reader(path) for path in SITE.rglob("*.html")}
    missing = [page for page in tracked() if tree.html(page) not in site]
    for page in missing:
        complain(page, "not on the site")
    order = tree.pages(ROOT)
    for page, following in zip(order, order[1:] + [None]):
        if page not in missing:
            check_page(page, following, site)
    home = site.get("index.html")
    listed = {address("index.html", link)[0] for link in home.contents} if home else set()
    for page in order[1:]:
        if SITE / tree.html(page) not in listed:
            complain(page, "not in the contents")
    for place, read in site.items():
        check_links(place, read, site)
        markers = [text for text in read.comments if re.match(r" *[a-z]+:| end", text)]
        if markers:
            complain(place, f"a marker is still there:{markers[0]}")
    for style in SITE.rglob("*.css"):
        if re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")):
            complain(style.name, "loaded from elsewhere")
    if complaints:
        return 1
    print(f"{len(order)} pages, {len(site) - len(order) - 1} listings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
