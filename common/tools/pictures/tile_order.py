"""choosing-a-schedule.md: the tiles of one wave in three orders, and the operands they need."""
from data import DEVICE, c_table, constants, sms_of_a_gpu
from edit import Replace
from picture import Picture

KERNEL, ORDER = "08_persistent_pingpong/persistent.cu", "common/building_blocks/tile_order.h"
SIZE = 8192
EDITS = [(ORDER, Replace("#define RASTER_GROUP 12", "#define RASTER_GROUP 8")),
         (ORDER, Replace(
             "tile.m = group * RASTER_GROUP + in_group % rows;\n    tile.n = in_group / rows;",
             "tile.m = group * RASTER_GROUP + in_group / tiles_n;\n"
             "    tile.n = in_group % tiles_n;"))]
TOP, CELL, LEFT, PITCH = 124, 5, 30, 182  # a cell: a tile


def wave(sms, group, tiles_m, tiles_n):
    return c_table(DEVICE + f'''#include "building_blocks/tile_order.h"
int main(void) {{
    for (int i = 0; i < {sms}; ++i) {{
        struct tile t = tile_at(i, {tiles_m}, {tiles_n});
        printf("%d %d\\n", t.m, t.n);
    }}
}}''', f"-DRASTER_GROUP={group}")


def draw():
    c = constants(KERNEL)
    bm, bn, bk = c["BM"], c["BN"], c["BK"]
    sms = sms_of_a_gpu()
    own = constants(ORDER)["RASTER_GROUP"]
    tiles_m, tiles_n = SIZE // bm, SIZE // bn
    orders = []
    for group in (1, tiles_m, own):
        tiles = wave(sms, group, tiles_m, tiles_n)
        rows, columns = {m for m, _ in tiles}, {n for _, n in tiles}
        assert len(set(tiles)) == sms
        orders.append((group, tiles, rows, columns,
                       (len(rows) * bm + len(columns) * bn) * bk * 2 // 1024))
    need = [kb for *_, kb in orders]
    assert need[-1] < .6 * min(need[:-1])
    names = ("row by row", "column by column", f"groups of {own} rows")
    p = Picture("A patch of tiles needs less than a stripe",
                f"""The {sms} tiles of a wave (green) and the strips of A and B that they need
                (blue); a cell is a tile. Row by row they need {len(orders[0][2])} and
                {len(orders[0][3])} strips, in the kernels' order {len(orders[2][2])} and
                {len(orders[2][3])}: {need[0]} KB or {need[2]} KB for one k-tile (counted from
                `tile_order.h`, {SIZE}³, tiles of {bm} × {bn}).""",
                f"Three times D of {SIZE} by {SIZE} in tiles of {bm} by {bn}, with the {sms} tiles "
                "that are computed at the same time. In a stripe they need few strips of one "
                "operand and all of the other; in a patch, few of both: "
                + "; ".join(f"{name}, {len(rows)} strips of A and {len(columns)} of B, {kb} KB"
                            for name, (_, _, rows, columns, kb) in zip(names, orders)) + ".", 588)
    width, height = CELL * tiles_n, CELL * tiles_m
    assert width < PITCH
    for i, (_, tiles, rows, columns, kb) in enumerate(orders):
        x = LEFT + PITCH * i
        p.text(x, 64, ("by rows", "by columns", f"by groups of {own}")[i], "head")
        p.text(x, 84, ("", "", "rows, as in 08")[i], "text soft")
        p.rect(x, TOP, width, height, "lane")
        p.cells([(x - 12, TOP + CELL * m, 8, CELL - 1) for m in sorted(rows)], "load")
        p.cells([(x + CELL * n, TOP - 12, CELL - 1, 8) for n in sorted(columns)], "load")
        p.cells([(x + CELL * n, TOP + CELL * m, CELL - 1, CELL - 1) for m, n in tiles], "mma")
        y = TOP + height + 26
        p.text(x, y, f"A: {len(rows)} strips")
        p.text(x, y + 20, f"B: {len(columns)} strips")
        p.rect(x, y + 32, width * kb / max(need), 14, "held")
        p.text(x, y + 66, f"{kb} KB", "text b")
    p.legend(LEFT, 572, (("mma", f"{sms} tiles at once", 190), ("load", "strips of A and B", 0)))
    return p.svg()
