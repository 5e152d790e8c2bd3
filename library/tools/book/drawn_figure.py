"""A dot for each drawn shape, its ratio to cuBLASLt's best over its FLOP, in two panels, one above
the other: triangles are shapes whose n or k is not a multiple of 8, circles are the others. All
axes are logarithmic."""
import math

import records
import svg

LEFT, RIGHT = 60, 840
FIRST = (74, 194)  # the panels' tops and bottoms
SECOND = (234, 474)
HEIGHT = 516


def flop(row):
    m, n, k = row.shape
    return 2.0 * m * n * k


class Panel:
    def __init__(self, panel, decades, low, high):
        self.top, self.bottom = panel
        self.decades, self.low, self.high = decades, low, high

    def across(self, value):
        first, last = self.decades
        return LEFT + (RIGHT - LEFT) * (math.log10(value) - first) / (last - first)

    def up(self, ratio):
        return self.bottom - (self.bottom - self.top) * math.log(ratio / self.low) / math.log(
            self.high / self.low)

    def columns(self, named):
        for decade in range(self.decades[0], self.decades[1] + 1):
            x = self.across(10.0 ** decade)
            yield svg.grid(f"M{x:.1f} {self.top:.1f}V{self.bottom:.1f}")
            if named:
                name = f"{10 ** (decade % 3)} {['', 'k', 'M', 'G', 'T', 'P'][decade // 3]}FLOP"
                last = decade == self.decades[1]  # it ends with the picture
                yield svg.text(x + 16 if last else x, self.bottom + 15, "tick",
                               "end" if last else "middle", name)

    def line(self, ratio, form):
        """The line of 1 is where the kernel is as fast as the library."""
        y = self.up(ratio)
        strong = "stroke:var(--fg)" if abs(ratio - 1) < 1e-6 else None
        yield svg.grid(f"M{LEFT} {y:.1f}H{RIGHT}", style=strong)
        yield svg.text(LEFT - 6, y + 3, "tick", "end", f"{ratio:{form}}")

    def dot(self, row):
        x, y = self.across(flop(row)), self.up(row.ratio)
        if row.is_aligned:
            kind = "circle"
            yield svg.opening(kind, cx=f"{x:.1f}", cy=f"{y:.1f}", r=4,
                              style="fill:var(--load);stroke:var(--bg)")
        else:
            kind = "path"
            yield svg.opening(kind, d=f"M{x:.1f} {y - 6:.1f}l5 9h-10z",
                              style="fill:var(--bg);stroke:var(--store);stroke-width:1.5")
        name = f"{'×'.join(map(str, row.shape))}: {row.ratio:.2f}"
        yield svg.element("title", name) + f"</{kind}>\n"


def unaligned(rows, decades):
    ratios = [1] + [row.ratio for row in rows]
    low = 2.0 ** math.floor(math.log2(min(ratios)))
    high = 2.0 ** max(1, math.ceil(math.log2(max(ratios))))
    panel = Panel(FIRST, decades, low, high)
    yield svg.text(LEFT, FIRST[0] - 9, "name", "start", "triangles: n or k is not a multiple of 8")
    yield from panel.columns(False)
    while low <= high:
        yield from panel.line(low, "g")
        low *= 2
    for row in rows:
        yield from panel.dot(row)


def aligned(rows, decades):
    ratios = [1] + [row.ratio for row in rows]
    low = max(1, math.floor(min(ratios) * 10))
    high = math.floor(max(ratios) * 10) + 1
    panel = Panel(SECOND, decades, low / 10, high / 10)
    yield svg.text(LEFT, SECOND[0] - 9, "name", "start", "circles: n and k are multiples of 8")
    yield from panel.columns(True)
    for tenths in range(low, high + 1):
        yield from panel.line(tenths / 10, ".1f")
    for row in rows:
        yield from panel.dot(row)
    yield svg.text((LEFT + RIGHT) // 2, SECOND[1] + 32, "label", "middle",
                   "2 m n k, the problem's floating-point operations")


def draw(record):
    """The SVG of a record's rows, of which there must be one."""
    exponents = [math.floor(math.log10(flop(row))) for row in record.rows]
    decades = min(exponents), max(exponents) + 1
    gpu = records.text(record.run.header, "gpu")
    subtitle = ("TFLOPS of hopper_gemm / TFLOPS of cuBLASLt's best, in burst, on "
                f"{len(record.rows)} drawn shapes; measured, {gpu}")
    return "".join([svg.begin(HEIGHT, "hopper_gemm on drawn shapes", subtitle),
                    *unaligned([row for row in record.rows if not row.is_aligned], decades),
                    *aligned([row for row in record.rows if row.is_aligned], decades), svg.END])
