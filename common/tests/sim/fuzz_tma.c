/*
 * fuzz_tma.c: random tensor maps and boxes through the simulated TMA, against a model that knows
 * only the definitions: where an element of the box lies in shared memory, which element of the
 * matrix it is, and whether there is one. Every byte of both memories is compared, also those that
 * must not change.
 */
#include "hopper/tma.h"
#include "sim/models/tensor_map.h"
#include "tests/sim/sim_kernels.h"
#include "tests/support/fuzz.h"

enum { MAPS = 4000, LOADS = 1500, BOXES = 3, STORES = 3000, ROOM = 24 << 10, BOX_BYTES = 16 << 10 };

struct smem {
    unsigned char data[ROOM];
    mbarrier_t full;
};

/* A box of one map: where it lies in the matrix and in shared memory. */
struct box {
    int matrix, row, column; /* the first of a map with three dimensions */
    int offset;
};

static struct tensor_map_fields map;
static struct box boxes[BOXES];
static int box_count;
static bool adds;
static uint32_t address; /* of smem.data */
static unsigned char before[ROOM], after[BOXES][ROOM];

/* ---- the definitions ---- */

/* Where the byte at this address of the box is put: rows of the swizzle's width, eight (four, two)
 * 16-byte chunks each, permuted by the number of the 128-byte line. */
static uint32_t permuted(uint32_t at) {
    if (map.swizzle == SWIZZLE_NONE) return at;
    const uint32_t width = map.swizzle == SWIZZLE_32B ? 32 : map.swizzle == SWIZZLE_64B ? 64 : 128;
    const uint32_t chunks = width / 16, chunk = at % width / 16, line = at / 128;
    return at / width * width + (chunk ^ line % chunks) * 16 + at % 16;
}

/* Byte offset in smem.data of element (r, c) of a box. */
static uint32_t offset_of(const struct box *box, int r, int c) {
    const uint32_t linear =
        address + (uint32_t)box->offset + (uint32_t)((r * map.box_columns + c) * map.element_bytes);
    return permuted(linear) - address;
}

/* The element of the matrix that (r, c) of a box is, as an offset from the base; -1: none. A store
 * writes rows in whole chunks of 16 bytes. */
static int64_t element_of(const struct box *box, int r, int c, bool store) {
    const int64_t row = (int64_t)box->row + r, column = (int64_t)box->column + c;
    int64_t columns = map.columns;
    while (store && columns * map.element_bytes % 16)
        ++columns;
    if (row < 0 || row >= map.rows || column < 0 || column >= columns) return -1;
    const int64_t first = row * map.pitch + column * map.element_bytes;
    if (map.rank < 3) return first;
    if (box->matrix < 0 || box->matrix >= (int64_t)map.outer_extent[0]) return -1;
    return box->matrix * map.outer_pitch[0] + first;
}

/* ---- random trials ---- */

static int random_coordinate(int64_t extent, int box) {
    switch (fuzz_between(0, 15)) {
    case 0:
        return INT32_MIN + fuzz_between(0, 3);
    case 1:
        return INT32_MAX - fuzz_between(0, 3);
    case 2:
        return (int)fuzz_bits();
    case 3:
        return 0;
    default:
        return fuzz_between(-box - 2, (int)extent + 2);
    }
}

/* A map that fits `bytes` bytes at `memory`. */
static void random_map(const unsigned char *memory, int bytes) {
    static const struct {
        enum gemm_type type;
        int bytes;
    } types[] = {{GEMM_FP16, 2}, {GEMM_BF16, 2}, {GEMM_FP32, 4}, {GEMM_E4M3, 1}};
    /* There is no addition of the last. */
    const int type = fuzz_between(0, adds ? 2 : 3), start = 16 * fuzz_between(0, 64);
    map = (struct tensor_map_fields){.base = memory + start,
                                     .element_bytes = types[type].bytes,
                                     .type = types[type].type,
                                     .swizzle = (enum gemm_swizzle)fuzz_between(0, 3)};
    const int most = map.swizzle == SWIZZLE_NONE ? 256 * map.element_bytes : 16 << map.swizzle;
    map.box_columns = 16 * fuzz_between(1, most / 16) / map.element_bytes;
    const int row_bytes = map.box_columns * map.element_bytes;
    const int rows = BOX_BYTES / row_bytes;
    map.box_rows = fuzz_between(1, rows < 256 ? rows : 256);
    map.columns = fuzz_once_in(4) ? fuzz_between(1, 9) : fuzz_between(1, 300);
    map.pitch = (map.columns * map.element_bytes + 15) / 16 * 16 + 16 * fuzz_between(0, 3);
    map.rows = fuzz_between(1, (int)((bytes - start) / map.pitch));
    if (map.rows > 300) map.rows = fuzz_between(1, 300);
}

