"""Which thread of a warpgroup holds which element of wgmma's 64 x N accumulators: chapter 06."""
from data import c_table
from edit import Replace
from picture import Picture

LANE, COLUMNS = 6, 16  # the lane that is followed; the columns that are shown
CELL_W, CELL_H, X, TOP = 28, 21, 92, 146
EDITS = [("common/sim/models/fragments.h", Replace("8 * (i / 4) + 2 * (lane % 4) + i % 2",
                                                   "8 * (i / 4) + 2 * (lane / 8) + i % 2")),
         ("common/sim/models/fragments.h", Replace("16 * warp + lane / 4 + 8 * (i / 2 % 2),",
                                                   "16 * warp + 2 * (lane / 4) + i / 2 % 2,"))]


def owners():
    """{(row, column): (lane, i)} of warp 0."""
    return {(row, col): (lane, i) for lane, i, row, col in c_table(f'''
#include "sim/models/fragments.h"
int main(void) {{
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < {COLUMNS} / 2; ++i) {{
            struct fragment_position p = fragment_of_d(lane, i);
            printf("%d %d %d %d\\n", lane, i, p.row, p.column);
        }}
}}''')}


def draw():
    own = owners()
    assert len(own) == 16 * COLUMNS, "an element has no owner, or two"
    for (row, col), (lane, i) in own.items():  # neighbours belong to one lane: the cells below
        assert own[row, col ^ 1] == (lane, i ^ 1)
    mine = sorted(where for where, (lane, _) in own.items() if lane == LANE)
    rows = sorted({row for row, _ in mine})
    p = Picture("Who owns an accumulator of wgmma",
                f"""The first {COLUMNS} columns of warp 0's 16 rows. Lane {LANE} holds two
                neighbours of every eight columns in rows {rows[0]} and {rows[1]}; the
                {len({l for (r, _), (l, _) in own.items() if r == 0})} lanes of a quad share a row
                (counted from `common/sim/models/fragments.h`).""",
                "The 64 by N accumulators of a warpgroup: each warp has 16 rows. Of warp 0 the "
                f"first {COLUMNS} columns are shown. A quad of four lanes has rows g and g + 8; "
                f"each lane has two neighbouring columns of every eight. Lane {LANE} holds "
                + ", ".join(f"accumulator {own[w][1]} in row {w[0]}, column {w[1]}" for w in mine)
                + ".", 564)
    # the whole tile, small
    p.text(20, 60, "64 × N", "head")
    for w in range(4):
        p.rect(92, 48 + 14 * w, 448, 13, "mmapale" if w == 0 else "lane")
        p.text(536, 59 + 14 * w, f"warp {w}", "num" if w == 0 else "num soft", "end")
    p.rect(92, 48, 56, 13, "mma")
    p.path(f"M92 61L{X} {TOP - 24}H{X + COLUMNS * CELL_W}L148 61z", "zoom")
    for col in range(COLUMNS):
        p.text(X + CELL_W * col + CELL_W // 2, TOP - 8, col, "num soft", "middle")

    def y_of(r):
        return TOP + CELL_H * r + (5 if r > 7 else 0)
    p.cells([(X + CELL_W * c + 1, y_of(r) + 1, 2 * CELL_W - 2, CELL_H - 2)
             for (r, c), (lane, i) in own.items() if c % 2 == 0 and lane != LANE], "mmapale")
    p.open("num m")
    for (r, c), (lane, i) in sorted(own.items()):
        if c % 2 == 0 and lane != LANE:
            p.text(X + CELL_W * (c + 1), y_of(r) + 15, lane, "")
    p.close()
    p.open("num ink b m")
    for r, c in mine:
        p.rect(X + CELL_W * c + 1, y_of(r) + 1, CELL_W - 2, CELL_H - 2, "item1")
        p.text(X + CELL_W * c + CELL_W // 2, y_of(r) + 15, f"a{own[r, c][1]}", "")
    p.close()
    for r in range(16):
        p.text(X - 10, y_of(r) + 15, f"row {r}" if r in (0, 8) else r, "num soft", "end")
    bottom = TOP + 16 * CELL_H + 5
    for j in range(COLUMNS // 8):
        p.path(f"M{X + 224 * j + 2} {bottom + 5}v5h220v-5", "rule")
        p.text(X + 224 * j + 112, bottom + 28, f"acc[{4 * j}] … acc[{4 * j + 3}]", "code", "middle")
    y = bottom + 58
    p.rect(20, y - 15, 44, 19, "mmapale")
    p.text(42, y, "5", "num", "middle")
    p.text(74, y, "two elements of lane 5")
    p.rect(290, y - 15, 44, 19, "item1")
    p.text(312, y, "a4", "num ink b", "middle")
    p.text(344, y, f"acc[4] of lane {LANE}")
    return p.svg()
