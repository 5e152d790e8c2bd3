"""A page for each source: coloured, each line with GitHub's anchor (#L12), its includes links."""
import html
import posixpath
import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.c_cpp import CLexer
from pygments.lexers.c_like import CudaLexer
from sphinx.util.osutil import relative_uri

import tree

INCLUDE = re.compile(r"&quot;([\w./]+\.h)&quot;")


def lexer_of(path):
    if path.endswith((".cu", ".h")):
        return CudaLexer(stripnl=False)
    return CLexer(stripnl=False) if path.endswith(".c") else get_lexer_for_filename(path)


def listing(path, links):
    def include(found):
        target = links.listing_of(path, found.group(1))
        if not target:
            return found.group(0)
        return f'<a href="{relative_uri(tree.html(path), tree.html(target))}">{found.group(0)}</a>'

    text = highlight(tree.source(path), lexer_of(path), HtmlFormatter(nowrap=True))
    lines = text.rstrip("\n").split("\n")
    numbered = "\n".join(
        f'<span class="line" id="L{i}"><a href="#L{i}" data-line="{i}" aria-label="line {i}"></a>'
        f'{INCLUDE.sub(include, line) if "#include" in line else line}</span>'
        for i, line in enumerate(lines, 1))
    return f'<div class="highlight listing"><pre>{numbered}\n</pre></div>'


def heading(path, links):
    """The file's name, and the way to the page of its folder and to GitHub."""
    ways = []
    page = posixpath.join(posixpath.dirname(path), "README.md")
    if page in links.shown:
        address = relative_uri(tree.html(path), tree.html(page))
        ways.append(f'<a href="{address}">the chapter</a>')
    if links.repository:
        ways.append(f'<a href="{links.repository}/blob/HEAD/{path}">on GitHub</a>')
    ways = f'<p class="sources">{" · ".join(ways)}</p>' if ways else ""
    return f"<h1><code>{html.escape(path)}</code></h1>{ways}"


def listings(app):
    links = app.env.book_links
    for path in tree.listings():
        body = heading(path, links) + listing(path, links)
        yield path, {"title": path, "body": body, "is_listing": True}, "page.html"


def add_script(app, name, template, context, doctree):
    if context.get("is_listing"):
        app.add_js_file("lines.js")


def setup(app):
    app.connect("html-collect-pages", listings)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