/* The matrix becomes the first of several. */
static void make_batch(const unsigned char *memory, int bytes) {
    const int64_t of_one = map.rows * map.pitch, room = bytes - (map.base - memory) - of_one;
    map.rank = 3;
    map.outer_box[0] = 1;
    map.outer_pitch[0] = of_one + 16 * fuzz_between(0, 3);
    if (fuzz_once_in(4)) map.outer_pitch[0] = 16 * fuzz_between(1, 40); /* rows in turn, or other */
    map.outer_extent[0] = 1 + (uint32_t)fuzz_between(0, (int)(room / map.outer_pitch[0]));
    if (map.outer_extent[0] > 5) map.outer_extent[0] = 5;
}

/* Where the pattern of the swizzle begins; once in a while only where the instruction takes it. */
static struct box random_box(bool *aligned) {
    const int period = map.swizzle == SWIZZLE_NONE ? 128 : 128 << map.swizzle;
    const int step = fuzz_once_in(8) ? 128 : period;
    const int chunk = 16 / map.element_bytes; /* a box begins at a whole number of 16 bytes */
    struct box box = {map.rank == 3 ? random_coordinate(map.outer_extent[0], 0) : 0,
                      random_coordinate(map.rows, map.box_rows),
                      random_coordinate(map.columns, map.box_columns) & -chunk,
                      step * fuzz_between(0, (ROOM - BOX_BYTES) / step - 1)};
    if (map.swizzle && box.offset % period) *aligned = false;
    return box;
}

static struct tensor_map encoded(void) {
    struct tensor_map result;
    const char *const fault = tensor_map_encode(&result, &map);
    EXPECT(!fault, "%s", fault);
    return result;
}

/* ---- loads ---- */

KERNEL(32, 1) load_boxes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x != 0) return;
    address = shared_address(shared->data);
    mbarrier_init(&shared->full, 1);
    fence_mbarrier_init();
    for (int i = 0; i < box_count; ++i) {
        memcpy(shared->data, before, ROOM); /* behind the simulator's back */
        mbarrier_arrive_expect_tx(&shared->full, tensor_map_box_bytes(&map));
        if (map.rank == 3)
            tma_load_3d(shared->data + boxes[i].offset, &args.map_a, boxes[i].matrix, boxes[i].row,
                        boxes[i].column, &shared->full);
        else
            tma_load(shared->data + boxes[i].offset, &args.map_a, boxes[i].row, boxes[i].column,
                     &shared->full);
        mbarrier_wait(&shared->full, (uint32_t)i & 1);
        memcpy(after[i], shared->data, ROOM);
    }
}

/* A box that is not aligned moves by absolute addresses all the same. */
#define MISALIGNED "misaligned-swizzle"

/* The launch, under a random schedule; what must be reported; NULL: nothing. */
static void launch(void (*kernel)(const struct gemm_args), const char *expected, int number) {
    const struct test_launch one = {kernel, 1, 1, 32, sizeof(struct smem)};
    test_open((enum sim_schedule)fuzz_between(SCHEDULE_TIME, SCHEDULE_RANDOM), fuzz_bits(), 1);
    const enum run_status status = test_run(&one, NULL);
    const char *kind = "nothing", *file;
    int line;
    hazards_get(0, &kind, &file, &line);
    EXPECT(expected ? status == RUN_HAZARD && !strcmp(kind, expected) : status == RUN_OK,
           "trial %d: status %d, reported: %s", number, status, kind);
}

static void check_load(int number) {
    bool aligned = true;
    random_map((const unsigned char *)test_in, TEST_BYTES);
    if (fuzz_once_in(3)) make_batch((const unsigned char *)test_in, TEST_BYTES);
    test_args.map_a = encoded();
    box_count = BOXES;
    for (int i = 0; i < BOXES; ++i)
        boxes[i] = random_box(&aligned);
    for (int i = 0; i < ROOM; ++i)
        before[i] = (unsigned char)fuzz_bits();
    launch(load_boxes, aligned ? NULL : MISALIGNED, number);
    for (int i = 0; i < BOXES; ++i) {
        static unsigned char expected[ROOM];
        memcpy(expected, before, ROOM);
        for (int r = 0; r < map.box_rows; ++r)
            for (int c = 0; c < map.box_columns; ++c) {
                static const unsigned char zeros[4];
                const int64_t element = element_of(&boxes[i], r, c, false);
                memcpy(expected + offset_of(&boxes[i], r, c),
                       element < 0 ? zeros : map.base + element, (size_t)map.element_bytes);
            }
        int differing = 0;
        while (differing < ROOM && expected[differing] == after[i][differing])
            ++differing;
        EXPECT(differing == ROOM, "load %d.%d: byte %d is %02x, expected %02x", number, i,
               differing, after[i][differing], expected[differing]);
    }
}

