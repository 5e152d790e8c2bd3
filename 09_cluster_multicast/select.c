/*
 * select.c: which configuration of the chapter's kernels computes a problem, and the chapter as a
 * library.
 *
 * Each configuration is an object file of its own, made of kernel.cu or split_k.cu; the top
 * CMakeLists.txt says with which constants. Their cycles are predicted by a formula of a few terms,
 * and the smallest prediction wins.
 */
#include "hopper_gemm.h"

#include <math.h>
#include <stdio.h>

#include "gemm.h"

/*
 * The configurations. Predicted cycles of the SM clock:
 *
 *   k-tile    a k-tile in the main loop, operands coming fast enough. The Tensor Core's share is
 *             tile_m * tile_n * 64 * 2 / 4096; what is beyond that is lost between multiplications.
 *   overhead  a tile besides its main loop: first loads, epilogue, the exchange of partial sums.
 *   splits    parts of the k loop. The split kernel, 1 part included, is not persistent: it is for
 *             problems whose tiles are all resident at once.
 *
 * Fitted to times of 30 shapes on an H200, so that the choice is within a few percent of the best.
 */
#define CONFIGURATIONS(f)                                                                          \
    /* name          splits k-tile overhead */                                                     \
    f(coop256,            0,  1087,    1800)                                                       \
    f(coop256x192,        0,  1540,    3300)                                                       \
    f(coop256x160,        0,  1260,    3300)                                                       \
    f(pp192,              0,   778,     700)                                                       \
    f(pp128,              0,   549,     700)                                                       \
    f(split1_64x64,       1,   278,     570)                                                       \
    f(split1_64x128,      1,   311,    2000)                                                       \
    f(split2_128x64,      2,   422,    2400)                                                       \
    f(split4_64x128,      4,   404,    3700)                                                       \
    f(split8_64x64,       8,   278,    3300)                                                       \
    f(split8_128x128,     8,   560,    3300)

/* What an SM takes from the L2, in bytes a cycle: if rows begin at multiples of 128 bytes, so that a
 * row of a box is one line of the cache, and if they do not, so that it is two. */
enum { L2_BYTES = 64, L2_BYTES_UNALIGNED = 28, LINE_BYTES = 128 };

struct configuration {
    const struct gemm_stage *stage[2]; /* [enum gemm_type] */
    int splits;
    double k_tile, overhead;
};

#define DECLARE(name, ...)                                                                         \
    extern const struct gemm_stage stage_09_cluster_multicast_##name##_fp16,                       \
        stage_09_cluster_multicast_##name##_bf16;
