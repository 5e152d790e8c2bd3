"""Part two's chapters: which builds on which, by the words FROM of their declarations."""
import re

from data import source
from edit import Replace
from picture import Picture

CHAPTERS = "beyond/CMakeLists.txt"
EDITS = [(CHAPTERS, Replace("FROM 11_fp8_scaling", "FROM 09_cluster_multicast")),
         (CHAPTERS, Replace("chapter(beyond/10_stream_k FROM 09_cluster_multicast",
                            "chapter(beyond/10_stream_k FROM 08_persistent_pingpong"))]
# A word or two where the directory's name does not say enough.
WORDS = {"08_persistent_pingpong": "ping-pong", "08_persistent_pingpong:persistent": "persistence",
         "09_cluster_multicast": "multicast", "10_stream_k": "stream-K",
         "11_fp8_scaling": "FP8 scales", "12_w4a8": "4-bit weights", "13_two_gpus": "two GPUs",
         "14_fused_epilogue": "epilogue", "15_grouped_gemm": "groups",
         "17_tcgen05": "Blackwell", "18_cta_pair": "two SMs", "19_work_stealing": "CLC"}
TOP, STEP, BOX, WIDE = 80, 54, 38, 152
COLUMNS = (20, 204, 388)


def declared():
    """{chapter: what it builds on}, and the same of those that have another chapter's kernel
    beside their own."""
    base, beside = {}, {}
    for line in re.findall(r"^chapter\((.*?)\)", source(CHAPTERS), re.M | re.S):
        words = line.split()
        name = words[0].partition("/")[2]
        if "FROM" not in words:  # a library
            continue
        base[name] = words[words.index("FROM") + 1]
        beside[name] = [word.partition("/")[2] for word in words[1:] if word.startswith("beyond/")]
    return base, beside


def draw():
    base, beside = declared()
    roots = sorted({of for of in base.values() if of not in base}, reverse=True)
    assert base and all(of in base or re.match(r"0\d_", of) for of in base.values())
    rows, place = 0, {}

    def put(name, depth):
        """It stands beside its first successor."""
        nonlocal rows
        place[name] = depth, rows
        for number, follower in enumerate(sorted(n for n, of in base.items() if of == name)):
            rows += number > 0
            put(follower, depth + 1)
    for name in roots:
        put(name, 0)
        rows += 1
    assert len(place) == len(base) + len(roots) and max(x for x, _ in place.values()) < len(COLUMNS)
    first = [name for name, of in base.items() if of in roots]
    more = len(base) - len(first)
    p = Picture("What to read before which chapter",
                f"""Of the {len(base)} chapters {len(first)} follow part one, from
                {len(roots)} of its kernels, and {more} need{"s" * (more == 1)} a chapter of part
                two (counted from `{CHAPTERS}`).""",
                "; ".join(f"{name[:2]} builds on {of[:2]}" +
                          (f", {of.partition(':')[2]}" if ":" in of else "")
                          for name, of in sorted(base.items())) + ".", TOP + STEP * rows + 40)
    p.text(COLUMNS[0], 62, "part one", "head")
    p.text(COLUMNS[1], 62, "part two", "head")

    def at(name):
        depth, row = place[name]
        return COLUMNS[depth], TOP + STEP * row

    for name, of in base.items():
        (x0, y0), (x1, y1) = at(of), at(name)
        start, middle = x0 + WIDE, (x0 + WIDE + x1) / 2
        if y0 != y1:
            p.path(f"M{start} {y0 + BOX / 2}H{middle}V{y1 + BOX / 2}H{x1 - 2}", "rule")
        p.arrow(start, y1 + BOX / 2, x1 - 2, y1 + BOX / 2) if y0 == y1 else \
            p.arrow(middle, y1 + BOX / 2, x1 - 2, y1 + BOX / 2)
    for name in place:
        x, y = at(name)
        p.rect(x, y, WIDE, BOX, "held" if name in roots else "item0", rx=4)
        ink = "" if name in roots else " ink"
        p.text(x + 8, y + 24, name[:2], f"text b{ink}")
        p.text(x + 40, y + 24, WORDS.get(name, name[3:].replace("_", " ")), f"text{ink}")
    shared = [f"{name[:2]} compares itself with {of[:2]}, too"
              for name, others in beside.items() for of in others]
    p.text(20, TOP + STEP * rows + 16, "; ".join(shared), "text soft")
    return p.svg()
