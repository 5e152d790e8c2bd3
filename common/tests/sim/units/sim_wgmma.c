/*
 * sim_wgmma.c: wgmma against a plain matrix product for every layout, and every wrong use that the
 * simulator knows. Operands are placed by formulas of this file's own.
 */
#include "hopper/element.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "sim/models/element_values.h"
#include "sim/models/tensor_core.h"
#include "tests/sim/sim_trials.h"

enum { K = 64, ROWS = 64, MAX_N = 256, THREADS = 128, MN_MAJOR = 4 };

struct smem {
    element_t a[ROWS * K];
    element_t b[MAX_N * K];
};

/* How a tile of `extent` rows (m or n) of K elements lies in shared memory. */
struct layout {
    enum gemm_swizzle swizzle;
    bool mn_major;
    int extent;
};

static uint32_t width_of(struct layout l) { return l.swizzle ? 16u << l.swizzle : 16; }

/* Byte offset of element (mn, k). */
static uint32_t offset_of(struct layout l, uint32_t mn, uint32_t k) {
    const uint32_t width = width_of(l), elements = width / 2, chunks = width / 16;
    uint32_t offset;
    if (!l.swizzle) {
        /* core matrices of 8 x 8, K-major: all of mn, then along k; MN-major: all of k, then along
         * mn */
        const uint32_t core =
            l.mn_major ? mn / 8 * (K / 8) + k / 8 : k / 8 * ((uint32_t)l.extent / 8) + mn / 8;
        return core * 128 + (l.mn_major ? k % 8 * 16 + mn % 8 * 2 : mn % 8 * 16 + k % 8 * 2);
    }
    if (l.mn_major)
        offset = mn / elements * (K * width) + k * width + mn % elements * 2;
    else
        offset = k / elements * ((uint32_t)l.extent * width) + mn * width + k % elements * 2;
    const uint32_t chunk = offset % width / 16;
    return offset - chunk * 16 + (chunk ^ (offset / 128 % chunks)) * 16;
}

/* The descriptor of 16 elements of k, from 16 * step on. */
static uint64_t describe(struct layout l, const element_t *tile, uint32_t step) {
    const uint32_t width = width_of(l), extent = (uint32_t)l.extent, start = shared_address(tile);
    if (!l.swizzle) {
        const uint32_t lbo = l.mn_major ? 128 : extent * 16, sbo = l.mn_major ? K / 8 * 128 : 128;
        return wgmma_descriptor(start + step * 2 * lbo, lbo, sbo, l.swizzle);
    }
    if (l.mn_major)
        return wgmma_descriptor(start + step * 16 * width, K * width, 8 * width, l.swizzle);
    const uint32_t block = step * 32 / width;
    return wgmma_descriptor(start + block * extent * width + step * 32 % width, 0, 8 * width,
                            l.swizzle);
}

/* Copies rows 0 .. extent - 1, columns 0 .. K - 1 of a matrix to where the layout has them. */
static void fill(struct layout l, element_t *tile, const element_t *matrix, int64_t ld) {
    for (int i = (int)threadIdx.x; i < l.extent * K / 2; i += THREADS) {
        uint32_t mn[2], k[2];
        for (int j = 0; j < 2; ++j) { /* two neighbours in memory */
            mn[j] = (uint32_t)(l.mn_major ? 2 * i % l.extent + j : 2 * i / K);
            k[j] = (uint32_t)(l.mn_major ? 2 * i / l.extent : 2 * i % K + j);
        }
        const element_t low = ld_global_element(&matrix[mn[0] * ld + k[0]]);
        const element_t high = ld_global_element(&matrix[mn[1] * ld + k[1]]);
        st_shared_b32((uint32_t *)(void *)((char *)tile + offset_of(l, mn[0], k[0])),
                      (uint32_t)high.bits << 16 | low.bits);
    }
}

static void fill_both(struct smem *shared, const struct gemm_args *args, struct layout a,
                      struct layout b) {
    fill(a, shared->a, args->a, args->lda);
    fill(b, shared->b, args->b, args->ldb);
    fence_proxy_async();
    __syncthreads();
}

static void store(const struct gemm_args *args, int n, int first_column, const float *acc) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < n / 2; i += 2) {
        const int row = 16 * warp + lane / 4 + (i % 4 ? 8 : 0), column = i / 4 * 8 + lane % 4 * 2;
        st_global_b32(&args->d[row * args->ldd + first_column + column],
                      pack_elements(acc[i], acc[i + 1]));
    }
}

static const struct layout plain = {SWIZZLE_128B, false, ROWS};

