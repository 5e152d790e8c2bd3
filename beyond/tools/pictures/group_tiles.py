"""Chapter 15: the rows of groups, the tiles of all of them in one sequence, and a last tile that
reaches into the next group."""
from data import DEVICE, between, c_table, constants, function
from edit import Replace
from picture import Picture

KERNEL, GROUPS = "beyond/15_grouped_gemm/kernel.cu", "beyond/15_grouped_gemm/groups.h"
SIZES, TILES_N, CTAS, CTA = (300, 0, 168, 120), 2, 3, 1  # the CTA that is followed
TOP, ROW, X, WIDE, OVER = 76, .56, 128, 88, 318  # units of a row
EDITS = [(GROUPS, Replace("(group->rows + tile_rows - 1) / tile_rows * tiles_n;",
                          "group->rows / tile_rows * tiles_n;")),
         (GROUPS, Replace("group->first_row += group->rows;", "group->first_row += 128;")),
         (KERNEL, Replace("BM = 128, BN = 192, BK = 64,", "BM = 64, BN = 192, BK = 64,"))]


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
    last = {g: [t[0] for t in all_tiles if t[1] == g and (t[3] + 1) * bm > SIZES[g]]
            for g in with_tiles}  # the tiles that reach beyond their group
    next_to = with_tiles[1]  # whose rows the first group's reach
    assert over[0] <= SIZES[next_to] and over[1] <= SIZES[with_tiles[2]]
    p = Picture("One sequence of tiles, group by group",
                f"""D has {len(all_tiles)} tiles of {bm} rows, numbered group by group; CTA {CTA}
                of {CTAS} computes {len(mine)} of them, of {len({t[1] for t in mine})} groups. The
                last tiles of group 0 reach {over[0]} rows into group {next_to}: these are loaded
                and multiplied with B 0, but a store would overwrite group {next_to}'s results
                (counted from `groups.h`).""",
                f"Four groups of {', '.join(map(str, SIZES))} rows lie one behind the other in D. "
                f"Their tiles of {bm} rows and {TILES_N} columns of tiles are numbered group by "
                f"group, {len(all_tiles)} in all; a group without rows has none. The last tile row "
                "of a group has rows of the next group, too, drawn beside D: they must not be "
                f"stored. Below, the sequence: a CTA takes every {CTAS}rd tile.", 590)

    def y_of(row):
        return TOP + ROW * row
    p.text(20, 62, "rows", "head")
    p.text(X, 62, f"D, {TILES_N} tiles wide", "head")
    p.text(OVER, 62, "beyond the group", "head")
    for g, rows in enumerate(SIZES):
        top = y_of(first[g])
        if rows:
            p.rect(20, top + 1, 100, ROW * rows - 2, "held")
            p.text(28, top + 20, f"group {g}", "text b")
            p.text(28, top + 39, f"{rows} rows,")
            p.text(28, top + 58, f"× B {g}")
            p.path(f"M20 {y_of(first[g] + rows):g}H540", "thin")
        else:
            p.text(540, top - 9, f"group {g}: no rows, no tiles", "text soft", "end")
    for number, g, _, m, n in all_tiles:
        top = y_of(first[g] + m * bm)
        high = ROW * min(bm, SIZES[g] - m * bm)
        own = number % CTAS == CTA
        p.rect(X + (WIDE + 2) * n, top + 1, WIDE, high - 2, "item1" if own else "mmapale")
        p.text(X + (WIDE + 2) * n + WIDE / 2, top + high / 2 + 5, number,
               "num ink b" if own else "num", "middle")
    for g, rows in zip(with_tiles, over):
        top, high = y_of(first[g] + SIZES[g]), ROW * rows
        p.rect(OVER + .5, top + 1, 22, high - 1, "dash")
        where = next((h for h in with_tiles if h > g), None)
        numbers = ", ".join(map(str, last[g]))
        if where is None:
            p.text(OVER + 32, top + 14, f"tiles {numbers}: {rows} rows")
            p.text(OVER + 32, top + 34, "beyond D")
        else:
            p.text(OVER + 32, top + 20, f"tiles {numbers}: {rows} rows")
            p.text(OVER + 32, top + 40, f"of group {where}, × B {g}")
    y = y_of(sum(SIZES)) + 66
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
    p.legend(20, y + 96, (("item1", f"CTA {CTA} of {CTAS}", 136),
                          ("dash", "loaded, multiplied, not stored", 0)))
    return p.svg()
