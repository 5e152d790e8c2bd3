"""What all pictures share: the frame, text sizes, shapes.

A picture is W units wide and shows one idea. Text is at least 13 units, so that a phone of 360 px
still shows 9 px; where the picture is shown that narrow, text grows by a sixth (a media query in an
SVG asks for the width of its <img>): leave a fifth of air behind every label. Colours are names of
palette.py: load, held, wait, mma and mma1 (consumers 0 and 1) and epilogue mean what they mean in
the timelines, item1 is what one follows, hot is waste and has its word beside it.
"""
import math
import os
import re
import sys

import palette

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "book"))
from svg import END, WORDS, document, element, opening, short

W = 560
SIZES = {"title": (19, 21), "head": (15, 17), "text": (14, 16.5), "code": (13.5, 16),
         "num": (13, 14)}
CODE = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


class Picture:
    """title: the idea, at most 44 characters. caption: what the page has below it, in Markdown:
    what one sees, two things that one can count, and what kind of numbers they are. desc: what the
    picture tells a reader who cannot see it."""

    def __init__(self, title, caption, desc, height):
        assert len(title) <= 44, title
        self.title, self.desc, self.height = title, desc, height
        self.caption = " ".join(caption.split())
        self.out, self.css = [], []

    def add(self, text):
        self.out.append(text)

    def rect(self, x, y, w, h, cls="", **at):
        self.add(element("rect", x=x, y=y, width=w, height=h, class_=cls or None, **at))

    def cells(self, boxes, cls):
        """Many boxes of one look, (x, y, w, h), as one path."""
        self.path("".join(f"M{short(x)} {short(y)}h{short(w)}v{short(h)}h{short(-w)}z"
                          for x, y, w, h in boxes), cls)

    def path(self, d, cls="", **at):
        self.add(element("path", d=d, class_=cls or None, **at))

    def text(self, x, y, s, cls="text", anchor=None, **at):
        if anchor:
            cls = (cls + " " + {"middle": "m", "end": "e"}[anchor]).strip()
        self.add(element("text", s, x=x, y=y, class_=cls or None, **at))

    def open(self, cls="", **at):
        self.add(opening("g", class_=cls or None, **at))

    def close(self):
        self.add("</g>")

    def arrow(self, x0, y0, x1, y1, cls="arrow"):
        """A line with a head of its own, so that no marker is needed."""
        a = math.atan2(y1 - y0, x1 - x0)
        tip = [(x1 - 8 * math.cos(a + d), y1 - 8 * math.sin(a + d)) for d in (-.45, .45)]
        self.path(f"M{short(x0)} {short(y0)}L{short(x1)} {short(y1)}"
                  f"M{short(tip[0][0])} {short(tip[0][1])}L{short(x1)} {short(y1)}"
                  f"L{short(tip[1][0])} {short(tip[1][1])}", cls)

    def legend(self, x, y, entries):
        """(class, word, width) ...: squares with their words."""
        for cls, word, width in entries:
            self.rect(x, y - 13, 18, 16, cls)
            self.text(x + 25, y, word)
            x += width

    def svg(self):
        body = "\n".join(self.out)
        used = set(" ".join(re.findall(r'class="([^"]*)"', body)).split()) | {"bg"}
        names = list(palette.themes()[0])
        needed = [name for name in names if name in used or name in (
            "fg", "soft", "line", "ink", "edge") or f"--{name})" in "".join(self.css)]

        def sizes(i):
            return "".join(f".{k}{{font-size:{v[i]}px}}" for k, v in SIZES.items())
        css = (palette.style("svg", needed, f"fill:var(--fg);font-family:{WORDS}") +
               f"{sizes(0)}@media(max-width:440px){{{sizes(1)}}}\n"
               ".title,.head,.b{font-weight:600}.soft{fill:var(--soft)}"
               f".code,.num{{font-family:{CODE}}}"
               ".m{text-anchor:middle}.e{text-anchor:end}.ink{fill:var(--ink);paint-order:stroke;"
               "stroke:rgba(0,0,0,.4);stroke-width:1.6px}"
               ".arrow,.rule{fill:none;stroke:var(--fg);stroke-width:1.5}"
               ".zoom{fill:var(--edge);fill-opacity:.12;stroke:var(--edge);stroke-dasharray:3 3}"
               ".box{fill:none;stroke:var(--fg);stroke-width:1.5}"
               ".dash{fill:none;stroke:var(--soft);stroke-dasharray:3 3}"
               ".thin{fill:none;stroke:var(--line)}\n")
        css += "".join(f".{k}{{fill:var(--{k})}}" for k in names
                       if k in used and k not in ("soft", "ink")) + "\n"
        css += "".join(self.css) + "\n"
        return "\n".join([
            document(W, self.height, aria_labelledby="t d"),
            element("title", self.title, id="t"), element("desc", self.desc, id="d"),
            element("metadata", self.caption), f"<style>\n{css}</style>",
            element("rect", class_="bg", width=W, height=self.height),
            element("text", self.title, x=20, y=30, class_="title"), body, END])
