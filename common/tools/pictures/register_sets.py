"""Chapters 03 and 04: in which order fragments are loaded and multiplied, with one set of registers
and with two. A drawing of the order alone: every load and every multiplication takes one slot."""
from data import between, c_table, constants, function
from edit import Replace
from picture import Picture

BEFORE, KERNEL = "03_cp_async_multistage/kernel.cu", "04_rf_double_buffer/kernel.cu"
EDITS = ["04.the-wrong-set-of-registers",
         (KERNEL, Replace("load_fragments(&fragments[(step + 1) % 2],",
                          "load_fragments(&fragments[step % 2],"))]
TILES, X, SLOT, LANE = 2, 128, 52, 30


def program(kernel):
    """[(0 load | 1 multiply | 2 wait, set, step)] of the main loop, in program order, by the loop
    itself."""
    return c_table(f'''
#define DEVICE static
#define UNROLL
#define NO_UNROLL
#define load_part(...)
#define load_stage(...)
#define cp_async_commit_group()
#define cp_async_wait_group(n) (void)(n)
#define __syncthreads()
typedef uint16_t element_t;
enum {{ STAGES = {constants(kernel)["STAGES"]} }};
{between(kernel, "enum {", "};")}}};
struct fragments {{ int set; }};
struct smem {{ element_t a[STAGES][1], b[STAGES][1]; }};
struct gemm_args {{ int tiles_k; }};
struct tile {{ int m, n; }};
static const struct fragments *lowest;
static void load_fragments(struct fragments *f, const element_t *a, const element_t *b, int step) {{
    (void)a, (void)b;
    if (!lowest) lowest = f; /* the first that is loaded is set 0 */
    printf("0 %d %d\\n", (int)(f - lowest), step);
}}
static void multiply(float acc[WM / 16][WN / 8][4], const struct fragments *f) {{
    (void)acc;
    printf("1 %d 0\\n", (int)(f - lowest));
}}
static void wait_stage(void) {{ printf("2 0 0\\n"); }}
{function(kernel, "DEVICE void main_loop(")}
int main(void) {{
    static struct smem shared;
    static float acc[WM / 16][WN / 8][4];
    struct gemm_args args = {{{TILES}}};
    main_loop(&shared, &args, (struct tile){{0, 0}}, acc, true);
}}''')


def slots(order):
    """[(0 load | 1 multiply, set, slot, number)]: a slot for each, the earliest that follows what
    it needs and what its unit does before; and that of each wait."""
    free = [0, 0]  # of ldmatrix, of the Tensor Core
    loaded, read, out, count = {}, {}, [], [0, 0]
    for what, which, _ in order:
        if what == 2:
            continue
        if what == 0:  # not before the set's last multiplication has read it
            at = max(free[0], read.get(which, 0))
            loaded[which] = at + 1
        else:
            assert which in loaded, "a set is multiplied that nobody has loaded"
            at = max(free[1], loaded.pop(which))
            read[which] = at + 1
        free[what] = at + 1
        out.append((what, which, at, count[what]))
        count[what] += 1
    return out


def draw():
    steps = constants(KERNEL)["BK"] // 16
    p = Picture("Two register sets: load one, multiply one", "", "", 418)
    y = 62
    rate = []
    for kernel, head in ((BEFORE, "Chapter 03: one set, so each load is waited for"),
                         (KERNEL, "Chapter 04: two sets in turn")):
        done = slots(program(kernel))
        sets = sorted({which for _, which, _, _ in done})
        multiplied = [at for what, _, at, _ in done if what == 1]
        assert len(multiplied) == TILES * steps
        rate.append(multiplied[steps] - multiplied[0])  # slots for a k-tile
        p.text(20, y, head, "head")
        y += 14
        for which in sets:
            p.text(X - 10, y + 20, f"set {which}", "text", "end")
            p.rect(X, y, SLOT * 8, LANE, "lane")
            for what, owner, at, number in done:
                if owner == which and at < 8:
                    later = " later" if number >= steps else ""  # of the second k-tile
                    p.rect(X + SLOT * at + 1, y, SLOT - 2, LANE,
                           ("mma" if what else "fragments") + later)
                    p.text(X + SLOT * (at + .5), y + 20, number % steps,
                           "text b" if later else "text ink b", "middle")
            y += LANE + 4
        p.text(X - 10, y + 20, "Tensor Core", "text b", "end")
        for some, cls in (multiplied[:steps], "mma"), (multiplied[steps:], "mma later"):
            p.cells([(X + SLOT * at + 1, y, SLOT - 2, LANE) for at in some if at < 8], cls)
        idle = [at for at in range(8) if at not in multiplied]
        p.cells([(X + SLOT * at + 1, y, SLOT - 2, LANE) for at in idle], "idle")
        for at in idle:
            p.text(X + SLOT * (at + .5), y + 20, "idle", "text", "middle")
        # A k-tile's slots end with its last multiplication.
        end = multiplied[steps - 1] + 1
        p.path(f"M{X + SLOT * (end - rate[-1]) + 2} {y + LANE + 5}v5H{X + SLOT * end - 2}v-5",
               "rule")
        p.text(X + SLOT * (end - rate[-1] / 2), y + LANE + 27,
               f"one k-tile: {rate[-1]} slots", "text", "middle")
        y += LANE + 64
    assert rate == [2 * steps, steps], "the second set hides no loads"
    p.css.append(".later{opacity:.4}")
    p.legend(20, y - 4, (("fragments", "ldmatrix", 120), ("mma", "mma.sync", 120),
                         ("idle", "idle", 90)))
    p.text(384, y - 4, "pale: the next k-tile")
    p.text(20, y + 24, f"number: which of a k-tile’s {steps} steps of 16 along k", "text soft")
    p.caption = " ".join(f"""With one set of registers the Tensor Core waits for every load:
        {rate[0]} slots for the {steps} steps of a k-tile. With two sets, one is loaded while the
        other is multiplied: {rate[1]} slots (counted in the two kernels' loops, one slot for each
        load and each multiplication; real durations differ).""".split())
    p.desc = (f"Two schedules. With one set of registers, loads and multiplications alternate, and "
              f"the Tensor Core is idle during every load: {rate[0]} slots for a k-tile. With two "
              f"sets, each load runs beside a multiplication from the other set: {rate[1]} slots.")
    return p.svg()
