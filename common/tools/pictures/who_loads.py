"""Chapter 01: which bytes a warp loads in one step of k."""
from data import between, c_table, constants
from edit import Replace
from picture import Picture

KERNEL = "01_naive/kernel.cu"
LINE, LD, TOP, STEP = 128, 4096, 104, 12  # bytes; elements of a row; units
EDITS = [(KERNEL, Replace("threadIdx.x / TILE_N;\n", "threadIdx.x % TILE_M;\n")),
         (KERNEL, Replace("args.b + column * args.ldb", "args.b + column"))]


def loads():
    """[(byte of A, byte of B)] of each lane of warp 0 of CTA 0, by the kernel's own lines."""
    lines = between(KERNEL, "    const int tile_m = blockIdx.x", "    float sum")
    c = constants(KERNEL)
    return c_table(f'''
enum {{ TILE_M = {c["TILE_M"]}, TILE_N = {c["TILE_N"]} }};
typedef uint16_t element_t;
static element_t first_a[1 << 20], first_b[1 << 20];
static struct {{ int x; }} blockIdx, threadIdx;
static struct {{ const element_t *a, *b; int m, n, tiles_n; long lda, ldb; }} args = {{
    first_a, first_b, {LD}, {LD}, 64, {LD}, {LD} }};
static void lane(void) {{
{lines}
    printf("%d %d\\n", (int)((const char *)a - (const char *)first_a),
           (int)((const char *)b - (const char *)first_b));
}}
int main(void) {{
    for (threadIdx.x = 0; threadIdx.x < 32; ++threadIdx.x) lane();
}}''')


def draw():
    each = loads()
    lines_a, lines_b = ({at // LINE for at in column} for column in zip(*each))
    assert len(lines_a) == 1 and len(lines_b) == 32 == len(each)
    assert [b for _, b in each] == [2 * LD * lane for lane in range(32)]
    p = Picture("One warp, one step along k: 33 lines",
                f"""All {len(each)} lanes load the same element of A, from {len(lines_a)} line of
                {LINE} bytes. B is stored n × k: each lane loads an element of its own row of
                memory, a column of the product's B: {len(lines_b)} lines, of which the orange part
                is used (counted from `01_naive/kernel.cu`).""",
                f"The 32 lanes of a warp in a column. On the left they all load one element of A, "
                f"in one line of {LINE} bytes. On the right each lane loads an element of another "
                f"row of B, each in another line: 2 of its {LINE} bytes are used.", 558)
    lane_x, line_x, width = 262, 348, 192  # one scale for all lines
    bottom = TOP + 32 * STEP
    p.text(20, 62, "A: one element", "head")
    p.text(lane_x - 14, 62, "lanes", "head")
    p.text(line_x, 62, "B: an element a row", "head")
    p.text(20, 84, f"a line: {LINE} bytes", "text soft")
    p.text(line_x, 84, "stored n × k", "text soft")
    middle = (TOP + bottom) / 2
    p.path("".join(f"M{20 + width} {middle:g}L{lane_x - 4} {TOP + STEP * i + 5}"
                   for i in range(32)), "thread")
    p.css.append(".thread{fill:none;stroke:var(--edge);stroke-width:.8}")
    used = width * 2 / LINE
    p.rect(20, middle - STEP / 2 + 1, width, STEP - 2, "held")
    p.rect(20, middle - STEP / 2 + 1, used, STEP - 2, "item1")
    p.cells([(lane_x, TOP + STEP * i, 24, STEP - 2) for i in range(32)], "load")
    p.path("".join(f"M{lane_x + 28} {TOP + STEP * i + 5}H{line_x - 2}" for i in range(32)),
           "thread")
    p.cells([(line_x, TOP + STEP * i, width, STEP - 2) for i in range(32)], "held")
    p.cells([(line_x, TOP + STEP * i, used, STEP - 2) for i in range(32)], "item1")
    for i in (0, 31):
        p.text(lane_x + 12 - 34, TOP + STEP * i + 10, i, "num soft", "middle")
    p.text(20, middle + 32, f"{len(lines_a)} line", "head")
    p.text(line_x, bottom + 26, f"{len(lines_b)} lines", "head")
    p.legend(20, bottom + 54, (("item1", "the bytes that are used", 230),
                               ("held", "the line that comes", 0)))
    return p.svg()