/* ---- right: every shape, layout and kind ---- */

#define SS_KERNEL(n)                                                                               \
    KERNEL(THREADS, 1) ss_##n(KERNEL_ARGS args) {                                                  \
        SHARED_MEMORY(struct smem);                                                                \
        const struct layout a = {(enum gemm_swizzle)(args.splits & 3), args.splits & MN_MAJOR,     \
                                 ROWS};                                                            \
        const struct layout b = {a.swizzle, a.mn_major, n};                                        \
        float acc[n / 2];                                                                          \
        fill_both(shared, &args, a, b);                                                            \
        wgmma_fence();                                                                             \
        for (int step = 0; step < K / 16; ++step) {                                                \
            const uint64_t da = describe(a, shared->a, step), db = describe(b, shared->b, step);   \
            if (a.mn_major)                                                                        \
                wgmma_m64nNk16_mn_major(n, acc, da, db, step > 0);                                 \
            else                                                                                   \
                wgmma_m64nNk16(n, acc, da, db, step > 0);                                          \
        }                                                                                          \
        wgmma_commit_group();                                                                      \
        wgmma_wait_group(0);                                                                       \
        store(&args, n, 0, acc);                                                                   \
    }
SS_KERNEL(8)
SS_KERNEL(24)
SS_KERNEL(64)
SS_KERNEL(136)
SS_KERNEL(256)

/* The same layouts, byte for byte, with e4m3 in them: 2 K elements of k in a row. PTX has K-major
 * ones only. */
static void fill_e4m3(struct layout l, element_t *tile, const element_t *matrix, int64_t ld) {
    for (int i = (int)threadIdx.x; i < l.extent * K / 2; i += THREADS) {
        const uint32_t mn = (uint32_t)(2 * i / K), k = (uint32_t)(2 * i % K);
        float value[4];
        for (int j = 0; j < 4; ++j)
            value[j] = element_to_float(ld_global_element(&matrix[mn * ld + 2 * k + j]));
        const uint32_t low = pack_e4m3(value[0], value[1]);
        st_shared_b32((uint32_t *)(void *)((char *)tile + offset_of(l, mn, k)),
                      low | (uint32_t)pack_e4m3(value[2], value[3]) << 16);
    }
}

#define E4M3_KERNEL(n)                                                                             \
    KERNEL(THREADS, 1) e4m3_##n(KERNEL_ARGS args) {                                                \
        SHARED_MEMORY(struct smem);                                                                \
        const struct layout a = {(enum gemm_swizzle)args.splits, false, ROWS};                     \
        const struct layout b = {a.swizzle, false, n};                                             \
        float acc[n / 2];                                                                          \
        fill_e4m3(a, shared->a, args.a, args.lda);                                                 \
        fill_e4m3(b, shared->b, args.b, args.ldb);                                                 \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        wgmma_fence();                                                                             \
        for (int step = 0; step < 2 * K / 32; ++step)                                              \
            wgmma_m64nNk32_e4m3(n, acc, describe(a, shared->a, step),                              \
                                describe(b, shared->b, step), step > 0);                           \
        wgmma_commit_group();                                                                      \
        wgmma_wait_group(0);                                                                       \
        store(&args, n, 0, acc);                                                                   \
    }
E4M3_KERNEL(8)
E4M3_KERNEL(24)
E4M3_KERNEL(64)
E4M3_KERNEL(136)
E4M3_KERNEL(256)

/* A row pair of A, k and k + 1, as the fragment holds it: registers 1 and 3 eight rows below, 2 and
 * 3 eight of k further. */
static void load_fragments(const struct gemm_args *args, int k, uint32_t a[4]) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 4; ++i) {
        const element_t *pair =
            &args->a[(row + i % 2 * 8) * args->lda + k + i / 2 * 8 + threadIdx.x % 4 * 2];
        a[i] = (uint32_t)ld_global_element(pair + 1).bits << 16 | ld_global_element(pair).bits;
    }
}

