"""The parts that figures are drawn with, as common/timeline/svg_canvas.c draws them, with the
same style, common/timeline/figure_style.svg."""
import html
import math
import os

WIDTH, LABELS, RIGHT = 860, 150, 850
FINEST = 0.35  # narrower than this, in units of the figure, spans are drawn as one
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "..", "..", "timeline", "figure_style.svg")


def style():
    """A line that begins with a blank goes on with the one before."""
    with open(STYLE, encoding="utf-8") as file:
        return file.read().replace("\n ", "")


def escape(text):
    return html.escape(text, quote=False).replace('"', "&quot;")


def text(x, y, kind, anchor, content):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(content)}</text>\n")


def begin(height, title, subtitle):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(title)}">\n'
            f'{style()}<rect width="{WIDTH}" height="{height:.0f}" style="fill:var(--bg)"/>\n'
            + text(10, 22, "title", "start", title) + text(10, 39, "note", "start", subtitle))


END = "</svg>\n"


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
        yield f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>\n'
        if x + 3 + 5.6 * len(name) < panel.right + 6:  # not over the figure's edge
            yield text(x + 3, bottom + 9, "tick", "start", name)
        time += step


def rectangle(kind, x, y, width, height):
    return (f'<rect {kind} x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" '
            f'height="{height:.1f}"/>\n')


def lane(spans, inferred, panel, y, height):
    """The lane of a Tensor Core's multiplications."""
    yield (f'<rect class="idle" x="{LABELS:.1f}" y="{y:.1f}" width="{panel.right - LABELS:.1f}" '
           f'height="{height:.1f}"/>\n')
    pending = None  # begin and end of what is too fine to be drawn alone

    def multiplication(x, end, hatched):
        yield rectangle('class="mma"', x, y, end - x, height)
        if hatched and end - x > 2 and height > 5:
            yield rectangle('fill="url(#hatch)"', x, y, end - x, height)

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
        out.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="12" height="10"/>\n')
        if kind == "load":
            out.append(f'<rect fill="url(#hatch)" x="{x:.1f}" y="{y:.1f}" width="12" '
                       'height="10"/>\n')
        out.append(text(x + 16, y + 9, "note", "start", words))
        x += 16 + width_of(words) + 14
    return out, 17
