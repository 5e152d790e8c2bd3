"""layouts.md: where the core matrices of an operand lie, and what LBO and SBO lead to."""
from data import c_table
from edit import Replace
from picture import Picture

CELL_W, CELL_H, TOP = 26, 20, 208
MODEL = "common/sim/models/descriptor.c"
LEFT, RIGHT = 40, 318
# swizzle, LBO, SBO: those of the page
LAYOUTS = (("SWIZZLE_NONE", 128, 256), ("SWIZZLE_128B", 0, 1024))
EDITS = [("common/sim/models/descriptor.h", Replace("address >> 3", "address >> 4")),
         (MODEL, Replace("in_core + core * d->sbo + chunk * d->lbo",
                         "in_core + core * d->lbo + chunk * d->sbo"))]


def addresses(swizzle, lbo, sbo):
    """{(row, chunk of k): address} of the first 24 rows of a K-major operand."""
    return {(row, chunk): address for row, chunk, address in c_table(f'''
#include "{MODEL.partition('/')[2]}"
int main(void) {{
    const struct descriptor d = {{.lbo = {lbo}, .sbo = {sbo}, .swizzle = {swizzle}}};
    for (int row = 0; row < 24; ++row)
        for (int chunk = 0; chunk < 2; ++chunk)
            printf("%d %d %d\\n", row, chunk, (int)descriptor_chunk(&d, false, row, chunk));
}}''')}


def draw():
    p = Picture("Where a descriptor’s strides lead",
                """From the orange core matrix LBO leads to the blue one, 8 further along k, and SBO
                to the green one, 8 rows further. Without a swizzle each is one line of 128 bytes,
                and both strides are needed; with the 128-byte swizzle it is a diagonal of 8 lines,
                SBO = 1024 alone is left, and the blue one begins 16 bytes on, before the XOR
                (counted from `common/sim/models/descriptor.c`).""",
                "Above, an operand as core matrices of 8 rows by 16 bytes, three of them coloured. "
                "Below, lines of 128 bytes of shared memory. Without swizzle, each core matrix "
                "fills one line; LBO, 128 bytes, leads to the next line, and SBO, 256 bytes, two "
                "lines further. With the 128-byte swizzle each core matrix is a diagonal through "
                "eight lines, and SBO, 1024 bytes, leads eight lines further.", 612)
    colours = {(0, 0): "item1", (0, 1): "load", (1, 0): "mma"}
    # the operand
    p.text(20, 62, "The operand: 8 rows × 16 bytes are a core matrix", "head")
    ox, oy, ow, oh = 150, 92, 96, 24
    for group in range(3):
        for chunk in range(2):
            p.rect(ox + ow * chunk, oy + oh * group, ow - 2, oh - 2,
                   colours.get((group, chunk), "lane"))
        p.text(ox - 10, oy + oh * group + 16, f"rows {8 * group}–{8 * group + 7}", "text", "end")
    p.text(ox + ow / 2, oy - 8, "k 0–7", "text", "middle")
    p.text(ox + ow * 1.5, oy - 8, "k 8–15", "text", "middle")
    p.arrow(ox + ow - 22, oy + 11, ox + ow + 22, oy + 11, "arrow white")
    p.arrow(ox + ow / 2, oy + 14, ox + ow / 2, oy + oh + 12, "arrow white")
    p.css.append(".white{stroke:var(--ink);stroke-width:2}")
    p.text(ox + 2 * ow + 12, oy + 16, "→ LBO, along k", "text")
    p.text(ox + 2 * ow + 12, oy + oh + 16, "↓ SBO, 8 rows on", "text")
    for x, head, lines, (swizzle, lbo, sbo) in ((LEFT, "Without swizzle", 6, LAYOUTS[0]),
                                                (RIGHT, "128-byte swizzle", 16, LAYOUTS[1])):
        where = addresses(swizzle, lbo, sbo)
        start = {key: min(where[8 * key[0] + r, key[1]] for r in range(8)) for key in colours}
        if swizzle == "SWIZZLE_NONE":  # what the page says of the fields
            assert start[0, 1] - start[0, 0] == lbo and start[1, 0] - start[0, 0] == sbo
        assert where[8, 0] - where[0, 0] == sbo
        assert all(len({where[8 * g + r, c] % 128 // 16 for r in range(8)}) == 8
                   for g, c in colours)  # without conflicts, both
        p.text(x, TOP - 24, head, "head")
        p.cells([(x + CELL_W * i + 1, TOP + CELL_H * line + 1, CELL_W - 2, CELL_H - 2)
                 for line in range(lines) for i in range(8)], "lane")
        for (group, chunk), cls in colours.items():
            p.cells([(x + CELL_W * (a % 128 // 16) + 1, TOP + CELL_H * (a // 128) + 1, CELL_W - 2,
                      CELL_H - 2) for a in (where[8 * group + r, chunk] for r in range(8))], cls)
        y0 = TOP + CELL_H / 2

        def stride(edge, side, name, to):
            """An arrow beside the lines, from line 0; side: 1 right of them, -1 left."""
            y1 = y0 + CELL_H * to / 128
            p.path(f"M{edge} {y0:g}h{14 * side}V{y1:g}H{edge}m{5 * side} -4l{-5 * side} 4"
                   f"l{5 * side} 4", "rule")
            p.text(edge + 14 * side, y1 + 18, name, "num b", "middle")
        stride(x + 8 * CELL_W + 2, 1, "SBO", sbo)
        y = TOP + lines * CELL_H
        if lbo:
            stride(x - 2, -1, "LBO", lbo)
            p.text(x, y + 22, f"LBO = {lbo}: the next line", "text")
            p.text(x, y + 42, f"SBO = {sbo}: two lines on", "text")
        else:
            # The XOR keeps what is 16 bytes on in the same line: chunk 0 and 1 differ in one bit.
            assert all(where[r, 0] ^ where[r, 1] == 16 for r in range(8))
            p.text(x, y + 22, f"SBO = {sbo}: eight lines on", "text")
            p.text(x, y + 42, "LBO: not used; blue is", "text")
            p.text(x, y + 62, "16 B on, before the XOR", "text")
    p.text(LEFT, 590, "a line: 128 bytes, all banks once", "text soft")
    return p.svg()