KERNEL(THREADS, 1) rs_128(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct layout b = {SWIZZLE_128B, false, 128};
    uint32_t a[K / 16][4];
    float acc[64];
    fill_both(shared, &args, plain, b);
    for (int step = 0; step < K / 16; ++step)
        load_fragments(&args, 16 * step, a[step]);
    wgmma_fence();
    for (int step = 0; step < K / 16; ++step)
        wgmma_m64nNk16_rs(128, acc, a[step], describe(b, shared->b, step), step > 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    store(&args, 128, 0, acc);
}

/* Two groups in flight on two arrays, then a third that goes on with the first after its values
 * were looked at. */
KERNEL(THREADS, 1) groups(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct layout b = {SWIZZLE_128B, false, 16};
    float acc[2][8] = {{0}};
    fill_both(shared, &args, plain, b);
    wgmma_fence();
    for (int i = 0; i < 2; ++i) {
        for (int step = 0; step < 2; ++step)
            wgmma_m64nNk16(16, acc[i], describe(plain, shared->a, step),
                           describe(b, shared->b, step), 1);
        wgmma_commit_group();
    }
    wgmma_commit_group(); /* an empty one */
    wgmma_wait_group(2);
    store(&args, 16, 16, acc[0]);
    wgmma_fence();
    for (int i = 0; i < 2; ++i) /* the second array is still in flight: a chain */
        for (int step = 2; step < 4; ++step)
            wgmma_m64nNk16(16, acc[i], describe(plain, shared->a, step),
                           describe(b, shared->b, step), 1);
    wgmma_commit_group();
    wgmma_wait_group(0);
    store(&args, 16, 0, acc[0]);
    store(&args, 16, 32, acc[1]);
}

/* Each step's sums are promoted, the lower rows' twice their half. */
KERNEL(THREADS, 1) promoted_64(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct layout b = {SWIZZLE_128B, false, 64};
    const float scale[2] = {1, 0.5f};
    float acc[32], sum[32] = {0};
    fill_both(shared, &args, plain, b);
    for (int step = 0; step < K / 16; ++step) {
        wgmma_fence();
        wgmma_m64nNk16(64, acc, describe(plain, shared->a, step), describe(b, shared->b, step), 0);
        wgmma_commit_group();
        wgmma_wait_group(0);
        wgmma_promote(sum, acc, scale, 32);
    }
    for (int i = 0; i < 32; ++i)
        if (i % 4 >= 2) sum[i] *= 2;
    store(&args, 64, 0, sum);
}

/* The same with a scale for each column, 1 to 1/16 in turn. */
static float column_scale(int column) { return 1.0f / (float)(1 << column % 5); }

KERNEL(THREADS, 1) promoted_columns_64(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct layout b = {SWIZZLE_128B, false, 64};
    const int first = threadIdx.x % 4 * 2; /* column */
    float acc[32], sum[32] = {0}, scale[16];
    for (int i = 0; i < 16; ++i)
        scale[i] = column_scale(first + i / 2 * 8 + i % 2);
    fill_both(shared, &args, plain, b);
    for (int step = 0; step < K / 16; ++step) {
        wgmma_fence();
        wgmma_m64nNk16(64, acc, describe(plain, shared->a, step), describe(b, shared->b, step), 0);
        wgmma_commit_group();
        wgmma_wait_group(0);
        wgmma_promote_columns(sum, acc, scale, 32);
    }
    for (int i = 0; i < 32; ++i)
        sum[i] /= column_scale(first + i / 4 * 8 + i % 2);
    store(&args, 64, 0, sum);
}

/* All warps read B, and a warp's wait speaks for itself: its thread may not release for the others.
 */
KERNEL(THREADS, 1) one_thread_releases_8(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct layout b = {SWIZZLE_128B, false, 8};
    float acc[4];
    fill_both(shared, &args, plain, b);
    wgmma_fence();
    for (int step = 0; step < K / 16; ++step)
        wgmma_m64nNk16(8, acc, describe(plain, shared->a, step), describe(b, shared->b, step),
                       step > 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    if (threadIdx.x == 0)
        for (int i = 0; i < 8 * K / 2; ++i)
            st_shared_b32((uint32_t *)(void *)shared->b + i, 0);
    store(&args, 8, 0, acc);
}

/* ---- wrong: each in `multiply`, by the number in args.splits ---- */

enum mistake {
    NOT_WAITED,
    PROMOTED_UNWAITED,
    COLUMNS_UNWAITED,
    WAITED_FOR_OLDER,
    NO_FENCE,
    CHANGED_WITHOUT_FENCE,
    PACKED_WITHOUT_FENCE,
    CHANGED_IN_FLIGHT,
    OTHER_SHAPE_IN_FLIGHT,
    NEVER_WAITED,
    NEVER_COMMITTED,
    OTHER_DESCRIPTORS,
    OTHER_TYPE,
    THREE_WARPS,
    RESERVED_BITS,
    OUT_OF_BOUNDS,
    FRAGMENTS_CHANGED,
    FRAGMENTS_WITHOUT_FENCE,
    NO_PROXY_FENCE,
    OPERAND_OVERWRITTEN,
    WRONG_STRIDE, /* no hazard, a wrong result */
    WRONG_SWIZZLE,
};

KERNEL(THREADS, 1) mistaken(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const enum mistake mistake = (enum mistake)args.splits;
    const struct layout b = {SWIZZLE_128B, false, 16};
    uint64_t da, db;
    uint32_t fragments[4];
    float acc[8] = {0};
    fill(plain, shared->a, args.a, args.lda);
    fill(b, shared->b, args.b, args.ldb);
    load_fragments(&args, 0, fragments);
    if (mistake != NO_PROXY_FENCE) fence_proxy_async();
    __syncthreads();
    da = describe(plain, shared->a, 0);
    db = describe(b, shared->b, 0);
    if (mistake == RESERVED_BITS) da |= (uint64_t)1 << 52;
    if (mistake == OUT_OF_BOUNDS) da += sizeof(struct smem) >> 4;
    if (mistake == OTHER_DESCRIPTORS && threadIdx.x == 77) db += 2;
    if (mistake == WRONG_STRIDE)
        da = wgmma_descriptor(shared_address(shared->a), 0, 512, SWIZZLE_128B);
    if (mistake == WRONG_SWIZZLE)
        da = wgmma_descriptor(shared_address(shared->a), 0, 1024, SWIZZLE_64B);
    if (mistake != NO_FENCE) wgmma_fence();
    if (mistake == THREE_WARPS && threadIdx.x >= 96) return;
    if (mistake == FRAGMENTS_CHANGED || mistake == FRAGMENTS_WITHOUT_FENCE) {
        if (mistake == FRAGMENTS_WITHOUT_FENCE) load_fragments(&args, 16, fragments);
        wgmma_m64nNk16_rs(16, acc, fragments, db, 0);
    } else if (mistake == OTHER_TYPE && threadIdx.x / 32 == 2)
        wgmma_m64nNk32_e4m3(16, acc, da, db, 0);
    else
        wgmma_m64nNk16(16, acc, da, db, 0);
    if (mistake == FRAGMENTS_CHANGED) fragments[1] += 1;
    if (mistake == NEVER_COMMITTED) return;
    wgmma_commit_group();
    if (mistake == NEVER_WAITED) return;
    if (mistake == NOT_WAITED) store(&args, 16, 0, acc);
    if (mistake == PROMOTED_UNWAITED) {
        const float scale[2] = {1, 1};
        float sum[8] = {0};
        wgmma_promote(sum, acc, scale, 8);
    }
    if (mistake == COLUMNS_UNWAITED) {
        const float scale[4] = {1, 1, 1, 1};
        float sum[8] = {0};
        wgmma_promote_columns(sum, acc, scale, 8);
    }
    if (mistake == CHANGED_IN_FLIGHT) acc[3] = 1;
    if (mistake == OTHER_SHAPE_IN_FLIGHT) wgmma_m64nNk16(8, acc, da, db, 1);
    if (mistake == OPERAND_OVERWRITTEN) st_shared_b32((uint32_t *)(void *)shared->a, 0);
    if (mistake == WAITED_FOR_OLDER) {
        wgmma_wait_group(1);
        store(&args, 16, 0, acc);
    }
    wgmma_wait_group(0);
    if (mistake == CHANGED_WITHOUT_FENCE) acc[0] += 1;
    if (mistake == PACKED_WITHOUT_FENCE) store(&args, 16, 0, acc);
    if (mistake == CHANGED_WITHOUT_FENCE || mistake == PACKED_WITHOUT_FENCE) {
        wgmma_m64nNk16(16, acc, da, db, 1);
        wgmma_commit_group();
        wgmma_wait_group(0);
    }
    store(&args, 16, 0, acc);
}

/* ---- */

static float value_of(const uint16_t *matrix, int row, int k) {
    return element_value(matrix[row * TRIAL_EXTENT + k], false);
}

static int wrong_elements(int n, int first_column, int depth, const char *name) {
    int wrong = 0;
    for (int row = 0; row < ROWS; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int k = 0; k < depth; ++k)
                sum += value_of(trial_a, row, k) * value_of(trial_b, column, k);
            const float got =
                element_value(trial_d[row * TRIAL_EXTENT + first_column + column], false);
            if (!(got == sum) && !wrong++ && name)
                fprintf(stderr, "%s: (%d, %d): %g, expected %g\n", name, row, column, got, sum);
        }
    return wrong;
}

static void check(const struct sim_trial *t) {
    if (t->kernel == mistaken) {
        EXPECT(wrong_elements(16, 0, 16, NULL) > 100,
               "%s %d: a wrong descriptor gave the right result", t->name, t->argument);
        return;
    }
    if (t->kernel == groups) {
        EXPECT(!wrong_elements(16, 0, K, t->name), "first array");
        EXPECT(!wrong_elements(16, 16, 32, t->name), "first array, half way");
        EXPECT(!wrong_elements(16, 32, K, t->name), "second array");
        return;
    }
    const int n = atoi(strrchr(t->name, '_') + 1);
    const bool e4m3 = !strncmp(t->name, "e4m3", 4);
    EXPECT(!wrong_elements(n, 0, e4m3 ? 2 * K : K, t->name), "layout %d", t->argument);
}

#define TRIAL(kernel, ...)                                                                         \
    {                                                                                              \
#kernel, kernel, .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),      \
                         __VA_ARGS__                                                               \
    }
#define K_MAJOR(kernel)                                                                            \
    TRIAL(kernel, .argument = SWIZZLE_NONE), TRIAL(kernel, .argument = SWIZZLE_32B),               \
        TRIAL(kernel, .argument = SWIZZLE_64B), TRIAL(kernel, .argument = SWIZZLE_128B)
#define LAYOUTS(kernel)                                                                            \
    K_MAJOR(kernel), TRIAL(kernel, .argument = SWIZZLE_NONE | MN_MAJOR),                           \
        TRIAL(kernel, .argument = SWIZZLE_32B | MN_MAJOR),                                         \
        TRIAL(kernel, .argument = SWIZZLE_64B | MN_MAJOR),                                         \
        TRIAL(kernel, .argument = SWIZZLE_128B | MN_MAJOR)
#define WRONG(mistake, kind, ...)                                                                  \
    {                                                                                              \
#mistake, mistaken, .hazard = kind, .threads = THREADS, .cluster = 1,                      \
                            .smem_bytes = sizeof(struct smem), .argument = mistake, __VA_ARGS__    \
    }

int main(int argc, char **argv) {
    static const struct sim_trial trials[] = {
        LAYOUTS(ss_8),
        LAYOUTS(ss_24),
        LAYOUTS(ss_64),
        LAYOUTS(ss_136),
        LAYOUTS(ss_256),
        K_MAJOR(e4m3_8),
        K_MAJOR(e4m3_24),
        K_MAJOR(e4m3_64),
        K_MAJOR(e4m3_136),
        K_MAJOR(e4m3_256),
        TRIAL(rs_128),
        TRIAL(promoted_64),
        TRIAL(promoted_columns_64),
        TRIAL(groups),
        TRIAL(one_thread_releases_8, .hazard = "overwritten-while-read"),
        WRONG(NOT_WAITED, "accumulator-in-use"),
        WRONG(PROMOTED_UNWAITED, "accumulator-in-use"),
        WRONG(COLUMNS_UNWAITED, "accumulator-in-use"),
        WRONG(WAITED_FOR_OLDER, "accumulator-in-use"),
        WRONG(NO_FENCE, "missing-wgmma-fence"),
        WRONG(CHANGED_WITHOUT_FENCE, "missing-wgmma-fence"),
        WRONG(PACKED_WITHOUT_FENCE, "missing-wgmma-fence"),
        WRONG(CHANGED_IN_FLIGHT, "accumulator-in-flight"),
        WRONG(OTHER_SHAPE_IN_FLIGHT, "accumulator-shape"),
        WRONG(NEVER_WAITED, "unwaited-wgmma", .text = "call wgmma_wait_group(0)"),
        WRONG(NEVER_COMMITTED, "unwaited-wgmma", .text = "not even committed"),
        WRONG(OTHER_DESCRIPTORS, "diverged-warpgroup"),
        WRONG(OTHER_TYPE, "diverged-warpgroup"),
        WRONG(THREE_WARPS, "deadlock|diverged-warpgroup", .text = "missing: warp 3"),
        WRONG(RESERVED_BITS, "wgmma-descriptor"),
        WRONG(OUT_OF_BOUNDS, "shared-bounds", .text = "the descriptor of A"),
        WRONG(FRAGMENTS_CHANGED, "fragment-in-flight"),
        WRONG(FRAGMENTS_WITHOUT_FENCE, "missing-wgmma-fence"),
        WRONG(NO_PROXY_FENCE, "missing-proxy-fence"),
        WRONG(OPERAND_OVERWRITTEN, "overwritten-while-read"),
        WRONG(WRONG_STRIDE, NULL),
        WRONG(WRONG_SWIZZLE, NULL),
    };
    run_trials(trials, sizeof trials / sizeof *trials, check, argc, argv);
    return expect_result();
}
