"""A page is written in the Markdown that both GitHub and the site render: no extension of a site
generator, which GitHub shows as text, and none of GitHub's that the site does not know."""
import re

import pages

FENCED = [  # of the line that begins a block of code
    (re.compile(r"```+ *\{"), "a directive"),
    (re.compile(r"```+ *(mermaid|math|geojson|topojson|stl)\b"), "a drawing made of code"),
]
OUTSIDE = [  # of a line that is not in a block, without what stands in `code`
    (re.compile(r"^ *(!!!|\?\?\?\+?) "), "an admonition"),
    (re.compile(r"^ *(> *)?:{3,}"), "a directive"),
    (re.compile(r"^ *> *\[!\w+\]"), "an alert"),
    (re.compile(r'^ *===[!+]? "'), "a tab"),
    (re.compile(r"^ *-{1,2}8<-{1,2}|\{%|\{\{"), "an include"),
    (re.compile(r"^ *\[TOC\]|^ *\[\[_TOC_\]\]"), "a table of contents"),
    (re.compile(r"\{[#.:][\w .#:-]*\} *$"), "attributes"),
    (re.compile(r"\{[a-z:-]+\}$|\{(doc|ref|numref|term|download|math)\}"), "a role"),
    (re.compile(r"\$\$|\$`"), "a formula"),
    (re.compile(r"^\[\^[^]]+\]:"), "a footnote"),
    (re.compile(r"^\*\[[^]]+\]:"), "an abbreviation"),
    (re.compile(r"<(script|style|iframe|object|form)\b|<[a-z]+ [^>]*\b(style|class|on\w+)="),
     "HTML that GitHub removes"),
]


def outside_code(line):
    """The line with a blank for each piece of `code`, where a role keeps its name's end."""
    return re.sub(r"`[^`]*`", " ", line)


def complain(book, page, line, what):
    book.complain(page, line, f"{what}: not in the Markdown that GitHub and the site share")


def check(book, page):
    fenced = comment = False
    for line, text in enumerate(page.lines):
        if text.lstrip().startswith(pages.FENCE):
            if not fenced:
                for pattern, what in FENCED:
                    if pattern.match(text.lstrip()):
                        complain(book, page, line, what)
            fenced = not fenced
            continue
        begins = text.lstrip("> ").startswith("<!--")
        comment = comment or begins
        if comment:
            comment = "-->" not in text
        elif not fenced and not text.startswith("    "):
            for pattern, what in OUTSIDE:
                if pattern.search(outside_code(text)):
                    complain(book, page, line, what)
