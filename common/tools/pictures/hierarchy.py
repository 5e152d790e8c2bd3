"""D, a CTA's tile, one wgmma, a core matrix: chapter 06."""
from data import DEVICE, between, c_table, constants, sms_of_a_gpu
from edit import Replace
from picture import Picture

KERNEL, ORDER = "06_wgmma/kernel.cu", "common/building_blocks/tile_order.h"
SIZE = 4096
EDITS = [(KERNEL, Replace("BM = 128, BN = 128,", "BM = 128, BN = 256,")),
         (KERNEL, Replace("wgmma_m64nNk16(128,", "wgmma_m64nNk16(64,")),
         (ORDER, Replace("#define RASTER_GROUP 12", "#define RASTER_GROUP 8"))]


def first_wave(sms, tiles_m, tiles_n):
    """The tiles of the first CTAs, one on each SM."""
    return c_table(DEVICE + f'''#include "building_blocks/tile_order.h"
int main(void) {{
    for (int i = 0; i < {sms}; ++i) {{
        struct tile t = tile_at(i, {tiles_m}, {tiles_n});
        printf("%d %d\\n", t.m, t.n);
    }}
}}''')


def draw():
    c = constants(KERNEL)
    sms = sms_of_a_gpu()
    bm, bn, bk = c["BM"], c["BN"], c["BK"]
    multiply = between(KERNEL, "DEVICE void multiply(", "\n}\n")
    assert f"wgmma_m64nNk16({bn}," in multiply  # one wgmma is as wide as the tile
    rows, wide = 64, 16  # of A in one wgmma: its name
    halves, steps = bm // rows, bk // wide
    tiles_m, tiles_n = SIZE // bm, SIZE // bn
    p = Picture("From D to a core matrix",
                f"""Each tile is cut out of the one before. {tiles_m} × {tiles_n} tiles make D, of
                which {sms} are computed at once; {halves} × {steps} `wgmma` make a k-tile of one
                tile; {rows // 8} × {wide // 8} core matrices make one `wgmma`'s A (counted from
                `06_wgmma/kernel.cu` at {SIZE}³ on {sms} SMs).""",
                f"Four drawings, each a part of the one before. D of {SIZE} by {SIZE} is cut into "
                f"tiles of {bm} by {bn}; {sms} of them, a patch, are computed at the same time. A "
                f"CTA computes a tile from {bm} rows of A and {bn} columns of B, {bk} of k at a "
                f"time. One wgmma multiplies {rows} by {wide} with {wide} by {bn}; each of the "
                f"four "
                f"warps gets 16 rows of the result. In shared memory its operands consist of core "
                "matrices, 8 rows of 16 bytes.", 740)
    # 1: D and its tiles
    x, y, side = 20, 96, 192
    tw, th = side / tiles_n, side / tiles_m
    p.text(x, 60, f"1  D, {SIZE} × {SIZE}", "head")
    p.text(x, 80, f"{tiles_m} × {tiles_n} tiles", "text soft")
    p.rect(x, y, side, side, "lane")
    wave = first_wave(sms, tiles_m, tiles_n)
    assert len(set(wave)) == sms
    p.cells([(x + tw * t[1] + .5, y + th * t[0] + .5, tw - 1, th - 1) for t in wave], "mmapale")
    p.path("".join(f"M{x + tw * i:g} {y}v{side}" for i in range(tiles_n + 1)) +
           "".join(f"M{x} {y + th * i:g}h{side}" for i in range(tiles_m + 1)), "thin")
    tm, tn = wave[sms - 10]
    mx, my = x + tw * tn, y + th * tm
    p.text(x, y + side + 20, f"pale: {sms} tiles at once")
    # 2: the tile of a CTA; its last 64 rows are looked at
    zoom = 1.2
    bmz, bnz, bkz = bm * zoom, bn * zoom, bk * zoom
    gx, gy = 342, 104
    ax, ay, bx, by = gx - bkz - 8, gy + bkz, gx, gy - 8
    half = ay + bmz - rows * zoom
    p.path(f"M{mx:g} {my:g}L{ax:g} {ay:g}V{ay + bmz:g}L{mx:g} {my + th:g}z", "zoom")
    p.rect(mx, my, tw, th, "mma")
    p.text(ax, 60, f"2  A CTA’s tile of D, {bm} × {bn}", "head")
    p.text(ax, 80, "each k-tile adds A × B to it", "text soft")
    p.rect(bx, by, bnz, bkz, "held")
    p.text(bx + bnz / 2, by + bkz / 2 + 13, f"B: {bk} × {bn}", "text", "middle")
    p.rect(ax, ay, bkz, bmz, "held")
    p.text(gx - 8, ay - 10, f"A: {bm} × {bk}", "text", "end")
    for i in range(halves):
        last = i == halves - 1
        p.rect(gx, ay + rows * zoom * i, bnz, rows * zoom, "mma" if last else "mmapale")
        p.text(gx + bnz / 2, ay + rows * zoom * (i + .5) + 5,
               f"rows {rows * i}–{rows * (i + 1) - 1}", "text ink b" if last else "text b",
               "middle")
    p.rect(ax, half, wide * zoom, rows * zoom, "load")  # the operands of one wgmma
    p.rect(bx, by, bnz, wide * zoom, "load")
    p.path("".join(f"M{ax + wide * zoom * i:g} {ay}v{bmz:g}" for i in range(1, steps)) +
           "".join(f"M{ax:g} {ay + rows * zoom * i:g}h{bkz:g}" for i in range(1, halves)) +
           "".join(f"M{bx} {by + wide * zoom * i:g}h{bnz:g}" for i in range(1, steps)), "cut")
    p.css.append(".cut{fill:none;stroke:var(--bg);stroke-width:1.5}")
    # 3: one wgmma
    scale = 2.6
    w3, h3, k3 = bn * scale, rows * 1.6, wide * 1.7
    x3, y3 = 540 - w3, 404
    bottom = half + rows * zoom
    p.path(f"M{gx} {bottom:g}L{x3 - 14 - k3:g} {y3 - k3 - 14:g}H546L{gx + bnz:g} {bottom:g}z",
           "zoom")
    p.path(f"M{x3 - 14 - k3:g} {y3 - k3 - 14:g}V{y3 + h3 + 6:g}H546V{y3 - k3 - 14:g}", "dash")
    p.text(20, 352, "3  One wgmma", "head")
    p.text(20, 372, f"{rows} × {bn} × {wide}", "text soft")
    p.text(20, 460, f"{halves} × {steps} of them", "text soft")
    p.text(20, 479, "for each k-tile", "text soft")
    p.rect(x3, y3 - k3 - 8, w3, k3, "load")
    p.text(x3 + w3 / 2, y3 - k3 + 11, f"B: {wide} × {bn}, in shared memory", "text ink b", "middle")
    p.rect(x3 - 8 - k3, y3, k3, h3, "load")
    p.text(x3 - 22 - k3, y3 + 16, f"A: {rows} × {wide}", "text", "end")
    for w in range(4):
        p.rect(x3, y3 + w * h3 / 4, w3, h3 / 4 - 1.5, "mma")
        p.text(x3 + w3 / 2, y3 + (w + .5) * h3 / 4 + 4.5,
               f"warp {w}: accumulators of rows {16 * w}–{16 * w + 15}", "text ink", "middle")
    p.text(x3 + w3 / 2, y3 + h3 + 26, f"in registers, {bn // 2} of each thread", "text soft",
           "middle")
    # 4: core matrices of A
    y4, zx, zw, zh, cs = 556, 250, 26, 14, 14
    cx, cy, zy = x3 - 8 - k3 / 2 - 26, y4 + 4, y4 + 32
    ax3 = x3 - 8 - k3
    p.path(f"M{ax3:g} {y3 + h3:g}L{cx:g} {cy}h52L{ax3 + k3:g} {y3 + h3:g}z", "zoom")
    for j in range(wide // 8):
        p.cells([(cx + j * 26, cy + i * cs, 25, cs - 1) for i in range(rows // 8)], "load")
    p.rect(cx + 26, cy + 2 * cs, 25, cs - 1, "item1")
    p.path(f"M{cx + 51:g} {cy + 2 * cs}L{zx} {zy}v{8 * zh - 1}L{cx + 51:g} {cy + 3 * cs - 1}z",
           "zoom")
    p.text(zx, y4 + 2, "4  A core matrix", "head")
    p.text(zx, y4 + 21, f"A consists of {rows // 8} × {wide // 8} of them", "text soft")
    p.cells([(zx + zw * j, zy + zh * i, zw - 1, zh - 1) for i in range(8) for j in range(8)],
            "item1")
    p.path(f"M{zx + 8 * zw + 5} {zy}h6v{8 * zh - 1}h-6", "rule")
    p.text(zx + 8 * zw + 20, zy + 62, "8 rows", "text b")
    p.path(f"M{zx} {zy + 8 * zh + 5}v6h{8 * zw - 1}v-6", "rule")
    p.text(zx + 4 * zw, zy + 8 * zh + 30, "8 of k = 16 bytes", "text b", "middle")
    return p.svg()
