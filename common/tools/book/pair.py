"""Two steps beside each other, each simulated and measured, in a picture for a first look.

    <!-- pair: 06_wgmma 08_persistent_pingpong -->
    ![...](docs/figures/06-beside-08.svg)
    <!-- end -->

The picture is made of the figures/NAME-simulated.svg and -measured.svg of both, which are a run's
own (figures.sh). It keeps the lanes of the multiplications and epilogues and of the Tensor Core,
and has three labels: LABELS, two for the first step and one for the second.
"""
import os
import re
import sys

import svg

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pictures"))
import palette

TITLES = {"06_wgmma": "06: one warpgroup", "08_persistent_pingpong": "08: two in ping-pong"}
LABELS = {"06_wgmma": ("① no data yet", "② idle while D is stored"),
          "08_persistent_pingpong": ("③ one stores, the other multiplies",)}
SHAPES = {"simulated": "simulated in seconds, without a GPU", "measured": "measured on an NVIDIA H200"}
LEFT, RIGHT = 150.0, 850.0  # the time axis in a figure of one step
WIDTH, NAMES, GAP = 860, 108, 16
LANE, STEP, TOP = 22, 27, 62
COLOURS = ("bg", "fg", "soft", "lane", "idle", "mma", "mma1", "epilogue")
STYLE = """text{fill:var(--fg);font-size:15.5px}.title{font-size:18px;font-weight:600}.soft{fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}
.lane{fill:var(--lane)}.idle{fill:var(--idle)}.mma{fill:var(--mma)}.mma1{fill:var(--mma1)}.epilogue{fill:var(--epilogue)}
"""
SPAN = re.compile(r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"')
NAME = re.compile(r'<text [^>]*class="label"[^>]*>([^<]*)</text>')


def read_lanes(text):
    """The spans of each lane of a figure: name -> [(class, x, width)]."""
    lanes, spans = {}, []
    for line in text.split("\n"):
        name, span = NAME.match(line), SPAN.match(line)
        if 'height="10"' in line:
            break  # the legend
        if name:
            spans = lanes.setdefault(name.group(1), [])
        elif span:
            spans.append((span.group(1), float(span.group(2)), float(span.group(4))))
    return lanes


def shown_lanes(lanes):
    """A lane for each role that multiplies, with its epilogues, and the Tensor Core's."""
    out = []
    for name in lanes:
        if f"{name} multiply" not in lanes:
            continue
        kept = [s for s in lanes[name] if s[0] in ("lane", "epilogue")]
        kept += [s for s in lanes[f"{name} multiply"] if s[0].startswith("mma")]
        out.append(("warpgroup" if name == "threads" else name, kept))
    return out + [("Tensor Core", lanes.get("Tensor Core", []))]


def panel(name, lanes, x, y):
    """The lines of SVG of one step of one kind, with its lanes' names on the left."""
    scale = ((WIDTH - GAP) / 2 - NAMES) / (RIGHT - LEFT)
    for i, (title, spans) in enumerate(lanes):
        yield svg.element("text", title, class_="end", x=x + NAMES - 8, y=y + i * STEP + 17)
        for kind, begin, width in spans:
            yield svg.element("rect", class_=kind, x=x + NAMES + (begin - LEFT) * scale,
                              y=y + i * STEP, width=width * scale, height=LANE)
    below, texts = y + len(lanes) * STEP + 14, LABELS[name]
    yield svg.element("text", texts[0], x=x + NAMES, y=below)
    for text in texts[1:]:
        yield svg.element("text", text, class_="end", x=x + (WIDTH - GAP) / 2, y=below)


def picture(names, figures):
    height = TOP + 2 * (3 * STEP + 62) + 4
    alt = f"{names[0]} beside {names[1]}, simulated above measured"
    out = [svg.document(WIDTH, height, aria_label=alt), "<style>",
           palette.style("svg", COLOURS, f"font-family:{svg.WORDS}") + STYLE + "</style>",
           svg.element("rect", width=WIDTH, height=height, style="fill:var(--bg)")]
    for i, (kind, words) in enumerate(SHAPES.items()):
        y = TOP + i * (3 * STEP + 62)
        out.append(svg.element("text", words, class_="soft middle", x=WIDTH / 2, y=y - 10))
        for j, name in enumerate(names):
            x = j * (WIDTH + GAP) / 2
            if i == 0:
                out.append(svg.element("text", TITLES[name], class_="title", x=x + NAMES, y=24))
            out += panel(name, shown_lanes(read_lanes(figures[name, kind])), x, y)
    x, y = 16, height - 10
    for kind, words in (("mma", "multiplies"), ("mma1", "the other one does"),
                        ("epilogue", "stores D"), ("idle", "Tensor Core idle")):
        out.append(svg.element("rect", class_=kind, x=x, y=y - 11, width=14, height=12))
        out.append(svg.element("text", words, class_="soft", x=x + 20, y=y))
        x += 36 + 8.8 * len(words)
    out.append(svg.element("text", "a gap: not shown", class_="soft", x=x - 4, y=y))
    return "\n".join([*out, svg.END])


def make(book, page, line):
    names = page.lines[line][len("<!-- pair:"):].split("-->")[0].split()
    if len(names) != 2 or not all(name in TITLES for name in names):
        book.complain(page, line, f"a pair is two of {', '.join(TITLES)}")
        return None
    figures = {(name, kind): book.text(f"docs/figures/{name}-{kind}.svg")
               for name in names for kind in SHAPES}
    for (name, kind), text in figures.items():
        if text is None:
            book.complain(page, line, f"there is no figure of {name}, {kind}")
            return None
    place = f"docs/figures/{names[0][:2]}-beside-{names[1][:2]}.svg"
    made = picture(names, figures)
    if book.text(place) != made:
        if book.rewrite:
            book.write(place, made)
        else:
            book.complain(page, line, f"{place} is stale: build the target docs")
    return ["", f"![{names[0][:2]} beside {names[1][:2]}, simulated above measured]({page.link(place)})", ""]


def check(book, page):
    book.remake(page, "<!-- pair:", "figure", make)
