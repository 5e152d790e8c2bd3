/*
 * select.c: which configuration of the chapter's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of whole.cu, kernel.cu, few_rows.cu or
 * pairs.cu; the top CMakeLists.txt has their constants. A formula predicts the cycles of each, and
 * the smallest prediction is taken.
 */
#include "building_blocks/cluster_splits.h"
#include "building_blocks/selection.h"
#include "gemm.h"

/*
 * The configurations. Predicted cycles of the SM clock:
 *
 *   ctas      of an SM at once, of few_rows.cu and pairs.cu; 0: persistent, in clusters of two
 *   k-tile    of a CTA; two CTAs of an SM take turns
 *   overhead  a tile besides its main loop and the exchange of sums: first loads, the store
 *
 * All constants are fitted to times on an H200, of the configurations that are not ruled out: those
 * of h200-fp8-rows.jsonl, h200-fp8-pairs.jsonl and h200-fp8-three.jsonl in beyond/docs/results; the
 * k-tile of small_whole to h200-fp8-order.jsonl.
 */
// clang-format off
#define CONFIGURATIONS(f)                                                                          \
    /* name     ctas k-tile overhead */                                                            \
    f(rows16,      2,  300, 2400)                                                                  \
    f(rows32,      2,  310, 3800)                                                                  \
    f(rows64,      2,  480, 3000)                                                                  \
    f(pairs64,     1,  640, 1500)                                                                  \
    f(pairs128,    1,  820, 3200)                                                                  \
    f(small_whole, 0,  450,  430)                                                                  \
    f(square,      0,  600, 2000)                                                                  \
    f(whole_turns, 0, 1072, 2760)
// clang-format on

enum { LEAST_ROWS = 16 /* of a tile */ };

/* Bytes per cycle: of all SMs, from memory and from the L2; of an SM, from the shared memory of
 * others. Cycles of a launch besides its tiles. */
enum { MEMORY_BYTES = 2400, L2_BYTES = 6700, PEER_BYTES = 14, LAUNCH = 7200 };
/* What the shorter one of main loop and memory adds: not all of it runs under the other. */
static const double EXPOSED = 0.12;

#define DECLARE(name, ...) extern const struct gemm_kernel kernel_11_fp8_scaling_##name##_e4m3;
#define ENTRY(name, ...) {&kernel_11_fp8_scaling_##name##_e4m3, __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

/* Infinite if the configuration does not fit the device, or if its tile has at least twice as many
 * rows as A: a smaller tile is faster then. */
static double predicted_cycles(const struct configuration *c, const struct gemm_problem *p) {
    const struct gemm_kernel *const kernel = c->kernel;
    const int sms = gemm_sm_count(), tiles_k = ceil_div(p->k, kernel->tile_k);
    const int rows = kernel->tile_m, columns = kernel->tile_n, cluster = kernel->cluster;
    if (sms < cluster || (rows > LEAST_ROWS && p->m <= rows / 2)) return INFINITY;
    /* A cluster of two lies side by side, and some of its tiles may be empty. */
    const int64_t clusters =
        (int64_t)ceil_div(p->m, rows) * ceil_div(ceil_div(p->n, columns), cluster);
    struct gemm_launch launch = gemm_launch_of(kernel, cluster, NULL);
    const int splits = c->ctas ? cluster_splits(launch, clusters, tiles_k) : 1;
    if (c->ctas) launch.grid = launch.cluster = splits;
    const int resident = gemm_resident_clusters(&launch);
    if (resident == 0) return INFINITY;

    const double waves = ceil((double)clusters / resident);
    const double ctas = (double)clusters * launch.cluster;
    /* CTAs of an SM at the same time. */
    const double share = c->ctas == 2 && ctas / waves > sms ? 2 : 1;
    const double main_loop = waves * ceil((double)tiles_k / splits) * c->k_tile * share;
    /* Tiles that run at the same time fetch what they have in common from memory once; a cluster of
     * two fetches its rows of A from the L2 once. */
    const double elements = (double)p->m * p->k + (double)p->n * p->k + 2.0 * p->m * p->n;
    const double fetched = (double)kernel->tile_k * ((double)rows / cluster + columns);
    const double from_l2 = (double)clusters * cluster * tiles_k * fetched;
    const struct gemm_rates rates = gemm_device_rates();
    const double memory =
        fmax(elements / (rates.memory * MEMORY_BYTES), from_l2 / (rates.l2 * L2_BYTES));
    const double exchange = rows * columns * 4 * (1 - 1.0 / splits) / PEER_BYTES;
    return LAUNCH + fmax(main_loop, memory) + EXPOSED * fmin(main_loop, memory) +
           waves * (c->overhead + exchange);
}

static const struct gemm_kernel *selected_kernel(const struct gemm_problem *problem) {
    return fastest_configuration("11_fp8_scaling", configurations,
                                 sizeof configurations / sizeof *configurations, predicted_cycles,
                                 problem);
}

static enum gemm_status launch(const struct gemm_problem *problem, void *stream) {
    const struct gemm_kernel *kernel = selected_kernel(problem);
    return kernel ? kernel->launch(problem, stream) : GEMM_UNSUPPORTED;
}

/* The chapter's own kernel. Its tile is a placeholder: tile and kernel are those of the
 * configuration that select() returns. */
extern const struct gemm_kernel kernel_11_fp8_scaling_e4m3;
const struct gemm_kernel kernel_11_fp8_scaling_e4m3 = {
    .name = "11_fp8_scaling",
    .technique = "the configuration with the fewest predicted cycles",
    .tile_m = 256,
    .tile_n = 128,
    .tile_k = 128,
    .stages = 4,
    .cluster = 2,
    .launch = launch,
    .select = selected_kernel,
};
