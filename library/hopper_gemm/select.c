/*
 * select.c: which configuration of the library's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of persistent.cu, direct.cu or fitted.cu;
 * library/CMakeLists.txt has their constants. A formula of a few terms predicts the cycles of each,
 * and the smallest prediction is taken.
 */
#include "select.h"

#include <math.h>
#include <stdio.h>

#include "direct.h"
#include "fit.h"

/* The configurations with one tile, and how each goes through its tiles. The schedule decides what
 * of a tile's time is hidden; all other cycles follow from the tile and cost.h.
 *
 *   COOPERATIVE  persistent.cu: both consumers multiply one tile
 *   PINGPONG     persistent.cu: each consumer multiplies its own tile
 *   DIRECT       direct.cu; direct.h has its formula
 */
enum schedule { COOPERATIVE, PINGPONG, DIRECT };
#define CONFIGURATIONS(f)                                                                          \
    f(coop256, COOPERATIVE) f(pp192, PINGPONG) f(pp128, PINGPONG) f(direct_16x8, DIRECT)           \
        f(direct_16x16, DIRECT) f(direct_16x32, DIRECT)

/* persistent.cu: cycles of an H200; fitted with cost.h. */
enum {
    START_PERSISTENT = 752,  /* to the first k-tile, and from the last one to the end */
    COOPERATIVE_TILE = 1440, /* a cooperative tile, besides its main loop */
    PINGPONG_TILE = 870,     /* from one ping-pong tile to the next */
};
static const double cooperative_store = 15.2, pingpong_store = 10.4; /* bytes of D from an SM */

struct configuration {
    const struct gemm_kernel *kernel[2]; /* [enum gemm_type] */
    enum schedule schedule;
};

#define DECLARE(name, ...)                                                                         \
    extern const struct gemm_kernel kernel_hopper_gemm_##name##_fp16,                              \
        kernel_hopper_gemm_##name##_bf16;
