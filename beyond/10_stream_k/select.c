/*
 * select.c: which configuration of the chapter's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of kernel.cu, split_k.cu, direct.cu or
 * fitted.cu; the top CMakeLists.txt has their constants. A formula of a few terms predicts the
 * cycles of each, and the smallest prediction is taken. A finite table of tiles rounds every
 * problem up to whole waves. fitted.cu is for problems that no tile of the table divides well.
 */
#include "select.h"

#include <math.h>
#include <stdio.h>

#include "direct.h"
#include "fit.h"

/*
 * The configurations. Predicted cycles of the SM clock:
 *
 *   k-tile    a k-tile in the main loop, if the L2 is fast enough. The Tensor Core's share is
 *             tile_m * tile_n * 64 * 2 / 4096; the rest is lost between multiplications.
 *   overhead  a tile besides its main loop: first loads, epilogue, the exchange of partial sums.
 *   hidden    what of it a cooperative kernel hides under the next tile's main loop, if that is
 *             long enough: it stores a piece after each k-tile.
 *   splits    0: kernel.cu, which is persistent. 1 or more: split_k.cu, with so many CTAs of a
 *             cluster that share a tile. It is not persistent: it is for problems whose tiles are
 *             all resident at once. Its CTAs on the same SM share the Tensor Core and what the L2
 *             delivers to the SM.
 *
 * DIRECT in the place of the splits is for direct.cu, which has a formula of its own in direct.h.
 * Its k-tile is a step of a warp, and its overhead belongs to a wave of CTAs.
 *
 * Fitted, together with the constants below, to runs on an H200,
 * docs/results/h200-cuts-earlier.txt. The kernel of fitted.cu has a formula of its own, in fit.h.
 */
// clang-format off
#define CONFIGURATIONS(f)                                                                          \
    /* name          splits k-tile overhead hidden */                                              \
    f(coop256,            0, 1060, 2047, 1050)                                                     \
    f(coop256_alone,      0, 1050, 1900,  900)                                                     \
    f(coop200_four,       0,  816, 3351, 1800)                                                     \
    f(coop224,            0,  905, 2440, 1100)                                                     \
    f(pp192,              0,  768, 1428,    0)                                                     \
    f(pp192_cluster,      0,  768, 1600,    0)                                                     \
    f(pp128,              0,  528,  319,    0)                                                     \
    f(split1_64x64,       1,  424, 1321,    0)                                                     \
    f(split1_64x32,       1,  269,  596,    0)                                                     \
    f(split1_64x128,      1,  555, 1506,    0)                                                     \
    f(split4_64x64,       4,  323, 3091,    0)                                                     \
    f(split8_64x64,       8,  245, 3945,    0)                                                     \
    f(direct_16x8,   DIRECT,  176,  200,    0)                                                     \
    f(direct_16x16,  DIRECT,  272,  248,    0)                                                     \
    f(direct_16x32,  DIRECT,  381,  924,    0)
// clang-format on

enum { DIRECT = -1 };

/* Bytes per cycle. L2_BYTES: from the L2 to an SM, if every row begins at a multiple of LINE_BYTES:
 * a row of a box is then one line of the cache. L2_APART: if the CTAs of a cluster load nothing in
 * common. L2_BYTES_UNALIGNED: if a row of a box lies in two lines. All SMs load all the time in a
 * persistent kernel, and each gets less. MEMORY_BYTES: memory to all SMs. */
enum { L2_BYTES = 58, L2_APART = 46, L2_BYTES_UNALIGNED = 36 };
enum { L2_PERSISTENT = 58, L2_PERSISTENT_UNALIGNED = 32 };
enum { LINE_BYTES = 128, MEMORY_BYTES = 2590 };
enum { TENSOR_CORE = 4096 }; /* FLOPs per cycle of an SM */
enum { HIDING_K_TILES = 8 }; /* as many as a tile has pieces, or more */
/* Cycles from the launch to the first k-tile and from the last one to the end, beyond what a launch
 * of fitted.cu takes. */
