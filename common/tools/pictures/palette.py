"""The book's colours. There is one palette, that of the timeline's page (common/timeline/page/
style.css), light and dark; the figures' (common/timeline/figure_style.svg) must be the same. Pictures
add what has no place in a timeline.
"""
import itertools
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PAGE, FIGURES = "common/timeline/page/style.css", "common/timeline/figure_style.svg"
MORE = {  # name: light, dark
    "edge": ("#8c959f", "#6e7681"), "hot": ("#9e2a1c", "#ff8c88"),
    "mmapale": ("#cfe5cb", "#1d3a20"), "onbright": ("#14210a", "#0d1606"),
    "item0": ("#5261b8", "#5f6dc8"), "item1": ("#c4471f", "#c4471f")}

# Colours that a reader must tell apart because they stand beside each other, also with another
# colour vision: the least distance (CIE76) as most people see them, and as they look without one of
# the three kinds of cones (Machado, Oliveira, Fernandes 2009, severity 1; linear RGB).
APART = 12
NEIGHBOURS = [("mma", "mma1", "wait"), ("load", "held", "lane"), ("load", "wait"),
              ("mma", "load", "epilogue"), ("mma1", "epilogue"), ("item0", "item1"),
              ("item1", "mma"), ("item1", "load"), ("item1", "fma"), ("item1", "mmapale"),
              ("item1", "held"), ("item0", "held"), ("epilogue", "load", "held"),
              ("mmapale", "mma"), ("fma", "mma"), ("hot", "lane"), ("hot", "load"),
              ("hot", "mma"), ("hot", "mma1"), ("hot", "item1"), ("idle", "mma"),
              ("idle", "mma1"), ("fma", "item0"), ("store", "load", "held"),
              ("store", "epilogue"), ("acquire", "item1", "store"), ("store", "wait")]
VISION = {
    "": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216),
                   (-.003882, -.048116, 1.051998)),
    "deuteranopia": ((.367322, .860646, -.227968), (.280085, .672501, .047413),
                     (-.01182, .04294, .968881)),
    "tritanopia": ((1.255528, -.076749, -.178779), (-.078411, .930809, .147602),
                   (.004733, .691367, .303900))}


def _variables(text):
    return dict(re.findall(r"--([a-z0-9]+): ?(#[0-9a-f]{3,6})\b", text))


def _read(path, root):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("\n ", "") if path == FIGURES else text
    light, dark = text.split("@media (prefers-color-scheme: dark)" if path.endswith(".css") else
                             "@media(prefers-color-scheme:dark)")[:2]
    light = _variables(light)
    return light, {**light, **_variables(dark)}


def themes(root=ROOT):
    """The colours' names and values, light and dark."""
    light, dark = _read(PAGE, root)
    return ({**light, **{name: both[0] for name, both in MORE.items()}},
            {**dark, **{name: both[1] for name, both in MORE.items()}})


def style(selector, names, more=""):
    """CSS: the colours of these names as variables, in the reader's theme."""
    light, dark = ("".join(f"--{name}:{theme[name]};" for name in names) for theme in themes())
    return (f"{selector}{{{light}{more}}}"
            f"@media(prefers-color-scheme:dark){{{selector}{{{dark}}}}}\n")


def _lab(colour, vision):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    linear = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4
              for c in (int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4))]
    seen = [min(max(sum(a * b for a, b in zip(row, linear)), 0), 1) for row in vision]
    xyz = [sum(a * b for a, b in zip(row, seen)) / white for row, white in (
        ((.4124, .3576, .1805), .9505), ((.2126, .7152, .0722), 1), ((.0193, .1192, .9505), 1.089))]
    f = [v ** (1 / 3) if v > .008856 else 7.787 * v + 16 / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(one, other, vision):
    return sum((a - b) ** 2 for a, b in zip(_lab(one, VISION[vision]), _lab(other, VISION[vision]))
               ) ** .5


def complaints(root=ROOT):
    """Where the figures' colours are not the page's, and which neighbours look alike to whom."""
    out = []
    for theme, page, figures in zip(("light", "dark"), _read(PAGE, root), _read(FIGURES, root)):
        out += [f"{theme} --{name} is {value} in {FIGURES} and {page.get(name)} in {PAGE}"
                for name, value in figures.items() if page.get(name) != value]
    for theme, colours in zip(("light", "dark"), themes(root)):
        for group in NEIGHBOURS:
            for a, b in itertools.combinations(group, 2):
                for vision in VISION:
                    far = distance(colours[a], colours[b], vision)
                    if far < APART:
                        out.append(f"{theme} --{a} and --{b} are {far:.0f} apart, less than {APART}"
                                   + (f", for a reader with {vision}" if vision else ""))
    return out
