"""Chapter 05: a box at the edge of a matrix, and where the TMA puts its chunks in the stage."""
import re

from data import bank_table, c_table, run
from edit import Replace
from picture import Picture

ROWS, COLUMNS, STRIDE, BOX, AT = 100, 56, 64, (8, 64), (96, 0)  # elements
ARGS = ("tensor-map", "--matrix", f"{ROWS}x{COLUMNS}", "--ld", str(STRIDE), "--box",
        f"{BOX[0]}x{BOX[1]}", "--at", f"{AT[0]},{AT[1]}")
CELL_W, CELL_H, TOP, LEFT, RIGHT = 30, 24, 128, 44, 314
HEADER = "common/sim/models/descriptor.h"
EDITS = [(HEADER, Replace("address >> 3", "address >> 4"))]


def places():
    """{(row, chunk) of the box: (line, place)}, by the model's swizzle."""
    return {(row, chunk): (address // 128, address % 128 // 16)
            for row, chunk, address in c_table(f'''#include "sim/models/descriptor.h"
int main(void) {{
    for (int row = 0; row < {BOX[0]}; ++row)
        for (int chunk = 0; chunk < 8; ++chunk)
            printf("%d %d %d\\n", row, chunk,
                   (int)swizzle_address((uint32_t)(row * 128 + chunk * 16), SWIZZLE_128B));
}}''')}


def draw():
    table = bank_table(*ARGS)
    where = places()
    inside, zeros = set(), set()  # (row, chunk)
    for (row, chunk), (line, place) in where.items():
        cell = table[line][place]
        if cell == "0":
            zeros.add((row, chunk))
        else:  # all of the chunk is inside: no "*" behind it
            assert cell == f"{AT[0] + row},{AT[1] + 8 * chunk}", (cell, row, chunk)
            inside.add((row, chunk))
    rows = len({row for row, _ in inside})
    chunks = len(inside) // rows
    assert rows == ROWS - AT[0] and chunks == COLUMNS / 8 and len(inside) == rows * chunks
    counted = int(re.search(r"(\d+) bytes are counted", run("inspect", *ARGS)).group(1))
    assert counted == BOX[0] * BOX[1] * 2
    p = Picture("A box: what is asked, what arrives",
                f"""A box of {BOX[0]} × {BOX[1]} elements at the corner of a {ROWS} × {COLUMNS}
                matrix, with {2 * STRIDE} bytes from row to row. {rows} rows of {chunks} chunks lie
                in the matrix; the other {len(zeros)} chunks arrive as zeros, and the barrier counts
                all {counted} bytes (simulated, by `build/sim/inspect`). Chunk 0, in orange, lands
                on the swizzle's diagonal.""",
                f"Left, the last rows of a matrix of {ROWS} by {COLUMNS} elements in chunks of 8, "
                f"and a box of {BOX[0]} by {BOX[1]} at row {AT[0]}, of which {BOX[0] - rows} rows "
                f"and the last {BOX[1] - COLUMNS} columns lie outside. Right, the same chunks as "
                "the TMA writes them into shared memory: each row of 128 bytes is permuted by the "
                "swizzle, and what lies outside is zero.", 456)
    for x, head, notes in (
            (LEFT, "In the matrix", ("chunks of 8 elements, 16 bytes",
                                     f"row stride: {2 * STRIDE} bytes")),
            (RIGHT, "In shared memory", ("swizzled, zeros filled in",))):
        p.text(x, 62, head, "head")
        for i, note in enumerate(notes):
            p.text(x, 82 + 19 * i, note, "text soft")
    first = AT[0] - 2  # two rows of the matrix above the box
    p.cells([(LEFT + CELL_W * c + 1, TOP + CELL_H * (r - first) + 1, CELL_W - 2, CELL_H - 2)
             for r in (first, first + 1) for c in range(COLUMNS // 8)], "lane")
    for r in (first, AT[0], ROWS - 1, AT[0] + BOX[0] - 1):
        p.text(LEFT - 8, TOP + CELL_H * (r - first) + 17, r, "num soft", "end")
    p.css.append(".zero{fill:none;stroke:var(--edge);stroke-dasharray:2 2}"
                 ".outline{fill:none;stroke:var(--item1);stroke-width:2.5}")
    box = TOP + CELL_H * 2
    for side, at in ((LEFT, {w: w for w in where}), (RIGHT, where)):
        def cell(w):
            line, place = at[w]
            return side + CELL_W * place + 1, box + CELL_H * line + 1, CELL_W - 2, CELL_H - 2
        p.cells([cell(w) for w in sorted(inside) if w[1]], "load")
        p.cells([cell(w) for w in sorted(inside) if not w[1]], "item1")
        if side == RIGHT:
            p.cells([cell(w) for w in sorted(zeros)], "zero")
        for some, cls in (inside, "num ink m"), (zeros if side == RIGHT else (), "num m"):
            p.open(cls)
            for w in sorted(some):
                x, y, _, _ = cell(w)
                p.text(x + CELL_W / 2 - 1, y + 16, f"{w[0]}.{w[1]}" if w in inside else "0", "")
            p.close()
    # the corner of the matrix, and the box beyond it
    edge = LEFT + CELL_W * COLUMNS // 8
    p.path(f"M{edge} {TOP - 6}V{TOP + CELL_H * (ROWS - first)}H{LEFT - 6}", "box")
    p.path(f"M{LEFT - 3} {box - 3}h{8 * CELL_W + 6}v{8 * CELL_H + 6}h{-8 * CELL_W - 6}z", "outline")
    p.text(LEFT + 4 * CELL_W, box + CELL_H * 6 + 5, "outside the matrix", "text", "middle")
    p.text(LEFT + 4 * CELL_W, box + CELL_H * 8 + 24, f"the box: {BOX[0]} × {BOX[1]}", "text b",
           "middle")
    p.path(f"M{RIGHT - 24} {box + 4 * CELL_H}h16m-6 -5l6 5l-6 5", "rule")
    p.text(RIGHT + 4 * CELL_W, box + CELL_H * 8 + 24, f"{counted} bytes counted", "text b",
           "middle")
    p.legend(LEFT, 440, (("item1", "chunk 0", 104), ("load", "the others", 122),
                         ("zero", "zeros", 92), ("lane", "not in the box", 0)))
    return p.svg()