enum { START_PERSISTENT = 4166, START_SPLIT = 1524 };
/* What the shorter one of main loop and memory adds: not all of it runs under the other. */
static const double EXPOSED_PERSISTENT = 0.50, EXPOSED_SPLIT = 0.22;

struct configuration {
    const struct gemm_kernel *kernel[2]; /* [enum gemm_type] */
    int splits;
    double k_tile, overhead, hidden;
};

#define DECLARE(name, ...)                                                                         \
    extern const struct gemm_kernel kernel_10_stream_k_##name##_fp16,                              \
        kernel_10_stream_k_##name##_bf16;
#define DECLARE_WHOLE(name)                                                                        \
    extern const struct gemm_kernel kernel_10_stream_k_##name##_fp16_whole,                        \
        kernel_10_stream_k_##name##_bf16_whole;
#define ENTRY(name, ...)                                                                           \
    {{&kernel_10_stream_k_##name##_fp16, &kernel_10_stream_k_##name##_bf16}, __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

/* The kernel of fitted.cu, for tiles of 64 to 256 rows on the side; each in a form that may cut k
 * into parts, and one that does not (whole). fit.h predicts their cycles. */
#define FITTED(f) f(fitted1) f(fitted2) f(fitted3) f(fitted4)
#define DECLARE_FITTED(name) DECLARE(name) DECLARE_WHOLE(name)
FITTED(DECLARE_FITTED)
struct fitted {
    const struct gemm_kernel *parts[2], *whole[2]; /* [enum gemm_type] */
};
#define FITTED_ENTRY(name)                                                                         \
    {{&kernel_10_stream_k_##name##_fp16, &kernel_10_stream_k_##name##_bf16},                       \
     {&kernel_10_stream_k_##name##_fp16_whole, &kernel_10_stream_k_##name##_bf16_whole}},
static const struct fitted fitted[] = {FITTED(FITTED_ENTRY)};

enum {
    CONFIGURATION_COUNT = sizeof configurations / sizeof *configurations,
    FITTED_COUNT = sizeof fitted / sizeof *fitted,
    RANKED = CONFIGURATION_COUNT + 2 * FITTED_COUNT /* all that there are */
};

static double most(double a, double b) { return a > b ? a : b; }

/* On a device with so many SMs, which has room for `resident` of the configuration's clusters at
 * once. Infinite if the configuration is not for this problem, or does not fit the device. */
static double configuration_cycles(const struct configuration *c, const struct gemm_kernel *kernel,
                                   const struct gemm_problem *p, int resident, int sms) {
    if (resident == 0) return INFINITY;
    if (c->splits == DIRECT)
        return direct_cycles(p, kernel->tile_m, kernel->tile_n, c->k_tile, c->overhead, sms,
                             gemm_device_rates());
    const bool split = c->splits > 0;
    const int tiles_m = ceil_div(p->m, kernel->tile_m), tiles_n = ceil_div(p->n, kernel->tile_n);
    /* A cluster's work: one tile, whose k loop its CTAs split, or one tile for each of them. */
    const double work = (double)(split ? tiles_m : ceil_div(tiles_m, kernel->cluster)) * tiles_n;
    double waves = ceil(work / resident);
    double share = 1; /* CTAs of an SM that run at the same time */
    if (split) {
        if (work > resident) return INFINITY;
        waves = 1;
        share = ceil(most(1, work * c->splits / sms)); /* of the SM with the most */
    } else if (p->m <= 64) {
        return INFINITY;
    }

    const int k_tiles = ceil_div(ceil_div(p->k, kernel->tile_k), split ? c->splits : 1);
    const bool aligned = p->lda * 2 % LINE_BYTES == 0 && p->ldb * 2 % LINE_BYTES == 0;
    const int rows = split && p->m < kernel->tile_m ? p->m : kernel->tile_m;
    const double fetched = /* by a CTA for one k-tile; the cluster shares the columns of B */
        kernel->tile_k * 2.0 * (rows + kernel->tile_n / (split ? 1 : kernel->cluster));
    const double flops = 2.0 * kernel->tile_m * kernel->tile_n * kernel->tile_k;
    const struct gemm_rates rates = gemm_device_rates();
    const int l2_aligned = c->splits > 1 ? L2_APART : split ? L2_BYTES : L2_PERSISTENT;
    const int l2_unaligned = split ? L2_BYTES_UNALIGNED : L2_PERSISTENT_UNALIGNED;
    const double l2 = rates.l2 * (aligned ? l2_aligned : l2_unaligned);
    const double k_tile = most(most(c->k_tile, share * flops / TENSOR_CORE), share * fetched / l2);
    const double elements = (double)p->m * p->k + (double)p->n * p->k + (double)p->m * p->n;
    const double overhead =
        c->overhead - c->hidden * (k_tiles < HIDING_K_TILES ? (k_tiles - 1.0) / HIDING_K_TILES : 1);
    const double main_loop = waves * k_tiles * k_tile;
    const double memory = elements * 2 / (rates.memory * MEMORY_BYTES);
    const double longer = most(main_loop, memory), shorter = main_loop + memory - longer;
    return (split ? START_SPLIT : START_PERSISTENT) + longer +
           (split ? EXPOSED_SPLIT : EXPOSED_PERSISTENT) * shorter + waves * overhead;
}

/* On the current device. */
static double predicted_cycles(const struct configuration *c, const struct gemm_kernel *kernel,
                               const struct gemm_problem *p) {
    const struct gemm_launch launch = gemm_launch_of(kernel, kernel->cluster, NULL);
    const int sms = gemm_sm_count();
    if (kernel->cluster > sms) return INFINITY;
    return configuration_cycles(c, kernel, p, gemm_resident_clusters(&launch), sms);
}

/* Kernels in the order of their predictions: `count` of them, of which there is room for `most`. */
struct ranking {
    const struct gemm_kernel **kernels;
    double cycles[RANKED];
    int count, most;
};

/* Puts a kernel behind those with the same or a shorter prediction; nowhere if its own is
 * infinite. */
static void rank(struct ranking *ranking, const struct gemm_kernel *kernel, double cycles) {
    int place = ranking->count;
    while (place > 0 && cycles < ranking->cycles[place - 1])
        --place;
    if (place == ranking->most || isinf(cycles)) return;
    if (ranking->count < ranking->most) ++ranking->count;
    for (int i = ranking->count - 1; i > place; --i) {
        ranking->cycles[i] = ranking->cycles[i - 1];
        ranking->kernels[i] = ranking->kernels[i - 1];
    }
    ranking->cycles[place] = cycles;
    ranking->kernels[place] = kernel;
}

/* The best cut of a fitted kernel; and, if that has sums in the workspace, and more than one kernel
 * is wanted, the best one without. */
static void rank_fitted(struct ranking *ranking, const struct fitted *f, enum gemm_type type,
                        const struct gemm_problem *problem, size_t limit) {
    const struct gemm_kernel *parts = f->parts[type], *whole = f->whole[type];
    const struct fit fit = fit_of(problem, parts, limit > 0);
    const bool in_layers = fit.splits > fit.splits_in_cluster;
    const bool fits = !in_layers || library_fits(parts, problem, limit);
    if (fits) rank(ranking, in_layers ? parts : whole, fit.cycles);
    if (!fits || (in_layers && ranking->most > 1))
        rank(ranking, whole, fit_of(problem, parts, false).cycles);
}

int ranked_kernels(enum gemm_type type, const struct gemm_problem *problem, size_t limit,
                   const struct gemm_kernel **kernels, int most) {
    struct ranking ranking = {.kernels = kernels, .most = most < RANKED ? most : RANKED};
    if (gemm_sm_count() < 1) return 0; /* no device; already reported */
    for (size_t i = 0; i < CONFIGURATION_COUNT; ++i) {
        const struct gemm_kernel *kernel = configurations[i].kernel[type];
        const double cycles = predicted_cycles(&configurations[i], kernel, problem);
        if (library_fits(kernel, problem, limit)) rank(&ranking, kernel, cycles);
    }
    for (size_t i = 0; i < FITTED_COUNT; ++i)
        rank_fitted(&ranking, &fitted[i], type, problem, limit);
    if (!ranking.count) fprintf(stderr, "10_stream_k: no configuration fits this device\n");
    return ranking.count;
}

/* ---- early launches ---- */

/* The fitted kernels for few rows have forms that may begin before the kernel ahead ends. */
#define EARLY_FORMS(f)                                                                             \
    f(fitted1, fp16) f(fitted1, bf16) f(fitted1, fp16_whole) f(fitted1, bf16_whole)                \
        f(fitted2, fp16) f(fitted2, bf16) f(fitted2, fp16_whole) f(fitted2, bf16_whole)
#define DECLARE_FORMS(name, suffix)                                                                \
    extern const struct gemm_kernel kernel_10_stream_k_##name##_early_##suffix,                    \
        kernel_10_stream_k_##name##_ahead_##suffix;
EARLY_FORMS(DECLARE_FORMS)

const struct gemm_kernel *early_form(const struct gemm_kernel *kernel, enum gemm_early early) {
#define FORMS(name, suffix)                                                                        \
    {[GEMM_IN_ORDER] = &kernel_10_stream_k_##name##_##suffix,                                      \
     [GEMM_EARLY] = &kernel_10_stream_k_##name##_early_##suffix,                                   \
     [GEMM_EARLY_B] = &kernel_10_stream_k_##name##_ahead_##suffix},
    static const struct gemm_kernel *const forms[][GEMM_EARLY_B + 1] = {EARLY_FORMS(FORMS)};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (forms[i][GEMM_IN_ORDER] == kernel) return forms[i][early];
    return kernel;
}

static enum gemm_status launch_selected(enum gemm_type type, const struct gemm_problem *problem,
                                        void *stream) {
    const struct gemm_kernel *kernel =
        selected_kernel(type, problem, problem->workspace ? SIZE_MAX : 0);
    return kernel ? kernel->launch(problem, stream) : GEMM_UNSUPPORTED;
}

static size_t workspace_selected(enum gemm_type type, const struct gemm_problem *problem) {
    const struct gemm_kernel *kernel = selected_kernel(type, problem, SIZE_MAX);
    return kernel && kernel->workspace_bytes ? kernel->workspace_bytes(problem) : 0;
}

/* The chapter's own kernel for one type. Its tile is a placeholder: tile and kernel are those of
 * the configuration that selected_kernel() returns. */
#define CHAPTER_KERNEL(suffix, type)                                                               \
    static const struct gemm_kernel *select_##suffix(const struct gemm_problem *problem) {         \
        return selected_kernel(type, problem, SIZE_MAX);                                           \
    }                                                                                              \
    static int ranked_##suffix(const struct gemm_problem *problem,                                 \
                               const struct gemm_kernel **kernels, int most) {                     \
        return ranked_kernels(type, problem, SIZE_MAX, kernels, most);                             \
    }                                                                                              \
    static enum gemm_status launch_##suffix(const struct gemm_problem *problem, void *stream) {    \
        return launch_selected(type, problem, stream);                                             \
    }                                                                                              \
    static size_t workspace_##suffix(const struct gemm_problem *problem) {                         \
        return workspace_selected(type, problem);                                                  \
    }                                                                                              \
    extern const struct gemm_kernel kernel_10_stream_k_##suffix;                                   \
    const struct gemm_kernel kernel_10_stream_k_##suffix = {                                       \
        .name = "10_stream_k",                                                                     \
        .technique = "the configuration that is predicted to be the fastest",                      \
        .tile_m = 128,                                                                             \
        .tile_n = 256,                                                                             \
        .tile_k = 64,                                                                              \
        .stages = 4,                                                                               \
        .cluster = 1,                                                                              \
        .launch = launch_##suffix,                                                                 \
        .workspace_bytes = workspace_##suffix,                                                     \
        .select = select_##suffix,                                                                 \
        .ranked = ranked_##suffix,                                                                 \
    };
CHAPTER_KERNEL(fp16, GEMM_FP16)
CHAPTER_KERNEL(bf16, GEMM_BF16)
