"""Chapter 02: what the four lanes of a quad store of a row of D, without and with the exchange of
their pairs."""
from data import c_table
from edit import Replace
from picture import Picture

HEADER = "common/building_blocks/wide_store.h"
EDITS = [(HEADER, Replace("const uint32_t mine = upper ? word[i] : word[i | bit];",
                          "const uint32_t mine = upper ? word[i | bit] : word[i];")),
         ("common/sim/models/fragments.h", Replace("8 * (i / 4) + 2 * (lane % 4) + i % 2",
                                                   "8 * (i / 4) + 4 * (i % 2) + lane % 4"))]
COLUMNS, LANE, CELL, H, X = 32, 1, 29, 26, 76


def stores(wide):
    """[(which of a lane's stores, lane, first column, bytes)] to row 0, by store_16_rows() itself,
    run by four threads that meet at every shuffle. Columns that get another's elements are -1."""
    return c_table(f'''
#include <pthread.h>
#define WIDE_STORES {wide}
#define DEVICE static
#define UNROLL
#define HOPPER_ELEMENT_H
#define HOPPER_THREAD_H
typedef uint16_t element_t;
struct b128 {{ uint32_t word[4]; }};
struct gemm_args {{ element_t *d; long ldd; int m, n; }};
static element_t d[16 * {COLUMNS}];
static pthread_barrier_t meet;
static pthread_mutex_t print = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slots[4];
static __thread struct {{ int x; }} threadIdx;
static __thread int count;
static uint32_t __shfl_sync(uint32_t mask, uint32_t mine, int lane) {{
    slots[threadIdx.x] = mine;
    pthread_barrier_wait(&meet);
    const uint32_t other = slots[lane];
    pthread_barrier_wait(&meet);
    return other;
}}
/* An element's value is its column; a pair's is that of its first. */
static uint32_t pack_elements(float low, float high) {{
    return high == low + 1 ? (uint32_t)low : 1000;
}}
static void store(const element_t *to, const uint32_t *words, int bytes) {{
    int column = (int)(to - d);
    if (column >= {COLUMNS}) return; /* of row 8 */
    for (int i = 0; i < bytes / 4; ++i)
        if (words[i] != (uint32_t)(to - d) + 2 * i) column = -1;
    pthread_mutex_lock(&print);
    printf("%d %d %d %d\\n", count++, threadIdx.x, column, bytes);
    pthread_mutex_unlock(&print);
}}
static void st_global_b128(element_t *to, struct b128 chunk) {{ store(to, chunk.word, 16); }}
static void st_global_b32(element_t *to, uint32_t word) {{ store(to, &word, 4); }}
static void st_global_element(element_t *to, element_t one) {{}}
static element_t first_of_pair(uint32_t pair) {{ return (element_t)pair; }}
#include "building_blocks/wide_store.h"
#include "sim/models/fragments.h"
static void *lane(void *number) {{
    const struct gemm_args args = {{d, {COLUMNS}, 16, {COLUMNS}}};
    float acc[{COLUMNS} / 2];
    threadIdx.x = (int)(intptr_t)number;
    for (int i = 0; i < {COLUMNS} / 2; ++i)
        acc[i] = (float)fragment_of_d(threadIdx.x, i).column;
    store_16_rows(&args, 0, 0, {COLUMNS}, acc);
    return NULL;
}}
int main(void) {{
    pthread_t threads[4];
    pthread_barrier_init(&meet, NULL, 4);
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, lane, (void *)(intptr_t)i);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}}''', "-pthread")


def panel(p, y, head, note, made):
    """The bytes of each store, a line each; the pairs' lanes in them."""
    p.text(20, y, head, "head")
    p.text(20, y + 20, note, "text soft")
    y += 32
    count = 1 + max(number for number, *_ in made)
    for number in range(count):
        top = y + number * (H + 4)
        p.text(X - 10, top + 18, f"store {number}", "text", "end")
        p.cells([(X + CELL * i + 1, top, CELL - 2, H) for i in range(COLUMNS // 2)], "lane")
        for which, lane, column, size in sorted(made):
            if which == number:
                pairs = [column // 2 + i for i in range(size // 4)]
                p.cells([(X + CELL * i + 1, top, CELL - 2, H) for i in pairs],
                        "item1" if lane == LANE else "load")
                for i in pairs:
                    p.text(X + CELL * (i + .5), top + 18, lane, "num ink b", "middle")
    bottom = y + count * (H + 4)
    for sector in range(COLUMNS * 2 // 32):
        p.path(f"M{X + CELL * 8 * sector + 2} {bottom + 2}v6h{CELL * 8 - 4}v-6", "rule")
        p.text(X + CELL * 8 * (sector + .5), bottom + 26, f"sector {sector}: 32 bytes", "text",
               "middle")
    return bottom + 26


def draw():
    narrow, wide = stores(0), stores(1)
    for made in (narrow, wide):  # each column once, with its own elements
        assert all(column >= 0 for _, _, column, _ in made), "a column gets another's elements"
        covered = sorted(c for _, _, column, size in made
                         for c in range(column, column + size // 2))
        assert covered == list(range(COLUMNS)), covered
    counts = [1 + max(number for number, *_ in made) for made in (narrow, wide)]
    at_once = [sum(size for number, _, _, size in made if number == 0) for made in (narrow, wide)]
    p = Picture("Four lanes exchange pairs, then store once",
                f"""A quad's {COLUMNS} columns of a row of D, with the lane that stores each pair;
                lane {LANE} is orange. Without the exchange the quad needs {counts[0]} stores of
                {at_once[0]} bytes, half a sector each; with it {counts[1]} of {at_once[1]} bytes,
                two whole sectors (counted from `wide_store.h`).""",
                f"A row of {COLUMNS} columns of D as {COLUMNS // 2} pairs. Without the exchange "
                f"each of {counts[0]} stores writes four neighbouring pairs, one from each lane of "
                f"a quad: half a sector of 32 bytes. After the exchange each lane has four "
                f"neighbouring pairs, and one store writes two whole sectors.", 390)
    y = panel(p, 62, "As mma.sync leaves them", f"{counts[0]} stores, each half a sector", narrow)
    panel(p, y + 46, "After the exchange", f"{counts[1]} store, whole sectors", wide)
    return p.svg()
