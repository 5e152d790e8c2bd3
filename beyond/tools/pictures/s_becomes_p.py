"""Chapter 16: the accumulators of S lie in the lanes that need them as the operand P."""
from data import DEVICE, c_table, function
from edit import Replace
from picture import Picture

FRAGMENTS, SOFTMAX = "common/sim/models/fragments.h", "beyond/16_attention/softmax.h"
LANE, STEP_KEYS, KEYS = 6, 16, 160  # the lane that is followed
ROWS = (0, 1, 2, 3, 8, 9, 10, 11)  # that are drawn
CELL, ROW, TOP, LEFT = 14, 24, 124, (52, 316)
EDITS = [(FRAGMENTS, Replace("8 * (i / 2) + 2 * (lane % 4) + half",
                             "8 * (i % 2) + 2 * (lane % 4) + half")),
         (FRAGMENTS, Replace("8 * (i / 4) + 2 * (lane % 4) + i % 2",
                             "8 * (i / 4) + lane % 4 + 4 * (i % 2)")),
         (SOFTMAX, Replace("p[i / 4][i % 4] = pack_elements(s[2 * i], s[2 * i + 1]);",
                           "p[i / 4][i % 4] = pack_elements(s[i], s[i + 4]);"))]


def packed():
    """[(step of k, register, half, accumulator)], as softmax_pack() does it."""
    return c_table(DEVICE + f'''
static uint32_t pack_elements(float low, float high) {{
    return (uint32_t)low | (uint32_t)high << 16;
}}
{function(SOFTMAX, "DEVICE void softmax_pack(")}
int main(void) {{
    float s[{KEYS} / 2];
    uint32_t p[{KEYS} / {STEP_KEYS}][4];
    for (int i = 0; i < {KEYS} / 2; ++i) s[i] = i;
    softmax_pack(p, s, {KEYS});
    for (int step = 0; step < {KEYS} / {STEP_KEYS}; ++step)
        for (int i = 0; i < 4; ++i)
            for (int half = 0; half < 2; ++half)
                printf("%d %d %d %d\\n", step, i, half, p[step][i] >> 16 * half & 0xffff);
}}''')


def places():
    """Of a warpgroup: {(thread, accumulator): (row, key)} and {(thread, register, half): (row,
    key of the step)}."""
    rows = c_table(f'''
#include "sim/models/fragments.h"
int main(void) {{
    for (int thread = 0; thread < 128; ++thread) {{
        for (int i = 0; i < {KEYS} / 2; ++i) {{
            struct fragment_position d = fragment_of_d(thread, i);
            printf("%d %d -1 %d %d\\n", thread, i, d.row, d.column);
        }}
        for (int i = 0; i < 8; ++i) {{
            struct fragment_position a = fragment_of_a(thread, i / 2, i % 2);
            printf("%d %d %d %d %d\\n", thread, i / 2, i % 2, a.row, a.column);
        }}
    }}
}}''')
    return ({(t, i): (row, key) for t, i, half, row, key in rows if half < 0},
            {(t, i, half): (row, key) for t, i, half, row, key in rows if half >= 0})


