"""The site's search: every section's heading and text, for static/search.js. Sphinx's own search
finds only pages that contain all words of a question; this one ranks sections by BM25."""
import json

from docutils import nodes

import tree


def own_text(section):
    """A section's text without that of the sections in it and without its heading."""
    words = []
    for child in section.children:
        if not isinstance(child, (nodes.section, nodes.title, nodes.raw)):
            words.append(" ".join(text.astext() for text in child.findall(nodes.Text)))
    return " ".join(" ".join(words).split())


def sections(doctree):
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        yield [section["ids"][0], title.astext(), own_text(section)]


def collect(app):
    """The data, and the page that asks it."""
    pages = [{"url": tree.html(page), "sections": list(sections(app.env.get_doctree(document)))}
             for document, page in app.env.book_places.pages.items()]
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