#define ENTRY(name, ...)                                                                           \
    {{&stage_09_cluster_multicast_##name##_fp16, &stage_09_cluster_multicast_##name##_bf16},       \
     __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

static double most(double a, double b) { return a > b ? a : b; }

/* Infinite if the configuration is not for this problem, or does not fit the device. */
static double predicted_cycles(const struct configuration *c, const struct gemm_stage *stage,
                               const struct gemm_problem *p) {
    const struct gemm_launch launch = {.kernel = stage->kernel,
                                       .name = stage->variant,
                                       .grid = stage->cluster,
                                       .cluster = stage->cluster,
                                       .threads = stage->threads,
                                       .smem_bytes = stage->smem_bytes};
    if (stage->cluster > gemm_sm_count()) return INFINITY;
    const int resident = gemm_resident_clusters(&launch);
    if (resident == 0) return INFINITY;

    const bool split = c->splits > 0;
    const int tiles_m = ceil_div(p->m, stage->tile_m), tiles_n = ceil_div(p->n, stage->tile_n);
    /* A cluster's work: one tile, whose k loop its CTAs split, or one tile for each of them. */
    const double work = (double)(split ? tiles_m : ceil_div(tiles_m, stage->cluster)) * tiles_n;
    double rounds = ceil(work / resident);
    if (split) {
        /* With few rows, memory is the limit: then a CTA more or less on an SM does not matter. */
        const bool few_rows = p->m <= stage->tile_m && c->splits == 1;
        if (work * c->splits > gemm_sm_count() && !few_rows) return INFINITY;
        rounds = most(1, work * c->splits / gemm_sm_count());
    } else if (p->m <= 64) {
        return INFINITY;
    }

    const int k_tiles = ceil_div(ceil_div(p->k, stage->tile_k), split ? c->splits : 1);
    const bool aligned = p->lda * 2 % LINE_BYTES == 0 && p->ldb * 2 % LINE_BYTES == 0;
    const double fetched = /* by a CTA for one k-tile; the cluster shares the columns of B */
        stage->tile_k * 2.0 * (stage->tile_m + stage->tile_n / (split ? 1 : stage->cluster));
    const double k_tile = most(c->k_tile, fetched / (aligned ? L2_BYTES : L2_BYTES_UNALIGNED));
    return rounds * (k_tiles * k_tile + c->overhead);
}

static const struct gemm_stage *selected(enum gemm_type type, const struct gemm_problem *problem) {
    const struct gemm_stage *best = NULL;
    double best_cycles = INFINITY;
    if (gemm_sm_count() < 1) return NULL; /* no device; said already */
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; ++i) {
        const struct configuration *c = &configurations[i];
        const double cycles = predicted_cycles(c, c->stage[type], problem);
        if (cycles >= best_cycles) continue;
        best_cycles = cycles;
        best = c->stage[type];
    }
    return best;
}

static enum gemm_status launch_selected(enum gemm_type type, const struct gemm_problem *problem,
                                        void *stream) {
    const struct gemm_stage *stage = selected(type, problem);
    if (stage) return stage->launch(problem, stream);
    fprintf(stderr, "09_cluster_multicast: no configuration fits this device\n");
    return GEMM_UNSUPPORTED;
}

/* The chapter's own stage for one type. Tile and kernel are those of the configuration that
 * select() gives. */
#define CHAPTER_STAGE(suffix, type)                                                                \
    static const struct gemm_stage *select_##suffix(const struct gemm_problem *problem) {          \
        return selected(type, problem);                                                            \
    }                                                                                              \
    static enum gemm_status launch_##suffix(const struct gemm_problem *problem, void *stream) {    \
        return launch_selected(type, problem, stream);                                             \
    }                                                                                              \
    extern const struct gemm_stage stage_09_cluster_multicast_##suffix;                            \
    const struct gemm_stage stage_09_cluster_multicast_##suffix = {                                \
        .name = "09_cluster_multicast",                                                            \
        .technique = "clusters share operands by TMA multicast",                                   \
        .tile_m = 128,                                                                             \
        .tile_n = 256,                                                                             \
        .tile_k = 64,                                                                              \
        .stages = 4,                                                                               \
        .cluster = 1,                                                                              \
        .launch = launch_##suffix,                                                                 \
        .select = select_##suffix,                                                                 \
    };
CHAPTER_STAGE(fp16, GEMM_FP16)
CHAPTER_STAGE(bf16, GEMM_BF16)

/* ---- the library ---- */

/* Says which argument is at fault. */
static int bad(const char *argument, long long value, const char *rule) {
    fprintf(stderr, "hopper_gemm: %s = %lld: %s\n", argument, value, rule);
    return HOPPER_GEMM_BAD_ARGUMENT;
}

static int check_matrix(const char *const names[2], const void *base, int64_t ld, int columns) {
    if (!base || (uintptr_t)base % 16)
        return bad(names[0], (long long)(uintptr_t)base, "must be a multiple of 16 and not NULL");
    if (ld < columns || ld % 8)
        return bad(names[1], ld, "must be a multiple of 8, and a row's elements at least");
    return HOPPER_GEMM_OK;
}

int hopper_gemm(void *stream, int type, int m, int n, int k, const void *a, int64_t lda,
                const void *b, int64_t ldb, void *d, int64_t ldd) {
    enum { LARGEST = 2000000000 }; /* leaves room for rounding up to a tile */
    if (type != HOPPER_GEMM_FP16 && type != HOPPER_GEMM_BF16)
        return bad("type", type, "must be HOPPER_GEMM_FP16 or HOPPER_GEMM_BF16");
    const int extents[] = {m, n, k};
    for (int i = 0; i < 3; ++i)
        if (extents[i] < 1 || extents[i] > LARGEST)
            return bad(&"m\0n\0k"[2 * i], extents[i], "must be from 1 to 2000000000");
    if (check_matrix((const char *[]){"a", "lda"}, a, lda, k) ||
        check_matrix((const char *[]){"b", "ldb"}, b, ldb, k) ||
        check_matrix((const char *[]){"d", "ldd"}, d, ldd, n))
        return HOPPER_GEMM_BAD_ARGUMENT;
    const struct gemm_problem problem = {
        .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldd = ldd, .a = a, .b = b, .d = d};
    const enum gemm_type element = type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16;
    return launch_selected(element, &problem, stream) == GEMM_OK ? HOPPER_GEMM_OK
                                                                 : HOPPER_GEMM_FAILED;
}
