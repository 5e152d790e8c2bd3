"""What writes SVG: elements for whatever draws with Python, and the parts of figures, as
common/timeline/svg_canvas.c draws them, with the same style, common/timeline/figure_style.svg."""
import html
import math
import os

WIDTH, LABELS, RIGHT = 860, 150, 850
FINEST = 0.35  # narrower than this, in units of the figure, spans are drawn as one
WORDS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "..", "..", "timeline", "figure_style.svg")


# ---- elements ----

def short(x):
    """A number, as short as it can be."""
    return f"{x:.1f}".rstrip("0").rstrip(".") if isinstance(x, float) else str(x)


def escape(text):
    return html.escape(str(text), quote=False)


def opening(name, **attributes):
    """Its attributes are written in their order, with - for _, so class_ is the class; None has
    none."""
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(short(value))}"'
                    for key, value in attributes.items() if value is not None)
    return f"<{name}{words}>"


def element(name, content=None, **attributes):
    tag = opening(name, **attributes)
    return f"{tag[:-1]}/>" if content is None else f"{tag}{escape(content)}</{name}>"


def document(width, height, **label):
    return opening("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}",
                   width=width, height=height, role="img", **label)


END = "</svg>\n"


# ---- the parts of figures: lines ----

def style():
    """A line that begins with a blank goes on with the one before."""
    with open(STYLE, encoding="utf-8") as file:
        return file.read().replace("\n ", "")


def text(x, y, kind, anchor, content):
    return element("text", content, x=f"{x:.1f}", y=f"{y:.1f}", class_=kind,
                   text_anchor=anchor) + "\n"


def rectangle(kind, x, y, width, height):
    """kind: its class; "hatch" is the pattern."""
    look = {"fill": "url(#hatch)"} if kind == "hatch" else {"class_": kind}
    return element("rect", **look, x=x, y=f"{y:.1f}", width=width, height=height) + "\n"


def grid(d, **style):
    return element("path", class_="grid", **style, d=d) + "\n"


def begin(height, title, subtitle):
    height = f"{height:.0f}"
    return (document(WIDTH, height, aria_label=title) + f"\n{style()}"
            + element("rect", width=WIDTH, height=height, style="fill:var(--bg)") + "\n"
            + text(10, 22, "title", "start", title) + text(10, 39, "note", "start", subtitle))


class Panel:
    """Cycles from 0 to `end`, from the labels to `right`."""

    def __init__(self, end, right):
        self.end, self.right = end, right

    def x(self, time):
        return LABELS + (self.right - LABELS) * time / self.end


def axis(panel, top, bottom):
    """Grid lines from `top` to `bottom`, and the cycles below: their step is 1, 2 or 5 times a
    power of ten."""
    ticks = int((panel.right - LABELS) / 80) + 1
    power = 10.0 ** math.floor(math.log10(panel.end / ticks))
    step = power * next(unit for unit in (1, 2, 5, 10) if panel.end / ticks / power <= unit)
    time = 0.0
    while time <= panel.end:
        x, name = panel.x(time), f"{time:.0f}"
        yield grid(f"M{x:.1f} {top:.1f}V{bottom:.1f}")
        if x + 3 + 5.6 * len(name) < panel.right + 6:  # not over the figure's edge
            yield text(x + 3, bottom + 9, "tick", "start", name)
        time += step


def lane(spans, inferred, panel, y, height):
    """The lane of a Tensor Core's multiplications."""
    high = f"{height:.1f}"
    yield rectangle("idle", f"{LABELS:.1f}", y, f"{panel.right - LABELS:.1f}", high)
    pending = None  # begin and end of what is too fine to be drawn alone

    def multiplication(x, end, hatched):
        for kind in ["mma"] + ["hatch"] * (hatched and end - x > 2 and height > 5):
            yield rectangle(kind, f"{x:.2f}", y, f"{end - x:.2f}", high)

    for begin, end in spans:
        if begin >= panel.end:
            continue
        x, end = panel.x(begin), panel.x(min(end, panel.end))
        if pending and (x - pending[1] > FINEST or end - pending[0] > 4):
            yield from multiplication(*pending, False)
            pending = None
        if end - x < FINEST:
            start = pending[0] if pending else x
            pending = start, max(end, start + 0.1)
            continue
        # A hair between neighbours of the same colour, where there is room for it.
        yield from multiplication(x + 0.5 if end - x > 4 else x, end, inferred)
    if pending:
        yield from multiplication(*pending, False)


def width_of(words):
    """About as wide as a sans-serif font of 11 units draws it."""
    return sum(4 if c in "fijlt ,:-" else 9.5 if c in "mwCMTW" else 7 for c in words)


def legend(y, inferred):
    """What the colours mean, and the legend's height."""
    entries = [("mma", "multiply"), ("idle", "Tensor Core idle")]
    if inferred:
        entries.append(("load", "hatched: inferred, not recorded"))
    out, x = [], 10
    for kind, words in entries:
        for look in [kind] + ["hatch"] * (kind == "load"):
            out.append(rectangle(look, f"{x:.1f}", y, 12, 10))
        out.append(text(x + 16, y + 9, "note", "start", words))
        x += 16 + width_of(words) + 14
    return out, 17
