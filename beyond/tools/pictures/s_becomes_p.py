"""Chapter 16: the accumulators of S lie in the lanes that need them as the operand P."""
from data import DEVICE, c_table, function
from picture import Picture

FRAGMENTS, SOFTMAX = "common/sim/models/fragments.h", "beyond/16_attention/softmax.h"
LANE, STEP_KEYS, KEYS = 6, 16, 160  # the lane that is followed
CELL, ROW, TOP, LEFT = 14, 18, 118, (52, 316)
EDITS = [(FRAGMENTS, "8 * (i / 2) + 2 * (lane % 4) + half", "8 * (i % 2) + 2 * (lane % 4) + half"),
         (FRAGMENTS, "8 * (i / 4) + 2 * (lane % 4) + i % 2",
          "8 * (i / 4) + lane % 4 + 4 * (i % 2)"),
         (SOFTMAX, "p[i / 4][i % 4] = pack_elements(s[2 * i], s[2 * i + 1]);",
          "p[i / 4][i % 4] = pack_elements(s[i], s[i + 4]);")]


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
    p = Picture("S becomes P in the same registers",
                f"""Warp 0's 16 rows and the first {STEP_KEYS} keys: at the left who holds an
                element of S, at the right who must hold it as A of P·V. Lane {LANE} (orange) packs
                its {2 * len(pairs)} accumulators into {len(pairs)} registers; no lane needs
                another one's, so there are 0 shuffles (counted from `fragments.h` and
                `softmax_pack()`).""",
                f"Two tables of 16 rows and {STEP_KEYS} keys with the lane that holds each pair of "
                "elements: the accumulators of the product Q times K transposed, and the operand A "
                f"of P times V. They are the same. Lane {LANE} holds "
                + ", ".join(f"accumulators {a} and {b} as register {i} of A"
                            for i, (a, b) in enumerate(pairs)) + ".", 514)
    where = {acc[LANE, at]: at for _, _, at in first}
    for x, head, note in ((LEFT[0], "S: accumulators", "number: lane; orange: s[i]"),
                          (LEFT[1], "P: operand A", "orange: p[0][i]")):
        p.text(x, 62, head, "head")
        p.text(x, 84, note, "text soft")
        for key in range(0, STEP_KEYS, 8):
            p.text(x + CELL * key + CELL, TOP - 8, key, "num soft", "middle")

    def y_of(row):
        return TOP + ROW * row + (5 if row > 7 else 0)
    for row in range(16):
        p.text(LEFT[0] - 8, y_of(row) + 14, row, "num soft", "end")
    owners = [{acc[t, at]: t for t in range(32) for _, _, at in first},
              {operand[t, i, half]: t for t in range(32) for i, half, _ in first}]
    for x, own in zip(LEFT, owners):
        assert len(own) == 16 * STEP_KEYS
        pale = [(row, key) for (row, key), t in own.items() if key % 2 == 0 and t != LANE]
        p.cells([(x + CELL * key + 1, y_of(row) + 1, 2 * CELL - 2, ROW - 2) for row, key in pale],
                "mmapale")
        p.open("num m")
        for row, key in pale:
            p.text(x + CELL * (key + 1), y_of(row) + 14, own[row, key], "")
        p.close()
    p.cells([(LEFT[0] + CELL * key + 1, y_of(row) + 1, CELL - 2, ROW - 2) for row, key in where],
            "item1")
    p.cells([(LEFT[1] + CELL * key + 1, y_of(row) + 1, 2 * CELL - 2, ROW - 2)
             for (t, i, half), (row, key) in operand.items() if t == LANE and half == 0], "item1")
    p.open("num ink b m")
    for (row, key), at in where.items():
        p.text(LEFT[0] + CELL * key + CELL / 2, y_of(row) + 14, at, "")
    for (t, i, half), (row, key) in operand.items():
        if t == LANE and half == 0:
            p.text(LEFT[1] + CELL * (key + 1), y_of(row) + 14, i, "")
    p.close()
    bottom = y_of(15) + ROW
    p.path(f"M{LEFT[0] + CELL * STEP_KEYS + 6} {y_of(1) + 9}H{LEFT[1] - 8}m-6 -4l6 4l-6 4", "rule")
    y = bottom + 30
    p.text(20, y, f"What lane {LANE} does: exponentials, then four packs", "head")
    for i, (a, b) in enumerate(pairs):
        x = 20 + 132 * i
        for j, at in enumerate((a, b)):
            p.rect(x + 29 * j, y + 14, 27, 24, "item1")
            p.text(x + 29 * j + 13.5, y + 31, at, "num ink b", "middle")
        p.arrow(x + 60, y + 26, x + 78, y + 26)
        p.rect(x + 82, y + 14, 36, 24, "item1")
        p.text(x + 100, y + 31, i, "num ink b", "middle")
    return p.svg()
