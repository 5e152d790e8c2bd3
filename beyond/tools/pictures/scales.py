"""Chapter 11: which scale belongs to which elements, and where the scales come in: the sum of 128
products is multiplied by two of them and added to another sum."""
from data import c_table, constants, function, source
from edit import Replace
from picture import Picture

KERNEL, QUANTIZE = "beyond/11_fp8_scaling/kernel.cu", "common/scaled/quantize.c"
SCALES = "common/scaled/scales.h"
ROWS, BLOCKS, COLUMNS, ROW = 8, 4, 2, 3  # drawn: rows of A, blocks of k and of n; the row followed
EDITS = [(QUANTIZE, Replace("return matrix == 'A' || has_weights(o) ? 1 : SCALE_BLOCK;",
                            "return matrix == 'A' || has_weights(o) ? 2 : SCALE_BLOCK;")),
         (QUANTIZE, Replace("&of->scale_b[(int64_t)group * of->scale_b_pitch + block]",
                            "&of->scale_b[(int64_t)block * of->scale_b_pitch]")),
         (SCALES, Replace("enum { SCALE_BLOCK = 128 }", "enum { SCALE_BLOCK = 64 }")),
         "11.the-first-of-four-scales"]


def places(block):
    """{(matrix, row, k): the number of its scale}, of elements whose neighbours are in other
    groups."""
    heads = ("static int rows_of_group(", "static int columns_of_group(",
             "static float *scale_at(", "float scale_of(")
    rows = c_table(f'''
enum {{ SCALE_BLOCK = {block} }};
struct scaled_operands {{ float *scale_a, *scale_b; int64_t scale_a_pitch, scale_b_pitch; }};
struct operands {{ int k; const struct scaled_operands *scaled; }};
#define scaled_of(o) ((o)->scaled)
#define has_weights(o) 0
{"".join(function(QUANTIZE, head) for head in heads)}
int main(void) {{
    static float a[65536], b[65536];
    for (int i = 0; i < 65536; ++i) a[i] = b[i] = i;
    const struct scaled_operands scaled = {{a, b, 4096, 16}};
    const struct operands o = {{{BLOCKS} * 128, &scaled}};
    for (int matrix = 'A'; matrix <= 'B'; ++matrix)
        for (int row = 0; row < {COLUMNS} * 128; ++row)
            for (int k = 0; k < {BLOCKS} * 128; k += 32)
                printf("%d %d %d %d\\n", matrix - 'A', row, k,
                       (int)scale_of(&o, (char)matrix, row, k / SCALE_BLOCK));
}}''')
    return {("AB"[matrix], row, k): at for matrix, row, k, at in rows}


