"""What all pictures share: the frame, text sizes, shapes.

A picture is W units wide and shows one idea. Text is at least 13 units, so that a phone of 360 px
still shows 9 px; where the picture is shown that narrow, text grows by a sixth (a media query in an
SVG asks for the width of its <img>): leave a fifth of air behind every label. Colours are names of
palette.py: load, held, wait, mma and mma1 (consumers 0 and 1) and epilogue mean what they mean in
the timelines, item1 is what one follows, hot is waste and has its word beside it.
"""
import html
import math
import re

import palette

W = 560
SIZES = {"title": (19, 21), "head": (15, 17), "text": (14, 16.5), "code": (13.5, 16),
         "num": (13, 14)}
WORDS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
CODE = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


def esc(s):
    return html.escape(str(s), quote=False)


def short(x):
    """A number, as short as it can be."""
    return f"{x:.1f}".rstrip("0").rstrip(".") if isinstance(x, float) else str(x)


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
        self.add(f'<rect x="{short(x)}" y="{short(y)}" width="{short(w)}" height="{short(h)}"'
                 f'{self._at(cls, at)}/>')

    def cells(self, boxes, cls):
        """Many boxes of one look, (x, y, w, h), as one path."""
        self.path("".join(f"M{short(x)} {short(y)}h{short(w)}v{short(h)}h{short(-w)}z"
                          for x, y, w, h in boxes), cls)

    def path(self, d, cls="", **at):
        self.add(f'<path d="{d}"{self._at(cls, at)}/>')

    def text(self, x, y, s, cls="text", anchor=None, **at):
        if anchor:
            cls = (cls + " " + {"middle": "m", "end": "e"}[anchor]).strip()
        self.add(f'<text x="{short(x)}" y="{short(y)}"{self._at(cls, at)}>{esc(s)}</text>')

    def open(self, cls="", **at):
        self.add(f"<g{self._at(cls, at)}>")

    def close(self):
        self.add("</g>")

    @staticmethod
    def _at(cls, at):
        s = f' class="{cls}"' if cls else ""
        for key, value in at.items():
            if value is not None:
                s += f' {key.rstrip("_").replace("_", "-")}="{short(value)}"'
        return s

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
        light, dark = palette.themes()
        needed = {name for name in light if name in used or name in (
            "fg", "soft", "line", "ink", "edge") or f"--{name})" in "".join(self.css)}

        def variables(theme):
            return "".join(f"--{k}:{v};" for k, v in theme.items() if k in needed)

        def sizes(i):
            return "".join(f".{k}{{font-size:{v[i]}px}}" for k, v in SIZES.items())
        css = (f"svg{{{variables(light)}fill:var(--fg);font-family:{WORDS}}}"
               f"@media(prefers-color-scheme:dark){{svg{{{variables(dark)}}}}}\n"
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
        css += "".join(f".{k}{{fill:var(--{k})}}" for k in light
                       if k in used and k not in ("soft", "ink")) + "\n"
        css += "".join(self.css) + "\n"
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {self.height}" '
                f'width="{W}" height="{self.height}" role="img" aria-labelledby="t d">\n'
                f'<title id="t">{esc(self.title)}</title>\n<desc id="d">{esc(self.desc)}</desc>\n'
                f"<metadata>{esc(self.caption)}</metadata>\n"
                f"<style>\n{css}</style>\n"
                f'<rect class="bg" width="{W}" height="{self.height}"/>\n'
                f'<text x="20" y="30" class="title">{esc(self.title)}</text>\n{body}\n</svg>\n')