#define ENTRY(name, schedule)                                                                      \
    {{&kernel_hopper_gemm_##name##_fp16, &kernel_hopper_gemm_##name##_bf16}, schedule},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

/* The kernels of fitted.cu, for tiles of 64 to 192 rows on the side, which fit.h predicts: each
 * with its form for launches that begin early, or itself. Of all there is one that computes whole
 * tiles alone, and one that may cut k into parts. */
#define FITTED(f) f(fitted1, fitted1_early) f(fitted2, fitted2_early) f(fitted3, fitted3)
#define DECLARE_WHOLE(name)                                                                        \
    extern const struct gemm_kernel kernel_hopper_gemm_##name##_fp16_whole,                        \
        kernel_hopper_gemm_##name##_bf16_whole;
#define DECLARE_FITTED(name, early)                                                                \
    DECLARE(name) DECLARE_WHOLE(name) DECLARE(early) DECLARE_WHOLE(early)
FITTED(DECLARE_FITTED)
#define FORM(name)                                                                                 \
    {                                                                                              \
        &kernel_hopper_gemm_##name##_fp16_whole, &kernel_hopper_gemm_##name##_bf16_whole,          \
            &kernel_hopper_gemm_##name##_fp16, &kernel_hopper_gemm_##name##_bf16                   \
    }
#define FORMS(name, early) {FORM(name), FORM(early)},
/* [kernel][early][2 * parts + type] */
static const struct gemm_kernel *const fitted[][2][4] = {FITTED(FORMS)};

enum {
    CONFIGURATION_COUNT = sizeof configurations / sizeof *configurations,
    FITTED_COUNT = sizeof fitted / sizeof *fitted,
    RANKED = CONFIGURATION_COUNT + 2 * FITTED_COUNT /* all that there are */
};

/* Of a kernel that is not for the problem. */
static const struct cost never = {.rest = INFINITY};

/* persistent.cu, of which there is room for `resident` clusters at once. */
static struct cost persistent_cost(const struct gemm_kernel *kernel, const struct gemm_problem *p,
                                   bool cooperative, int resident, struct gemm_rates rates) {
    if (p->m <= 64) return never; /* half of a tile's rows, or more, would be beyond D */
    const int tiles_m = ceil_div(ceil_div(p->m, kernel->tile_m), kernel->cluster); /* a cluster's */
    const double waves = ceil((double)tiles_m * ceil_div(p->n, kernel->tile_n) / resident);
    const int k_tiles = ceil_div(p->k, kernel->tile_k);
    /* A cluster shares the columns of B. */
    const double rows = kernel->tile_m + (double)kernel->tile_n / kernel->cluster;
    const double bytes = kernel->cluster == 1 ? cost_l2_bytes(p) : cost_multicast_bytes(p, rates);
    const double units[] = {cost_multiply(kernel->tile_m / 64, kernel->tile_n),
                            cost_read(kernel->tile_m / 64, kernel->tile_n),
                            rows * COST_BK * 2 / bytes, COST_ISSUE};
    const double main_loop = k_tiles * cost_units(units, 4);
    const double store =
        kernel->tile_m * kernel->tile_n * 2.0 / (cooperative ? cooperative_store : pingpong_store);
    /* A tile is stored under the next one; of two ping-pong tiles each takes its own time. */
    const double tile = cooperative ? cost_both(main_loop + COOPERATIVE_TILE, store)
                                    : cost_both(main_loop + PINGPONG_TILE, (main_loop + store) / 2);
    const double written = (double)p->m * p->n * 2 / (rates.l2 * COST_WRITE_BYTES);
    return (struct cost){
        .work = waves * tile,
        .memory = cost_reading(p, rates) + written,
        .rest = START_PERSISTENT + store + (kernel->cluster > 1 ? COST_BARRIERS : 0),
    };
}

/* On a device with so many SMs, which has room for `resident` of the configuration's clusters at
 * once. Infinite if the configuration is not for this problem, or does not fit the device. */
static struct cost configuration_cost(const struct configuration *c,
                                      const struct gemm_kernel *kernel,
                                      const struct gemm_problem *p, int resident, int sms,
                                      struct gemm_rates rates) {
    const double tiles = (double)ceil_div(p->m, kernel->tile_m) * ceil_div(p->n, kernel->tile_n);
    if (resident == 0 || tiles > GEMM_MOST_TILES) return never;
    if (c->schedule == DIRECT) return direct_cost(p, kernel->tile_m, kernel->tile_n, sms, rates);
    return persistent_cost(kernel, p, c->schedule == COOPERATIVE, resident, rates);
}

/* On the current device. */
static struct cost predicted_cost(const struct configuration *c, const struct gemm_kernel *kernel,
                                  const struct gemm_problem *p) {
    const struct gemm_launch launch = gemm_launch_of(kernel, kernel->cluster, NULL);
    const int sms = gemm_sm_count();
    if (kernel->cluster > sms) return never;
    return configuration_cost(c, kernel, p, gemm_resident_clusters(&launch), sms,
                              gemm_device_rates());
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

int ranked_kernels(enum gemm_type type, const struct gemm_problem *problem, size_t limit,
                   const struct gemm_kernel **kernels, int most) {
    struct ranking ranking = {.kernels = kernels, .most = most < RANKED ? most : RANKED};
    if (gemm_sm_count() < 1) return 0; /* no device; already reported */
    (void)gemm_questions_failed();     /* from here on */
    for (size_t i = 0; i < CONFIGURATION_COUNT; ++i) {
        const struct gemm_kernel *kernel = configurations[i].kernel[type];
        const double cycles = cost_cycles(predicted_cost(&configurations[i], kernel, problem));
        if (library_fits(kernel, problem, limit)) rank(&ranking, kernel, cycles);
    }
    for (size_t i = 0; i < FITTED_COUNT; ++i) {
        const struct gemm_kernel *whole = fitted[i][0][type], *parts = fitted[i][0][2 + type];
        const struct fit *fit = fits_of(problem, whole);
        if (fit[1].splits > 1 && library_fits(parts, problem, limit))
            rank(&ranking, parts, fit[1].cycles);
        rank(&ranking, whole, fit[0].cycles);
    }
    if (gemm_questions_failed()) return 0; /* already reported */
    if (!ranking.count)
        fprintf(stderr, "hopper_gemm: no configuration fits %d x %d x %d on this device\n",
                problem->m, problem->n, problem->k);
    return ranking.count;
}

/* ---- in words ---- */

int describe_kernel(const struct gemm_kernel *kernel, const struct gemm_problem *problem,
                    char *text, size_t bytes) {
    const double us = 1.0 / COST_CLOCK_MHZ;
    char cut[128] = "";
    struct cost cost = never;
    for (size_t i = 0; i < 2 * CONFIGURATION_COUNT; ++i)
        if (configurations[i / 2].kernel[i % 2] == kernel)
            cost = predicted_cost(&configurations[i / 2], kernel, problem);
    for (size_t i = 0; i < 4 * FITTED_COUNT; ++i) {
        if (kernel != fitted[i / 4][0][i % 4]) continue;
        const struct fit fit = fit_of(problem, kernel, i % 4 / 2);
        const int slabs = kernel->tile_m / 64;
        snprintf(cut, sizeof cut, "%d x %d of D%s, clusters of %d x %d, %d parts of k, %lld CTAs; ",
                 fit_rows(problem, slabs, &fit), fit.width, fit.transposed ? " transposed" : "",
                 fit.sharing_fitted, fit.sharing_side, fit.splits,
                 (long long)(fit_tiles(problem, slabs, &fit) * fit.splits));
        cost = fit.cost;
    }
    return snprintf(
        text, bytes,
        "hopper_gemm %d x %d x %d, %s: %s%.2f us predicted: SMs %.2f beside memory %.2f, then %.2f",
        problem->m, problem->n, problem->k, kernel->variant, cut,
        us * (COST_LAUNCH + cost_cycles(cost)), us * cost.work, us * cost.memory,
        us * (COST_LAUNCH + cost.rest));
}

const struct gemm_kernel *early_form(const struct gemm_kernel *kernel, enum gemm_early early) {
    for (size_t i = 0; i < 4 * FITTED_COUNT; ++i)
        if (kernel == fitted[i / 4][0][i % 4]) return fitted[i / 4][early != GEMM_IN_ORDER][i % 4];
    return kernel;
}

/* ---- the library as a kernel ---- */

/* The library as a kernel of one type. Its tile is a placeholder: tile and kernel are those of
 * the configuration that selected_kernel() returns. */
#define CHAPTER_KERNEL(suffix, type)                                                               \
    static const struct gemm_kernel *select_##suffix(const struct gemm_problem *problem) {         \
        const struct gemm_kernel *kernel = selected_kernel(type, problem, SIZE_MAX);               \
        return kernel ? early_form(kernel, problem->early) : NULL;                                 \
    }                                                                                              \
    static int ranked_##suffix(const struct gemm_problem *problem,                                 \
                               const struct gemm_kernel **kernels, int most) {                     \
        return ranked_kernels(type, problem, SIZE_MAX, kernels, most);                             \
    }                                                                                              \
    static enum gemm_status launch_##suffix(const struct gemm_problem *problem, void *stream) {    \
        const struct gemm_kernel *kernel =                                                         \
            selected_kernel(type, problem, problem->workspace ? SIZE_MAX : 0);                     \
        return kernel ? early_form(kernel, problem->early)->launch(problem, stream)                \
                      : GEMM_UNSUPPORTED;                                                          \
    }                                                                                              \
    static size_t workspace_##suffix(const struct gemm_problem *problem) {                         \
        const struct gemm_kernel *kernel = selected_kernel(type, problem, SIZE_MAX);               \
        return kernel ? library_workspace(kernel, problem) : 0;                                    \
    }                                                                                              \
    extern const struct gemm_kernel kernel_hopper_gemm_##suffix;                                   \
    const struct gemm_kernel kernel_hopper_gemm_##suffix = {                                       \
        .name = "hopper_gemm",                                                                     \
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
        .earliest = GEMM_EARLY_B};
CHAPTER_KERNEL(fp16, GEMM_FP16)
CHAPTER_KERNEL(bf16, GEMM_BF16)