def draw():
    c = constants(KERNEL)
    block = constants(SCALES)["SCALE_BLOCK"]
    at = places(block)
    for matrix, high in (("A", 1), ("B", 128)):  # the elements of a box share a scale, no others
        boxes = {}
        for (which, row, k), scale in at.items():
            if which == matrix:
                boxes.setdefault(scale, set()).add((row // high, k // 128))
        assert all(len(of) == 1 for of in boxes.values()), f"boxes of {matrix} are shared"
        assert len(boxes) == COLUMNS * 128 // high * BLOCKS, f"a box of {matrix} has two scales"
    code = source(KERNEL)
    bm = c["BM"]
    # A k-tile is a block, the tile as wide as one: one scale of B. After each k-tile a promotion.
    assert f"BM = {bm}, BN = SCALE_BLOCK, BK = SCALE_BLOCK," in code
    assert "&shared->scale_b[state.index][k_tile % SCALES_B]" in code
    assert code.count("wgmma_promote(sum[part], acc, scale, BN / 2);") == 1
    p = Picture(f"Two scales multiply each sum of {block}",
                f"""A scale block has one scale: 1 × {block} elements of A, {block} × {block} of
                B. The orange row of D needs {BLOCKS} scales of A and {BLOCKS} of B for
                {BLOCKS * block} of k; a k-tile of `kernel.cu`'s tile has {bm} of A and 1 of B
                (counted from `quantize.c` and the kernel's constants).""",
                f"A times B is D. A row of A has a scale for each {block} of k: a0 to a3 in the "
                f"row that is followed. B has a scale for each {block} by {block} elements, b0 to "
                f"b3 below each other. Below: the Tensor Core adds up the {block} products of a "
                "k-tile; the CUDA cores multiply this sum by the k-tile's two scales and add it to "
                "a sum in fp32, which is D's element at the end.", 606)
    unit, rh, ax, dx, by = 48, 16, 44, 262, 56  # a block of k is as long in A as in B
    dy = by + unit * BLOCKS + 16
    p.text(dx - 12, by + unit * BLOCKS / 2 + 5, "B", "head", "end")
    for i in range(BLOCKS):
        for j in range(COLUMNS):
            p.rect(dx + unit * j + 1, by + unit * i + 1, unit - 2, unit - 2, "held" if j else
                   "item0")
        p.text(dx + unit / 2, by + unit * i + unit / 2 + 5, f"b{i}", "num ink b", "middle")
    p.text(ax - 12, dy + rh * ROWS / 2 + 5, "A", "head", "end")
    for i in range(BLOCKS):
        p.cells([(ax + unit * i + 1, dy + rh * r + 1, unit - 2, rh - 2)
                 for r in range(ROWS) if r != ROW], "held")
        p.rect(ax + unit * i + 1, dy + rh * ROW + 1, unit - 2, rh - 2, "item1")
        p.text(ax + unit * i + unit / 2, dy + rh * ROW + 13, f"a{i}", "num ink b", "middle")
    p.cells([(dx + unit * j + 1, dy + rh * r + 1, unit - 2, rh - 2) for j in range(COLUMNS)
             for r in range(ROWS) if (r, j) != (ROW, 0)], "mmapale")
    p.rect(dx + 1, dy + rh * ROW + 1, unit - 2, rh - 2, "item1")
    right = dx + unit * COLUMNS
    p.text(right + 10, dy + rh * ROWS / 2 + 5, "D", "head")
    # k in both directions, with the same scale
    p.path(f"M{ax + 2} {dy - 6}v-5h{unit - 4}v5", "rule")
    p.text(ax, dy - 20, f"k-tile: {block} of k")
    p.path(f"M{right + 6} {by + 2}h5v{unit - 4}h-5", "rule")
    p.text(right + 18, by + unit / 2 + 5, f"k-tile: {block} of k")
    p.path(f"M{dx + 2} {dy + rh * ROWS + 6}v5h{unit - 4}v-5", "rule")
    p.text(dx + unit / 2, dy + rh * ROWS + 28, f"{block} columns", "text", "middle")
    for y, cls, word in ((by + 14, "item1", "the row that is"),
                         (by + 66, "item0", "its blocks of B")):
        p.legend(20, y, ((cls, word, 0),))
    p.text(45, by + 34, "followed, in A and D")
    p.text(right + 18, by + unit + 26, "B: a scale for")
    p.text(right + 18, by + unit + 46, f"{block} × {block} elements")
    p.text(right + 18, by + unit + 80, "A: a scale for")
    p.text(right + 18, by + unit + 100, f"1 × {block} elements")
    # The two levels of the sum.
    y = dy + rh * ROWS + 62
    step, wide, out = 113, 104, 484
    p.text(20, y, f"Tensor Core: a sum of {block} products for each k-tile", "head")
    p.rect(20, y + 88, out - 40, 32, "fma")
    for i in range(BLOCKS):
        x = 20 + step * i
        p.rect(x, y + 12, wide, 32, "mma")
        p.text(x + wide / 2, y + 33, f"k-tile {i}", "text ink b", "middle")
        p.arrow(x + 16, y + 46, x + 16, y + 86)
        p.text(x + 26, y + 70, f"×a{i}·b{i}", "code")
        p.text(x + 16, y + 109, "+", "text ink b", "middle")
    p.arrow(out - 18, y + 104, out - 2, y + 104)
    p.rect(out, y + 88, 56, 32, "item1")
    p.text(out + 28, y + 109, "D", "text ink b", "middle")
    p.text(20, y + 142, "CUDA cores: the sum of these in fp32", "head")
    return p.svg()