def draw():
    acc, operand = places()
    pack = packed()
    for thread in range(128):  # what a thread packs is what its registers of A must hold
        for step, i, half, at in pack:
            row, key = operand[thread, i, half]
            assert acc[thread, at] == (row, STEP_KEYS * step + key), (thread, step, i, half)
    first = [(i, half, at) for step, i, half, at in pack if step == 0]
    pairs = [[at for j, _, at in first if j == i] for i in range(4)]
    p = Picture("From S to P, each lane keeps its elements",
                f"""Who holds which element of {len(ROWS)} rows of a warp and {STEP_KEYS} keys, as S
                and as the operand P: the same lanes at the same places. Lane {LANE} packs
                {2 * len(pairs)} of its accumulators into {len(pairs)} registers, with 0 shuffles
                (counted from `fragments.h` and `softmax_pack()`).""",
                f"Two tables of rows and {STEP_KEYS} keys with the lane that holds each pair of "
                "elements: the accumulators of the product Q times K transposed, and the operand A "
                f"of P times V. They are the same. Lane {LANE} packs "
                + ", ".join(f"s[{a}] and s[{b}] into p[0][{i}]" for i, (a, b) in enumerate(pairs))
                + ".", 494)
    where = {acc[LANE, at]: at for _, _, at in first}
    for x, head, note in ((LEFT[0], "S: accumulators", f"lane {LANE}: i of s[i]"),
                          (LEFT[1], "P: operand A", f"lane {LANE}: i of p[0][i]")):
        p.text(x, 62, head, "head")
        p.text(x, 84, note)
        for key in range(0, STEP_KEYS, 8):
            a, b = x + CELL * key + 2, x + CELL * (key + 8) - 2
            p.path(f"M{a} {TOP - 5}v-5H{b}v5", "rule")
            p.text((a + b) / 2, TOP - 15, f"keys {key}–{key + 7}", "num soft", "middle")

    def y_of(row):
        return TOP + ROW * ROWS.index(row) + (12 if row > 7 else 0)
    p.text(LEFT[0] - 8, TOP - 8, "row", "num soft", "end")
    for row in ROWS:
        p.text(LEFT[0] - 8, y_of(row) + 17, row, "num soft", "end")
    owners = [{acc[t, at]: t for t in range(32) for _, _, at in first},
              {operand[t, i, half]: t for t in range(32) for i, half, _ in first}]
    for x, own in zip(LEFT, owners):
        assert len(own) == 16 * STEP_KEYS
        pale = [(row, key) for (row, key), t in own.items()
                if key % 2 == 0 and t != LANE and row in ROWS]
        p.cells([(x + CELL * key + 1, y_of(row) + 1, 2 * CELL - 2, ROW - 2) for row, key in pale],
                "lane")
        p.open("num soft m")
        for row, key in pale:
            p.text(x + CELL * (key + 1), y_of(row) + 17, own[row, key], "")
        p.close()
    p.cells([(LEFT[0] + CELL * key + 1, y_of(row) + 1, CELL - 2, ROW - 2) for row, key in where],
            "item1")
    p.cells([(LEFT[1] + CELL * key + 1, y_of(row) + 1, 2 * CELL - 2, ROW - 2)
             for (t, i, half), (row, key) in operand.items() if t == LANE and half == 0], "item1")
    p.open("num ink b m")
    for (row, key), at in where.items():
        p.text(LEFT[0] + CELL * key + CELL / 2, y_of(row) + 17, at, "")
    for (t, i, half), (row, key) in operand.items():
        if t == LANE and half == 0:
            p.text(LEFT[1] + CELL * (key + 1), y_of(row) + 17, i, "")
    p.close()
    y = y_of(ROWS[-1]) + ROW + 24
    p.rect(LEFT[0], y - 13, 18, 16, "item1")
    p.text(LEFT[0] + 25, y, f"lane {LANE}")
    p.rect(LEFT[0] + 112, y - 13, 18, 16, "lane")
    p.text(LEFT[0] + 137, y, "another lane: its number")
    y += 38
    p.text(20, y, f"Lane {LANE} packs: p[0] is for keys 0–{STEP_KEYS - 1}, a step of P·V", "head")
    for i, (a, b) in enumerate(pairs):
        x, top = 20 + 280 * (i % 2), y + 14 + 34 * (i // 2)
        for j, at in enumerate((a, b)):
            p.rect(x + 50 * j, top, 48, 26, "item1")
            p.text(x + 50 * j + 24, top + 18, f"s[{at}]", "num ink b", "middle")
        p.arrow(x + 104, top + 13, x + 130, top + 13)
        p.rect(x + 136, top, 84, 26, "item1")
        p.text(x + 178, top + 18, f"p[0][{i}]", "num ink b", "middle")
    return p.svg()
