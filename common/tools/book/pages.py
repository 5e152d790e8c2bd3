"""The book's pages as lines that can be checked and replaced, and where things lie.

The book has three houses. Part one's pages are README.md and every .md in the folders of the
chapters, in docs/, docs/questions/ and docs/results/; part two's are those below beyond/, and the
libraries' those below library/. What a page needs from a house's docs, a record or a figure, is
looked for in the page's own house, and then in docs/. So part one is complete without the others.
"""
import os
import re
import sys

FENCE = "```"
BEYOND = "beyond/"
HOUSES = (BEYOND, "library/")  # besides part one


def fail(what):
    """Something cannot be read."""
    print(f"error: {what}", file=sys.stderr)
    sys.exit(2)


def is_chapter(path):
    """Is this the path of a chapter's README?"""
    return re.fullmatch(r"(beyond/)?\d\d_[^/]*/README\.md", path) is not None


def house_of(path):
    """Of HOUSES, or "": that of a page or file."""
    return next((house for house in HOUSES if path.startswith(house)), "")


def kinds_of(root, chapter):
    """The files with kinds of problems that kernels of this folder may be of; they are linked with
    the kernels."""
    return [path for path in (os.path.join(root, chapter, "kind.c"),
                              os.path.join(root, "common/scaled/kinds.c")) if os.path.exists(path)]


def marker_value(marker, key, default=None):
    """The value of key=value in a marker, up to a blank."""
    found = re.search(rf" {key}=([^ ]*)", marker)
    return found.group(1) if found else default


def marker_words(marker, key):
    """The words of key=word,word,... in a marker."""
    return [word for word in marker_value(marker, key, "").split(",") if word]


def split(text):
    """The lines of a text, whose last one ends with a newline or does not."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


class Page:
    """A page. Lines are counted from 0 here, and from 1 in complaints."""

    def __init__(self, path, text):
        self.path = path  # from the root, such as "06_wgmma/README.md"
        self.lines = split(text)
        self.changed = False

    def house(self):
        return house_of(self.path)

    def may_show(self, path):
        """What is not part one's, only pages of its own house may show."""
        return house_of(path) in ("", self.house())

    def link(self, place):
        """From the page to a file or folder given from the root: "../docs/results/ncu.txt"."""
        return os.path.relpath(place, os.path.dirname(self.path))

    def find(self, start, prefix):
        """The first line from `start` on that is not inside a fence and begins so; -1."""
        fenced = False
        for i, line in enumerate(self.lines):
            fenced ^= line.startswith(FENCE)
            if i >= start and not fenced and line.startswith(prefix):
                return i
        return -1

    def all(self, prefix):
        """The lines that find() finds, while the page may change behind them."""
        line = self.find(0, prefix)
        while line >= 0:
            yield line
            line = self.find(line + 1, prefix)

    def fence_end(self, line):
        """The line of the fence that ends the block beginning in `line`; -1."""
        if line >= len(self.lines) or not self.lines[line].startswith(FENCE):
            return -1
        for i in range(line + 1, len(self.lines)):
            if self.lines[i].startswith(FENCE):
                return i
        return -1

    def marker_end(self, line):
        """The line with the --> of the marker that begins in `line`."""
        while line + 1 < len(self.lines) and "-->" not in self.lines[line]:
            line += 1
        return line

    def replace(self, first, end, lines):
        """Puts `lines` in the place of first .. end - 1. True if they are the same."""
        if self.lines[first:end] == lines:
            return True
        self.lines[first:end] = lines
        self.changed = True
        return False


class Book:
    """All pages under a root, and the files that they are about."""

    def __init__(self, root, rewrite=False):
        self.root = root
        self.rewrite = rewrite
        self.complaints = 0
        self.texts = {}
        self.loaded = {}  # records.py keeps there what it has read
        self.pages = [Page(path, self.text(path)) for path in sorted(self.paths())]
        if not self.pages:
            fail(f"no pages under {root}")

    def paths(self):
        folders = [name for name in self.list("") if re.match(r"\d\d_", name)]
        for folder in folders + ["docs", "docs/questions", "docs/results"]:
            yield from (f"{folder}/{name}" for name in self.list(folder) if name.endswith(".md"))
        for house in HOUSES:
            for folder, _, names in os.walk(os.path.join(self.root, house)):
                inside = os.path.relpath(folder, self.root)
                yield from (f"{inside}/{name}" for name in names if name.endswith(".md"))
        if self.exists("README.md"):
            yield "README.md"

    def list(self, folder):
        path = os.path.join(self.root, folder)
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def is_absent(self, path):
        """Is this in a house that is not there?"""
        house = house_of(path)
        return bool(house) and not self.exists(house)

    def text(self, path):
        """A file's text; None if it cannot be read."""
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8", newline="") as file:
                    self.texts[path] = file.read()
            except OSError:
                self.texts[path] = None
        return self.texts[path]

    def houses(self, page):
        """The docs in which the page's records and figures may lie, its own house first."""
        return list(dict.fromkeys([page.house() + "docs", "docs"]))

    def path_for(self, page, file):
        """Where results/NAME or figures/NAME lies for the page; if nowhere, where it would."""
        paths = [f"{house}/{file}" for house in self.houses(page)]
        for path in paths:
            if self.exists(path):
                return path
        own = self.houses(page)[0]
        return paths[0] if self.exists(own) else paths[-1]

    def complain(self, page, line, text):
        print(f"{page.path}:{line + 1}: {text}", file=sys.stderr)
        self.complaints += 1

    def remake(self, page, marker, what, make):
        """Makes anew what stands between each line that begins with `marker`, or does so in a
        quotation, and its <!-- end -->. make(book, page, line) returns the lines; None after a
        complaint. Complains about what was stale, a `what`, unless the book is being rewritten."""
        for quote in ("", "> "):
            for line in page.all(quote + marker):
                end = page.find(line, quote + "<!-- end -->")
                following = page.find(line + 1, quote + marker)
                if end < 0 or 0 <= following < end:
                    self.complain(page, line, f"the {what} has no <!-- end -->")
                    return
                lines = make(self, page, line)
                if lines is None:
                    continue
                lines = [(quote + text).rstrip(" ") if quote else text for text in lines]
                if not page.replace(line + 1, end, lines) and not self.rewrite:
                    self.complain(page, line, f"the {what} is stale: build the target docs")

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def write_changed(self):
        for page in self.pages:
            if page.changed:
                self.write(page.path, "".join(line + "\n" for line in page.lines))
                print(f"rewritten: {page.path}")
