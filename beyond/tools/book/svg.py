"""The parts that figures are drawn with, as common/timeline/svg_canvas.c draws them; the style is
read from there."""
import ast
import html
import os
import re

WIDTH = 860
CANVAS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "..", "..", "common", "timeline", "svg_canvas.c")


def style():
    """The literals that make the style there; C's are Python's."""
    with open(CANVAS, encoding="utf-8") as file:
        literals = re.search(r"style\[\] =\s*(.*?);\n\n", file.read(), re.DOTALL).group(1)
    return ast.literal_eval(f"({literals})")


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
