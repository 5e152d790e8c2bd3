"""Chapter 06: a tile of two warpgroups beside a tile of one, with the strips that they need."""
from data import constants, sheet
from edit import Replace
from picture import Picture

ONE, TWO = "06_wgmma/kernel.cu", "06_wgmma/two_warpgroups.cu"
EDITS = [(TWO, Replace("BM = 128, BN = 256,", "BM = 128, BN = 192,"))]
UNIT, DEEP, TOP = 1, 46, 124


def tile(path):
    c = constants(path)
    bm, bn, bk = c["BM"], c["BN"], c["BK"]
    flops = int(sheet("dense 16-bit FLOPs per clock and SM, on the Tensor Core"))
    return bm, bn, bk, (bm + bn) * bk * 2, 2 * bm * bn * bk // flops


def draw():
    one, two = tile(ONE), tile(TWO)
    assert one[0] == two[0] and two[1] == 2 * one[1] and one[2] == two[2]
    rate = [size / cycles for *_, size, cycles in (one, two)]
    p = Picture("Twice the columns, the same strip of A",
                f"""Both tiles need the same {one[0]} rows of A for a k-tile. The wider tile
                multiplies them by {two[1]} columns instead of {one[1]}, so it needs {rate[1]:.0f}
                bytes a cycle instead of {rate[0]:.0f} (predicted, at the Tensor Core's full
                rate).""",
                f"Two tiles of D with the strips of A and B that a k-tile needs. On the left one "
                f"warpgroup computes {one[0]} by {one[1]}, on the right two compute {two[0]} by "
                f"{two[1]}, {two[0] // 2} rows each. The strip of A is the same, that of B is "
                f"twice as wide. The bytes for each cycle fall from {rate[0]:.0f} to "
                f"{rate[1]:.0f}.", 366)
    for x, (bm, bn, bk, size, cycles), head, groups, bytes_a_cycle in (
            (20, one, "kernel.cu", 1, rate[0]), (228, two, "two_warpgroups.cu", 2, rate[1])):
        p.text(x, 62, head, "head")
        gx = x + DEEP + 6
        w, h = bn * UNIT, bm * UNIT
        p.rect(gx, TOP - DEEP - 6, w, DEEP, "load")
        p.text(gx + w / 2, TOP - DEEP / 2 - 1, f"B: {bn}", "text ink b", "middle")
        p.rect(x, TOP, DEEP, h, "held")
        p.text(x + DEEP / 2, TOP + h / 2 - 4, "A:", "text b", "middle")
        p.text(x + DEEP / 2, TOP + h / 2 + 15, bm, "text b", "middle")
        for g in range(groups):
            rows = h / groups
            p.rect(gx, TOP + rows * g, w, rows - (1.5 if g + 1 < groups else 0),
                   ("mma", "mma1")[g])
            p.text(gx + w / 2, TOP + rows * (g + .5) + 5, f"warpgroup {g}",
                   "text ink b" if g == 0 else "text onbright b", "middle")
        y = TOP + h + 30
        p.text(x, y, f"{size // 1024} KB, {cycles} cycles", "text")
        p.rect(x, y + 12, bytes_a_cycle * 2.6, 26, "load")
        p.text(x + 8, y + 31, f"{bytes_a_cycle:.0f} B a cycle", "text ink b")
    p.text(20, TOP + one[0] * UNIT + 98, "for a k-tile (predicted)",
           "text soft")
    return p.svg()
