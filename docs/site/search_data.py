"""The site's search: every section's heading, text, and what other pages call it, for
static/search.js. Sphinx's own search finds only pages that contain all words of a question; this one
ranks sections by BM25."""
import json
import posixpath
from collections import defaultdict

from docutils import nodes

import tree


def plain(node):
    """Its text without HTML."""
    html = {id(text) for raw in node.findall(nodes.raw) for text in raw.findall(nodes.Text)}
    return " ".join(text.astext() for text in node.findall(nodes.Text) if id(text) not in html)


def own_text(section):
    """A section's text without that of the sections in it, without its heading and without HTML."""
    words = []
    for child in section.children:
        if not isinstance(child, (nodes.section, nodes.title, nodes.raw)):
            words.append(plain(child))
    return " ".join(" ".join(words).split())


def called(link):
    """The words that lead to a link's target: its own and, in a table, those of the row's first
    cell, such as a name from elsewhere or a topic."""
    row = link.parent
    while row is not None and not isinstance(row, nodes.row):
        row = row.parent
    first = plain(row.children[0]) if row is not None else ""
    return " ".join(f"{first} {link.astext()}".split())


def names_of(page, doctree):
    """What a page calls the sections to which it links: (page, anchor, words)."""
    for link in doctree.findall(nodes.reference):
        file, _, anchor = link.get("refuri", "").partition("#")
        if file and ":" not in file:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), file)), anchor, \
                called(link)


def sections(doctree, names):
    """[anchor, heading, text, names] of each; a link without an anchor names the first."""
    for number, section in enumerate(doctree.findall(nodes.section)):
        anchors = [section["ids"][0], *([""] if number == 0 else [])]
        own = sorted({name for anchor in anchors for name in names.get(anchor, ())})
        yield [section["ids"][0], section.next_node(nodes.title).astext(), own_text(section),
               " ".join(own)]


def collect(app):
    """The data, and the page that asks it."""
    doctrees = {tree.html(page): app.env.get_doctree(document)
                for document, page in app.env.book_links.pages.items()}
    names = defaultdict(lambda: defaultdict(set))  # page -> anchor -> what it is called
    for page, doctree in doctrees.items():
        for target, anchor, words in names_of(page, doctree):
            if target != page:
                names[target][anchor].add(words)
    pages = [{"url": page, "sections": list(sections(doctree, names[page]))}
             for page, doctree in doctrees.items()]
    (app.outdir / "_static").mkdir(exist_ok=True)
    with open(app.outdir / "_static" / "search-data.js", "w", encoding="utf-8") as file:
        file.write("const PAGES = ")
        json.dump(pages, file, ensure_ascii=False, separators=(",", ":"))
        file.write(";\n")
    yield "search", {"title": "Search"}, "search.html"


def without_search(app):
    app.builder.search = False


def setup(app):
    app.connect("builder-inited", without_search)
    app.connect("html-collect-pages", collect)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
