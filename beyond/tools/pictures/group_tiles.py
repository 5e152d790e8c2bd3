"""Chapter 15: the rows of groups, the tiles of all of them in one sequence, and a last tile that
reaches into the next group."""
from data import DEVICE, between, c_table, constants, function
from picture import Picture

KERNEL, GROUPS = "beyond/15_grouped_gemm/kernel.cu", "beyond/15_grouped_gemm/groups.h"
SIZES, TILES_N, CTAS, CTA = (300, 0, 129, 120), 2, 3, 1  # the CTA that is followed
TOP, ROW, X = 76, .56, 164  # units of a row
WIDE, PITCH = 46, 124
EDITS = [(GROUPS, "(group->rows + tile_rows - 1) / tile_rows * tiles_n;",
          "group->rows / tile_rows * tiles_n;"),
         (GROUPS, "group->first_row += group->rows;", "group->first_row += 128;"),
         (KERNEL, "BM = 128, BN = 192, BK = 64,", "BM = 64, BN = 192, BK = 64,")]


def tiles(bm):
    """[(number, group, the group's first row, tile row, tile column)]."""
    ends = ", ".join(str(sum(SIZES[:i + 1])) for i in range(len(SIZES)))
    return c_table(DEVICE + f'''
#include "building_blocks/tile_order.h"
struct grouping {{ const uint32_t *first_rows; int groups, rows; }};
static uint32_t ld_global_b32(const uint32_t *word) {{ return *word; }}
{between(GROUPS, "struct group {", "/* The row behind")}
{between(GROUPS, "static inline" + chr(10) + "#ifdef __CUDACC__", chr(10) + "}" + chr(10))} }}
{function(GROUPS, "DEVICE bool find_group(")}
{function(GROUPS, "DEVICE struct tile tile_of_group(")}
int main(void) {{
    const uint32_t first_rows[] = {{0, {ends}}};
    const struct grouping grouping = {{first_rows, {len(SIZES)}, {sum(SIZES)}}};
    struct group group = BEFORE_GROUPS;
    for (int number = 0; find_group(&group, &grouping, number, {bm}, {TILES_N}); ++number) {{
        const struct tile tile = tile_of_group(&group, number, {bm}, {TILES_N});
        printf("%d %d %d %d %d\\n", number, group.number, group.first_row, tile.m, tile.n);
    }}
}}''')


def draw():
    bm = constants(KERNEL)["BM"]
    all_tiles = tiles(bm)
    assert [number for number, *_ in all_tiles] == list(range(len(all_tiles)))
    first = [sum(SIZES[:g]) for g in range(len(SIZES))]
    for g, rows in enumerate(SIZES):  # every row of every group in as many tiles as columns have
        own = [t for t in all_tiles if t[1] == g]
        assert {t[2] for t in own} <= {first[g]}
        covered = sorted((t[4], row) for t in own for row in range(t[3] * bm, (t[3] + 1) * bm)
                         if row < rows)
        assert covered == [(n, row) for n in range(TILES_N) for row in range(rows)], g
    with_tiles = [g for g in range(len(SIZES)) if any(t[1] == g for t in all_tiles)]
    mine = [t for t in all_tiles if t[0] % CTAS == CTA]
    over = [-SIZES[g] % bm for g in with_tiles]
    assert [next(t[0] for t in all_tiles if t[1] == g and (t[3] + 1) * bm > SIZES[g])
            for g in with_tiles][:2] == [2, 7]  # the caption's
    p = Picture("The tiles of all groups are one sequence",
                f"""Rows of A and D at the left, beside them each group's tiles of {bm} rows, with
                their numbers. CTA {CTA} of {CTAS} takes every third (orange): {len(mine)} tiles
                of {len({t[1] for t in mine})} groups. Dashed: rows of a
                tile behind its group's end, {over[0]} of tile 2 and {over[1]} of tile 7, which are
                loaded and multiplied but must not be stored (counted from `groups.h`).""",
                f"Four groups of {', '.join(map(str, SIZES))} rows lie one behind the other. Their "
                f"tiles of {bm} rows and {TILES_N} columns of tiles are numbered group by group, "
                f"{len(all_tiles)} in all; a group without rows has none. The last tile row of a "
                "group has rows of the next group, too. Below, the sequence: a CTA takes every "
                f"{CTAS}rd tile.", 526)

    def y_of(row):
        return TOP + ROW * row
    p.text(20, 62, "rows of A, D", "head")
    for g, rows in enumerate(SIZES):
        if not rows:
            p.text(540, y_of(first[g]) - 10, f"group {g} has no rows", "text soft", "end")
            continue
        p.rect(20, y_of(first[g]) + 1, 112, ROW * rows - 2, "held")
        p.text(28, y_of(first[g]) + 22, f"group {g}:", "text b")
        p.text(28, y_of(first[g]) + 42, f"{rows} rows")
        p.path(f"M132 {y_of(first[g]):g}H540", "thin")
    for i, g in enumerate(with_tiles):
        x = X + PITCH * i
        p.text(x, 62, f"× B {g}", "head")
        for number, _, _, m, n in (t for t in all_tiles if t[1] == g):
            xx, top = x + (WIDE + 2) * n, first[g] + m * bm
            end, own_end = top + bm, min(top + bm, first[g] + SIZES[g])
            own = number % CTAS == CTA
            split = max(y_of(own_end), y_of(top) + 6)  # a single row is still seen
            p.rect(xx, y_of(top) + 1, WIDE, split - y_of(top) - 2, "item1" if own else "mmapale")
            if end > own_end:
                p.rect(xx + .5, split, WIDE - 1, y_of(end) - split - 1, "dash")
            high = own_end - top
            p.text(xx + WIDE / 2, y_of(top) + ROW * (high if high > 40 else bm) / 2 + 5, number,
                   "num ink b" if own and high > 40 else "num", "middle")
    y = y_of(sum(SIZES)) + 60
    p.text(20, y, "The sequence", "head")
    wide = 520 / len(all_tiles)
    for number, g, *_ in all_tiles:
        x, own = 20 + wide * number, number % CTAS == CTA
        p.rect(x, y + 12, wide - 2, 26, "item1" if own else "mmapale")
        p.text(x + wide / 2 - 1, y + 30, number, "num ink b" if own else "num", "middle")
    for g in with_tiles:
        numbers = [t[0] for t in all_tiles if t[1] == g]
        a, b = 20 + wide * numbers[0], 20 + wide * (numbers[-1] + 1) - 2
        p.path(f"M{a + 1:g} {y + 43}v5H{b - 1:g}v-5", "rule")
        p.text((a + b) / 2, y + 66, f"group {g}", "text", "middle")
    return p.svg()