/* ---- stores and reductions ---- */

KERNEL(32, 1) store_box(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    address = shared_address(shared->data);
    for (int at = 16 * (int)threadIdx.x; at < ROOM; at += 16 * 32) {
        struct b128 chunk;
        memcpy(&chunk, before + at, sizeof chunk);
        st_shared_b128(shared->data + at, chunk);
    }
    fence_proxy_async();
    __syncwarp();
    if (threadIdx.x != 0) return;
    if (adds)
        tma_reduce_add(&args.map_d, boxes[0].row, boxes[0].column, shared->data + boxes[0].offset);
    else if (map.rank == 3)
        tma_store_3d(&args.map_d, boxes[0].matrix, boxes[0].row, boxes[0].column,
                     shared->data + boxes[0].offset);
    else
        tma_store(&args.map_d, boxes[0].row, boxes[0].column, shared->data + boxes[0].offset);
    bulk_commit_group();
    bulk_wait_group(0);
}

/* A whole number from -32 to 32 in the map's type: sums of two are exact in each. */
static void put_number(unsigned char *to, int number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (map.type == GEMM_FP32) {
        memcpy(to, &bits, 4);
        return;
    }
    uint16_t half = (uint16_t)(bits >> 16); /* bf16 */
    if (map.type == GEMM_FP16)              /* the exponent's bias is 15 instead of 127 */
        half = number ? (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 |
                                   (bits >> 13 & 0x3ff))
                      : 0;
    memcpy(to, &half, 2);
}

static int8_t number_at[TEST_BYTES / 2], number_in_box[ROOM / 2]; /* per element, when adding */

static void fill(unsigned char *memory, int bytes, int8_t *numbers) {
    for (int at = 0; at < bytes; at += adds ? map.element_bytes : 1)
        if (adds)
            put_number(memory + at,
                       numbers[at / map.element_bytes] = (int8_t)fuzz_between(-32, 32));
        else
            memory[at] = (unsigned char)fuzz_bits();
}

static void check_store(int number) {
    static unsigned char expected[TEST_BYTES];
    unsigned char *const matrix = (unsigned char *)test_out;
    bool aligned = true;
    adds = fuzz_once_in(3);
    random_map(matrix, TEST_BYTES);
    if (!adds && fuzz_once_in(3)) make_batch(matrix, TEST_BYTES);
    test_args.map_d = encoded();
    boxes[0] = random_box(&aligned);
    const bool before_matrix = boxes[0].matrix < 0 || boxes[0].row < 0 || boxes[0].column < 0;
    fill(matrix, TEST_BYTES, number_at);
    fill(before, ROOM, number_in_box);
    /* A register that looks like an accumulator in flight is an error of its own. */
    for (int at = 2; !adds && at < ROOM; at += 4)
        before[at + 1] = 0x3f;
    memcpy(expected, matrix, TEST_BYTES);
    launch(store_box, !aligned ? MISALIGNED : before_matrix ? "tma-coordinate" : NULL, number);
    if (before_matrix) return;
    for (int r = 0; r < map.box_rows; ++r)
        for (int c = 0; c < map.box_columns; ++c) {
            const int64_t element = element_of(&boxes[0], r, c, true);
            if (element < 0) continue;
            const int64_t to = map.base - matrix + element;
            const uint32_t from = offset_of(&boxes[0], r, c);
            if (adds)
                put_number(expected + to, number_at[to / map.element_bytes] +
                                              number_in_box[(int)from / map.element_bytes]);
            else
                memcpy(expected + to, before + from, (size_t)map.element_bytes);
        }
    int differing = 0;
    while (differing < TEST_BYTES && expected[differing] == matrix[differing])
        ++differing;
    EXPECT(differing == TEST_BYTES, "%s %d: byte %d is %02x, expected %02x",
           adds ? "reduction" : "store", number, differing, matrix[differing % TEST_BYTES],
           expected[differing % TEST_BYTES]);
}

