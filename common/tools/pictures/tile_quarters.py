"""Chapter 02: the four warps of a CTA's tile, and how often each byte is moved."""
from data import between, c_table, constants, function
from edit import Replace
from picture import Picture

KERNEL = "02_smem_tiled/kernel.cu"
EDITS = [(KERNEL, Replace(
             "const int row = warp / (BN / WN) * WM + i * 16 + lane % 16;\n        ldmatrix",
             "const int row = warp % (BN / WN) * WM + i * 16 + lane % 16;\n        ldmatrix")),
         (KERNEL, Replace("WM = 64, WN = 64,", "WM = 32, WN = 64,"))]


def readers():
    """{(operand, row): {warp: bytes}} of a k-tile, by the kernel's load_fragments()."""
    enum = between(KERNEL, "enum {", "};") + "};"
    fragments = between(KERNEL, "struct fragments {", "};") + "};"
    out = {}
    for operand, row, warp, count in c_table(f'''
#define DEVICE static
#define UNROLL
typedef uint16_t element_t;
{enum}
{fragments}
static struct {{ int x; }} threadIdx;
static element_t tile[2][BM > BN ? BM * PITCH : BN * PITCH];
static int bytes[2][BM > BN ? BM : BN][THREADS / 32];
/* A lane's address is a row of an 8 x 8 matrix: 16 bytes. */
static void ldmatrix_x4(uint32_t *registers, const element_t *row) {{
    const int operand = row >= tile[1];
    (void)registers;
    bytes[operand][(row - tile[operand]) / PITCH][threadIdx.x / 32] += 16;
}}
{function(KERNEL, "DEVICE int tile_offset(").splitlines()[0]}
{function(KERNEL, "DEVICE void load_fragments(")}
int main(void) {{
    struct fragments f;
    for (int step = 0; step < BK / 16; ++step)
        for (threadIdx.x = 0; threadIdx.x < THREADS; ++threadIdx.x)
            load_fragments(&f, tile[0], tile[1], step);
    for (int operand = 0; operand < 2; ++operand)
        for (int row = 0; row < (operand ? BN : BM); ++row)
            for (int warp = 0; warp < THREADS / 32; ++warp)
                printf("%d %d %d %d\\n", operand, row, warp, bytes[operand][row][warp]);
}}'''):
        if count:
            out.setdefault((operand, row), {})[warp] = count
    return out


def draw():
    c = constants(KERNEL)
    bm, bn, bk, wm, wn = (c[k] for k in ("BM", "BN", "BK", "WM", "WN"))
    assert bm == 2 * wm and bn == 2 * wn, "the tile has other parts than quarters"
    read = readers()
    copied = (bm + bn) * bk * 2 // 1024
    moved = sum(sum(warps.values()) for warps in read.values()) // 1024
    warps = {(o, i): sorted(read[o, i * (wn if o else wm)]) for o in (0, 1) for i in (0, 1)}
    for (operand, row), by in read.items():  # a strip has the same readers, and all of each row
        assert sorted(by) == warps[operand, row // (wn if operand else wm)]
        assert len(by) == 2 and set(by.values()) == {bk * 2}
    follow = 1
    mine = [key for key, by in warps.items() if follow in by]
    assert moved == 2 * copied and len(mine) == 2
    p = Picture("Copied once, read by two warps",
                f"""Warp {follow} (orange) multiplies one strip of A by one strip of B, and each of
                the two strips is read by another warp, too. So {copied} KB are copied to shared
                memory for a k-tile, and {moved} KB are read from it by the 4 warps (counted from
                `02_smem_tiled/kernel.cu`).""",
                f"A CTA's tile of {bm} by {bn} consists of four quarters, one for each warp. The "
                f"strips of A and B beside and above it are {bk} deep. Each strip is read by two "
                f"warps: {copied} KB are copied once from global to shared memory, and {moved} KB "
                "are read by ldmatrix.", 560)
    zoom = 1.75
    gx, gy, deep = 240, 176, 100
    side = bm * zoom

    def colour(operand, i):
        return "item1" if (operand, i) in mine else "held"
    p.text(20, 62, f"B: {bk} × {bn}, two strips", "head")
    for i in (0, 1):
        cls = colour(1, i)
        p.rect(gx + i * side / 2, gy - deep - 8, side / 2 - 2, deep, cls)
        p.text(gx + (i + .5) * side / 2, gy - deep / 2 - 12, "read by", "text ink" if cls == "item1"
               else "text", "middle")
        p.text(gx + (i + .5) * side / 2, gy - deep / 2 + 8, "warps " + ", ".join(
            map(str, warps[1, i])), "text ink b" if cls == "item1" else "text b", "middle")
        cls = colour(0, i)
        p.rect(gx - deep - 28, gy + i * side / 2, deep + 20, side / 2 - 2, cls)
        p.text(gx - deep / 2 - 18, gy + (i + .5) * side / 2 - 4, "read by",
               "text ink" if cls == "item1" else "text", "middle")
        p.text(gx - deep / 2 - 18, gy + (i + .5) * side / 2 + 16, "warps " + ", ".join(
            map(str, warps[0, i])), "text ink b" if cls == "item1" else "text b", "middle")
    p.text(20, gy + 16, "A:", "head")
    p.text(20, gy + 36, f"{bm} × {bk}", "text soft")
    for warp in range(4):
        x, y = gx + warp % 2 * side / 2, gy + warp // 2 * side / 2
        p.rect(x, y, side / 2 - 2, side / 2 - 2, "item1" if warp == follow else "mmapale")
        p.text(x + side / 4, y + side / 4 - 2, f"warp {warp}",
               "text ink b" if warp == follow else "text b", "middle")
        p.text(x + side / 4, y + side / 4 + 18, f"{wm} × {wn}",
               "text ink" if warp == follow else "text", "middle")
    # the way of a k-tile: pipes as wide as its bytes
    y = gy + side + 62
    p.text(20, y - 30, "A k-tile’s way; a pipe is as wide as its bytes", "text soft")
    boxes = ((20, "global"), (208, "shared"), (396, "registers"))
    for (x, word), kb, how in zip(boxes, (copied, moved), ("copied", "ldmatrix")):
        h = kb * .5
        p.rect(x + 96, y + 26 - h / 2, 92, h, "load")
        p.text(x + 142, y + 31, f"{kb} KB", "text ink b", "middle")
        p.text(x + 142, y + 26 + h / 2 + 18, how, "code", "middle")
    for x, word in boxes:
        p.rect(x, y, 96, 52, "held", rx=4)
        p.text(x + 48, y + 31, word, "text", "middle")
    p.text(500, y + 31, "mma", "code")
    return p.svg()
