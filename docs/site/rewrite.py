"""What the site does with a page that Sphinx has read: links lead to the site's own pages, excerpts
to their lines, names of sources to their listings; markers go; the contents are added."""
import os
import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

import live_links
import tree

logger = logging.getLogger(__name__)
COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
EXCERPT = re.compile(r"<!-- excerpt: *(\S*)")
FIGURE = re.compile(r"(?:.*/)?docs/figures/(\d\d)_[a-z0-9_]*?(_two_warpgroups|_wait0|_persistent)?"
                    r"-simulated\.svg")
ATTRIBUTE = re.compile(r'\b(href|src|srcset)="([^"]*)"')


class Links:
    """Where they lead."""

    def __init__(self):
        self.pages = {tree.document(page): page for page in tree.pages()}
        self.shown = {*self.pages.values(), *tree.listings()}
        self.repository = tree.repository()
        self.has_live = bool(os.environ.get("BOOK_LIVE"))

    def resolve(self, page, target):
        """The address of a link's target, from the page; None if the site has none."""
        state = live_links.state_of(target)
        if state and self.has_live:
            return relative_uri(tree.html(page), live_links.page_of(state)) + f"#{state}"
        if re.match(r"[a-z]+:", target):
            return target
        file, mark, anchor = target.partition("#")
        if not file:
            return target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
        if path in self.shown:
            return relative_uri(tree.html(page), tree.html(path)) + mark + anchor
        kind = "tree" if (tree.ROOT / path).is_dir() else "blob"
        if not (tree.ROOT / path).exists():
            logger.warning("%s: the link leads nowhere: %s", page, target)
        return f"{self.repository}/{kind}/HEAD/{path}{mark}{anchor}" if self.repository else None

    def listing_of(self, page, name):
        """The listing that a name in the text is, from the page's folder or the root; None."""
        for folder in (posixpath.dirname(page), "", "common", "beyond", "library"):
            path = posixpath.join(folder, name)
            if path in self.shown and not path.endswith(".md"):
                return path
        return None


def rewrite_links(links, page, doctree):
    for node in list(doctree.findall(nodes.reference)):
        target = links.resolve(page, node["refuri"])
        if target is None:  # what is only in the repository, and that has no address
            name = nodes.inline("", "", *node.children, classes=["in-repository"])
            node.replace_self(name)
        else:
            node["refuri"] = target
    for node in list(doctree.findall(nodes.literal)):
        path = links.listing_of(page, node.astext())
        if path and not isinstance(node.parent, nodes.reference) \
                and not isinstance(node.parent.parent, nodes.reference):
            target = relative_uri(tree.html(page), tree.html(path))
            node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=target))


def lines_of_excerpt(path, text):
    """The first and last line of the file that an excerpt is, counted from 1; None."""
    source = tree.source(path).split("\n")
    shown = text.rstrip("\n").split("\n")
    for start in range(len(source) - len(shown) + 1):
        if source[start:start + len(shown)] == shown:
            return start + 1, start + len(shown)
    return None


def link_excerpts(links, page, doctree):
    for node in list(doctree.findall(nodes.raw)):
        found = EXCERPT.match(node.astext())
        block = node.next_node(siblings=True, descend=False) if found else None
        if not isinstance(block, nodes.literal_block) or found.group(1) not in links.shown:
            continue
        path = found.group(1)
        lines = lines_of_excerpt(path, block.astext())
        if lines:
            first, last = lines
            target = relative_uri(tree.html(page), tree.html(path)) + f"#L{first}-L{last}"
            where = f"lines {first} to {last}" if last > first else f"line {first}"
            link = nodes.reference("", f"{path}, {where}", refuri=target)
            block.parent.insert(block.parent.index(block),
                                nodes.paragraph("", "", link, classes=["excerpt"]))


def rewrite_html(links, page, doctree):
    """Markers do not show; addresses in HTML are links like others."""
    def address(found):
        name, target = found.groups()
        if name != "href" and ":" not in target:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            return f'{name}="{relative_uri(tree.html(page), path)}"'
        target = links.resolve(page, target)
        return "" if target is None else f'{name}="{target}"'

    for node in list(doctree.findall(nodes.raw)):
        text = ATTRIBUTE.sub(address, COMMENT.sub("", node.astext()))
        if text.strip():
            node.children = [nodes.Text(text)]
            node.rawsource = text
        else:
            node.parent.remove(node)


def link_figures(links, page, doctree):
    """A simulated timeline is a link to its live form. Other figures are links to themselves: on a
    phone they are larger there. Pictures of ideas fit a phone as they are."""
    for node in list(doctree.findall(nodes.image)):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), node["uri"]))
        if posixpath.basename(posixpath.dirname(path)) == "pictures":
            node["classes"].append("picture")
            continue
        if isinstance(node.parent, nodes.reference):
            continue
        found = FIGURE.fullmatch(path)
        if found and links.has_live:
            chapter, variant = found.groups()
            state = f"chapter={chapter}" + (f"&variant={variant[1:]}" if variant else "")
            target = relative_uri(tree.html(page), live_links.page_of(state)) + f"#{state}"
            node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=target))
        else:
            node["classes"].append("figure-in-text")


def add_sources(links, page, doctree):
    """Below a chapter's title, its sources."""
    folder = posixpath.dirname(page)
    own = [path for path in sorted(links.shown) if posixpath.dirname(path) == folder
           and not path.endswith(".md")]
    if not own or not page.endswith("README.md") or not folder:
        return
    own.sort(key=lambda path: not path.endswith("/kernel.cu"))
    line = nodes.paragraph("", "Sources: ", classes=["sources"])
    for path in own:
        if len(line.children) > 1:
            line += nodes.Text(" · ")
        name = nodes.literal("", posixpath.basename(path))
        line += nodes.reference("", "", name, refuri=relative_uri(tree.html(page), tree.html(path)))
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, line)


def add_live_page(links, page, doctree):
    """At the top of the page about the live pages, these."""
    if page != live_links.LIVE or not links.has_live:
        return
    line = nodes.paragraph("", "Open: ", classes=["sources"])
    for name in live_links.PAGES:
        if len(line.children) > 1:
            line += nodes.Text(" · ")
        line += nodes.reference("", name, refuri=relative_uri(tree.html(page), name))
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, line)


def add_contents(doctree):
    section = next(doctree.findall(nodes.section))
    for caption, pages in tree.parts().items():
        names = [tree.document(page) for page in pages if page != "README.md"]
        if names:
            section += addnodes.toctree(
                entries=[(None, name) for name in names], includefiles=names, caption=caption,
                rawcaption=caption, rawentries=[], parent="index", glob=False, hidden=True,
                includehidden=False, maxdepth=1, numbered=0, titlesonly=True)


def rewrite(app, doctree):
    links = app.env.book_links
    page = links.pages[app.env.docname]
    for section in doctree.findall(nodes.section):
        if "slug" in section:
            section["ids"] = [section["slug"]]
    rewrite_links(links, page, doctree)
    link_excerpts(links, page, doctree)
    rewrite_html(links, page, doctree)
    link_figures(links, page, doctree)
    add_sources(links, page, doctree)
    add_live_page(links, page, doctree)
    if page == "README.md":
        add_contents(doctree)


def prepare(app, env, names):
    env.book_links = Links()


def setup(app):
    app.connect("env-before-read-docs", prepare)
    app.connect("doctree-read", rewrite, priority=100)  # before Sphinx collects links and titles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