/* ---- arguments ---- */

/* What cuTensorMapEncodeTiled asks of a matrix, and gemm_tensor_map() besides: rows that do not
 * overlap. */
static bool acceptable(const struct tensor_map_fields *f) {
    const bool base = f->base && (uintptr_t)f->base % 16 == 0;
    const bool extents = f->rows >= 1 && f->rows <= INT64_C(4294967296) && f->columns >= 1 &&
                         f->columns <= INT64_C(4294967296);
    const bool pitch = f->pitch > 0 && f->pitch % 16 == 0 && f->pitch < INT64_C(1099511627776) &&
                       f->pitch / f->element_bytes >= f->columns;
    const bool box = f->box_rows >= 1 && f->box_rows <= 256 && f->box_columns >= 1 &&
                     f->box_columns <= 256 && f->box_columns * f->element_bytes % 16 == 0;
    static const int widths[] = {1 << 20, 32, 64, 128};
    return base && extents && pitch && box && (int)f->swizzle >= 0 && (int)f->swizzle <= 3 &&
           f->box_columns * f->element_bytes <= widths[f->swizzle];
}

static int64_t random_extent(void) {
    static const int64_t edges[] = {INT64_MIN,
                                    -1,
                                    0,
                                    1,
                                    2,
                                    255,
                                    256,
                                    257,
                                    1073741824,
                                    INT32_MAX,
                                    UINT32_MAX,
                                    INT64_C(4294967296),
                                    INT64_C(4294967297),
                                    INT64_C(1099511627776),
                                    INT64_MAX};
    const int edge = fuzz_between(0, 2 * (int)(sizeof edges / sizeof *edges) - 1);
    return edge < (int)(sizeof edges / sizeof *edges) ? edges[edge] : fuzz_between(1, 1000);
}

static void check_arguments(int number) {
    struct tensor_map result;
    random_map((const unsigned char *)test_in, TEST_BYTES);
    for (int changes = fuzz_between(0, 2); changes > 0; --changes)
        switch (fuzz_between(0, 6)) {
        case 0:
            map.base = fuzz_once_in(4) || !map.base ? NULL : map.base + fuzz_between(0, 31);
            break;
        case 1:
            map.rows = random_extent();
            break;
        case 2:
            map.columns = random_extent();
            break;
        case 3:
            map.pitch = fuzz_once_in(2) || map.pitch > INT32_MAX || map.pitch < 0
                            ? random_extent()
                            : map.pitch + fuzz_between(-32, 32);
            break;
        case 4:
            map.box_rows = (int)random_extent();
            break;
        case 5:
            map.box_columns = (int)random_extent();
            break;
        case 6:
            map.swizzle = (enum gemm_swizzle)fuzz_between(-1, 5);
            break;
        }
    const char *const fault = tensor_map_encode(&result, &map);
    EXPECT(acceptable(&map) == !fault, "map %d: %s", number, fault ? fault : "accepted");
    if (fault) return;
    struct tensor_map_fields back;
    EXPECT(tensor_map_decode(&result, &back) && back.base == map.base && back.rows == map.rows &&
               back.columns == map.columns && back.pitch == map.pitch &&
               back.box_rows == map.box_rows && back.box_columns == map.box_columns &&
               back.element_bytes == map.element_bytes && back.type == map.type &&
               back.swizzle == map.swizzle,
           "map %d comes back as another", number);
    /* With a bit changed it is no map any more, or the bit meant nothing. */
    ((unsigned char *)&result)[fuzz_between(0, (int)sizeof result - 1)] ^=
        (unsigned char)(1 << fuzz_between(0, 7));
    struct tensor_map_fields changed;
    EXPECT(!tensor_map_decode(&result, &changed) ||
               (changed.base == map.base && changed.rows == map.rows &&
                changed.columns == map.columns && changed.pitch == map.pitch &&
                changed.box_rows == map.box_rows && changed.box_columns == map.box_columns &&
                changed.swizzle == map.swizzle),
           "map %d with a bit changed is taken for another", number);
}

int main(void) {
    hazards_quiet(true);
    test_open(SCHEDULE_TIME, 1, 1);
    for (int i = 0; i < MAPS; ++i)
        check_arguments(i);
    for (int i = 0; i < LOADS; ++i)
        check_load(i);
    for (int i = 0; i < STORES; ++i)
        check_store(i);
    backend_close();
    return expect_result();
}
