"""Chapter 11: which scale belongs to which elements, and where the scales come in: the sum of 128
products is multiplied by two of them and added to another sum."""
from data import c_table, constants, function, source
from picture import Picture

KERNEL, QUANTIZE = "beyond/11_fp8_scaling/kernel.cu", "common/harness/quantize.c"
SCALES = "common/gemm_scales.h"
ROWS, BLOCKS, COLUMNS, ROW = 8, 4, 2, 3  # drawn: rows of A, blocks of k and of n; the row followed
EDITS = [(QUANTIZE, "return matrix == 'A' || o->type == GEMM_W4A8 ? 1 : SCALE_BLOCK;",
          "return matrix == 'A' || o->type == GEMM_W4A8 ? 2 : SCALE_BLOCK;"),
         (QUANTIZE, "&o->scale_b[(int64_t)group * o->scale_b_pitch + block]",
          "&o->scale_b[(int64_t)block * o->scale_b_pitch]"),
         (SCALES, "enum { SCALE_BLOCK = 128 }", "enum { SCALE_BLOCK = 64 }"),
         (KERNEL, "&shared->scale_b[state.index][k_tile % SCALES_B]",
          "&shared->scale_b[state.index][0]")]


def places(block):
    """{(matrix, row, k): the number of its scale}, of elements whose neighbours are in other
    groups."""
    heads = ("static int rows_of_group(", "static int columns_of_group(",
             "static float *place_of_scale(", "float scale_of(")
    rows = c_table(f'''
enum {{ GEMM_E4M3, GEMM_W4A8, SCALE_BLOCK = {block} }};
struct operands {{ int type, k; float *scale_a, *scale_b; int64_t scale_a_pitch, scale_b_pitch; }};
{"".join(function(QUANTIZE, head) for head in heads)}
int main(void) {{
    static float a[65536], b[65536];
    for (int i = 0; i < 65536; ++i) a[i] = b[i] = i;
    const struct operands o = {{GEMM_E4M3, {BLOCKS} * 128, a, b, 4096, 16}};
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
    p = Picture("Which scale belongs to which elements",
                f"""A box of A or B is what shares a scale: 1 × {block} elements of A, {block} ×
                {block} of B. The orange row of D needs {BLOCKS} scales of A and {BLOCKS} of B for
                {BLOCKS * block} of k; a k-tile of `kernel.cu`'s tile has {bm} of A and 1 of B
                (counted from `quantize.c` and the kernel's constants).""",
                f"A times B is D. A row of A has a scale for each {block} of k: a0 to a3 in the "
                f"row that is followed. B has a scale for each {block} by {block} elements, b0 to "
                f"b3 below each other. Below: the Tensor Core adds up the {block} products of a "
                "k-tile; the CUDA cores multiply this sum by the k-tile's two scales and add it to "
                "a sum in fp32, which is D's element at the end.", 562)
    ax, aw, dx, dw, rh, bh = 60, 56, 320, 108, 17, 28
    by, dy = 64, 190
    p.text(dx - 14, by + 2 * bh + 5, "B", "head", "end")
    for j in range(COLUMNS):
        for i in range(BLOCKS):
            own = j == 0
            p.rect(dx + dw * j + 1, by + bh * i + 1, dw - 2, bh - 2, "item0" if own else "held")
            if own:
                p.text(dx + dw * j + dw / 2, by + bh * i + 19, f"b{i}", "num ink b", "middle")
    p.text(ax - 14, dy + rh * ROWS / 2 + 5, "A", "head", "end")
    for i in range(BLOCKS):
        p.cells([(ax + aw * i + 1, dy + rh * r + 1, aw - 2, rh - 2)
                 for r in range(ROWS) if r != ROW], "held")
        p.rect(ax + aw * i + 1, dy + rh * ROW + 1, aw - 2, rh - 2, "item1")
        p.text(ax + aw * i + aw / 2, dy + rh * ROW + 14, f"a{i}", "num ink b", "middle")
    p.path(f"M{ax + 3} {dy - 5}v-5h{aw - 6}v5", "rule")
    p.text(ax, dy - 34, f"{block} of k: a k-tile", "text")
    p.path(f"M{ax + aw / 2} {dy - 28}v16", "rule")
    for j in range(COLUMNS):
        p.cells([(dx + dw * j + 1, dy + rh * r + 1, dw - 2, rh - 2)
                 for r in range(ROWS) if (r, j) != (ROW, 0)], "mmapale")
    p.rect(dx + 1, dy + rh * ROW + 1, dw - 2, rh - 2, "item1")
    p.text(dx + dw / 2, dy + rh * ROW + 14, "a row of D", "num ink b", "middle")
    p.text(dx + dw * COLUMNS, dy + rh * ROWS + 20, "D", "head", "end")
    p.path(f"M{dx + 2} {dy + rh * ROWS + 5}v5h{dw - 4}v-5", "rule")
    p.text(dx + dw / 2, dy + rh * ROWS + 27, f"{block} columns", "text", "middle")
    # The two levels of the sum.
    y = dy + rh * ROWS + 62
    step, wide = 131, 118
    p.text(20, y, f"Tensor Core: {block} products at a time", "head")
    for i in range(BLOCKS):
        x = 24 + step * i
        p.rect(x, y + 12, wide, 32, "mma")
        p.text(x + wide / 2, y + 33, f"k-tile {i}", "text ink b", "middle")
        p.arrow(x + 22, y + 46, x + 22, y + 84)
        p.text(x + 32, y + 70, f"× a{i} · b{i}", "code")
    p.rect(24, y + 88, step * (BLOCKS - 1) + wide, 32, "fma")
    p.text(24 + 22, y + 109, "+", "text ink b", "middle")
    for i in range(1, BLOCKS):
        p.text(24 + step * i + 22, y + 109, "+", "text ink b", "middle")
    p.text(20, y + 142, "CUDA cores: the sum in fp32", "head")
    p.arrow(24 + step * 3 + wide - 40, y + 137, 24 + step * 3 + wide - 14, y + 137)
    p.text(24 + step * 3 + wide + 4, y + 142, "D", "head", "end")
    return p.svg()
