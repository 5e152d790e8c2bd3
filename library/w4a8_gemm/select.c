/*
 * select.c: which configuration of the library's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of teams.cu, pairs.cu, wide.cu or three.cu;
 * library/CMakeLists.txt has their constants. A formula predicts the cycles of each, and the
 * smallest prediction is taken.
 */
#include "building_blocks/cluster_splits.h"
#include "fastest_configuration.h"
#include "gemm.h"
#include "scaled/scales.h"
#include "scaled/w4_block.h"
#include "w4a8_select.h"

/*
 * The configurations. Predicted cycles of the SM clock:
 *
 *   ctas      of an SM at once; 0: persistent, in clusters of two
 *   k-tile    of a CTA; two CTAs of an SM take turns
 *   overhead  a tile besides its main loop and the exchange of sums: first loads, the store
 *
 * Fitted to times on an H200, in records of commit 44aba7f (docs/results): h200-w4a8-earlier.jsonl
 * and h200-w4a8-pairs.jsonl, those of three.cu to h200-w4a8-tried.jsonl, the k-tiles of pairs64 and
 * slabs64 to h200-tried-w4a8-fence.jsonl, pairs48 and those with tiles of 64 channels, quads and
 * halves, to h200-tried-w4a8-loaders.jsonl.
 */
// clang-format off
#define CONFIGURATIONS(f)                                                                          \
    /* name     ctas k-tile overhead */                                                            \
    f(teams16,     1,  440, 1400)                                                                  \
    f(quads16,     1,  230, 1400)                                                                  \
    f(quads32,     1,  235, 1400)                                                                  \
    f(teams32,     1,  450, 1600)                                                                  \
    f(pairs48,     1,  440, 3600)                                                                  \
    f(pairs64,     1,  465, 3700)                                                                  \
    f(halves48,    1,  245, 1400)                                                                  \
    f(halves64,    1,  258, 1400)                                                                  \
    f(slabs64,     1,  760, 6000)                                                                  \
    f(wide,        0, 1460, 5200)                                                                  \
    f(three,       0,  950, 2500)
// clang-format on

/* Bytes per cycle: of all SMs, from memory, and from the L2, where requests for the same rows of A
 * merge (53 to an SM); of an SM, from the shared memory of others. Cycles of
 * a launch besides its tiles, and of a CTA in a later wave until its first loads arrive (h100-w4a8,
 * halves64 at 64 x 14336 x 4096). */
enum { MEMORY_BYTES = 2200, L2_BYTES = 7000, PEER_BYTES = 14, LAUNCH = 5600, RESTART = 2000 };
/* What the shorter one of main loop and memory adds: not all of it runs under the other. */
static const double EXPOSED = 0.05;

#define DECLARE(name, ...) extern const struct gemm_kernel kernel_w4a8_gemm_##name##_w4a8;
#define ENTRY(name, ...) {&kernel_w4a8_gemm_##name##_w4a8, __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

static double predicted_cycles(const struct configuration *c, const struct gemm_problem *p) {
    const struct gemm_kernel *const kernel = c->kernel;
    const int sms = gemm_sm_count(), tiles_k = ceil_div(p->k, kernel->tile_k);
    const int rows = kernel->tile_m, columns = kernel->tile_n, cluster = kernel->cluster;
    if (sms < cluster) return INFINITY;
    /* Tiles of a cluster lie side by side, and the last one may be empty. */
    const int64_t tiles_m = ceil_div(p->m, rows);
    const int64_t clusters = tiles_m * ceil_div(ceil_div(p->n, columns), cluster);
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
    /* Tiles of different rows that run at the same time fetch the weights from memory once; a
     * cluster of tiles side by side fetches its rows of A from the L2 once. */
    const double weights = (double)w4_bytes(p->n, p->k);
    const double a = (double)rows * p->k * (double)clusters;
    const double bytes = weights + (double)p->m * p->k + 2.0 * p->m * p->n;
    const struct gemm_rates rates = gemm_device_rates();
    const double memory = fmax(bytes / (rates.memory * MEMORY_BYTES),
                               (weights * (double)tiles_m + a) / (rates.l2 * L2_BYTES));
    const double restarts = c->ctas ? (waves - 1) * RESTART : 0;
    const double exchange = rows * columns * 4 * (1 - 1.0 / splits) / PEER_BYTES;
    return LAUNCH + fmax(main_loop, memory) + EXPOSED * fmin(main_loop, memory) +
           waves * (c->overhead + exchange) + restarts;
}

const struct gemm_kernel *w4a8_selected_kernel(const struct gemm_problem *problem) {
    return fastest_configuration("w4a8_gemm", configurations,
                                 sizeof configurations / sizeof *configurations, predicted_cycles,
                                 problem);
}

static enum gemm_status launch_w4a8(const struct gemm_problem *problem, void *stream) {
    const struct gemm_kernel *kernel = w4a8_selected_kernel(problem);
    return kernel ? kernel->launch(problem, stream) : GEMM_UNSUPPORTED;
}

/* The library as a kernel. Its tile is a placeholder: tile and kernel are those of the
 * configuration that select() returns. */
extern const struct gemm_kernel kernel_w4a8_gemm_w4a8;
const struct gemm_kernel kernel_w4a8_gemm_w4a8 = {
    .name = "w4a8_gemm",
    .technique = "the configuration with the fewest predicted cycles",
    .tile_m = 16,
    .tile_n = 128,
    .tile_k = 128,
    .stages = 10,
    .cluster = 2,
    .launch = launch_w4a8,
    .select = w4a8_selected_kernel,
    .kind = &w4a8_kind,
};
