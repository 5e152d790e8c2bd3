/*
 * select.c: which configuration of the chapter's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of kernel.cu, pairs.cu, wide.cu or
 * three.cu; the top CMakeLists.txt has their constants. A formula predicts the cycles of each, and
 * the smallest prediction is taken.
 */
#include "building_blocks/cluster_splits.h"
#include "building_blocks/selection.h"
#include "gemm.h"
#include "w4_block.h"
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
    f(pairs16_two, 2,  200, 4500)                                                                  \
    f(teams32,     1,  450, 1600)                                                                  \
    f(pairs48,     1,  440, 3600)                                                                  \
    f(pairs64,     1,  465, 3700)                                                                  \
    f(halves48,    1,  245, 1400)                                                                  \
    f(halves64,    1,  258, 1400)                                                                  \
    f(slabs64,     1,  760, 6000)                                                                  \
    f(wide,        0, 1460, 5200)                                                                  \
    f(three,       0,  950, 2500)
// clang-format on

/* Those that have a sibling with a short ring, for memory that is slower than an H200's. With more
 * bytes on their way than keep memory busy, the SMs that it serves first run ahead, and the kernel
 * ends with the others (README.md, "More bytes in flight"). Measured on an H100. */
#define SHORT_RINGS(f)                                                                             \
    f(teams16) f(teams32) f(quads16) f(pairs16_two) f(pairs48) f(pairs64) f(slabs64)

/* Bytes per cycle: of all SMs, from memory, and from the L2, where requests for the same rows of A
 * merge (53 to an SM, ../10_stream_k/cost.h); of an SM, from the shared memory of others. Cycles of
 * a launch besides its tiles, and of a CTA in a later wave until its first loads arrive (h100-w4a8,
 * halves64 at 64 x 14336 x 4096). */
enum { MEMORY_BYTES = 2200, L2_BYTES = 7000, PEER_BYTES = 14, LAUNCH = 5600, RESTART = 2000 };
/* What the shorter one of main loop and memory adds: not all of it runs under the other. */
static const double EXPOSED = 0.05;

#define DECLARE(name, ...) extern const struct gemm_kernel kernel_12_w4a8_##name##_w4a8;
#define ENTRY(name, ...) {&kernel_12_w4a8_##name##_w4a8, __VA_ARGS__},
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

#define DECLARE_SHORT(name) extern const struct gemm_kernel kernel_12_w4a8_##name##_short_w4a8;
#define SIBLINGS(name) {&kernel_12_w4a8_##name##_w4a8, &kernel_12_w4a8_##name##_short_w4a8},
SHORT_RINGS(DECLARE_SHORT)
static const struct siblings {
    const struct gemm_kernel *deep, *shallow;
} siblings[] = {SHORT_RINGS(SIBLINGS)};

const struct gemm_kernel *w4a8_selected_kernel(const struct gemm_problem *problem) {
    const struct gemm_kernel *kernel = fastest_configuration(
        "12_w4a8", configurations, sizeof configurations / sizeof *configurations, predicted_cycles,
        problem);
    if (gemm_device_rates().memory < 1)
        for (size_t i = 0; i < sizeof siblings / sizeof *siblings; ++i)
            if (kernel == siblings[i].deep) return siblings[i].shallow;
    return kernel;
}

/* ---- early launches ---- */

/* The kernels for few rows have a form that may begin before the kernel ahead ends. It has the deep
 * ring on every GPU: what one launch leaves of the memory's time, the next one's loads take. On an
 * H100 that is the faster ring at most shapes, but not always: with
 * short ones quads16 at 16 x 7168 x 2048, pairs16_two and slabs64 would take 1 to 6 % less. */
#define AHEAD_FORMS(f)                                                                             \
    f(teams16) f(teams32) f(quads16) f(quads32) f(pairs16_two) f(pairs48) f(pairs64) f(halves48)   \
        f(halves64) f(slabs64)
#define DECLARE_AHEAD(name) extern const struct gemm_kernel kernel_12_w4a8_##name##_ahead_w4a8;
#define FORMS(name) {&kernel_12_w4a8_##name##_w4a8, &kernel_12_w4a8_##name##_ahead_w4a8},
AHEAD_FORMS(DECLARE_AHEAD)

const struct gemm_kernel *w4a8_ahead_form(const struct gemm_kernel *kernel) {
    static const struct {
        const struct gemm_kernel *in_order, *ahead;
    } forms[] = {AHEAD_FORMS(FORMS)};
    for (size_t i = 0; i < sizeof siblings / sizeof *siblings; ++i)
        if (kernel == siblings[i].shallow) kernel = siblings[i].deep;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (kernel == forms[i].in_order) return forms[i].ahead;
    return kernel;
}

static enum gemm_status launch_w4a8(const struct gemm_problem *problem, void *stream) {
    const struct gemm_kernel *kernel = w4a8_selected_kernel(problem);
    return kernel ? kernel->launch(problem, stream) : GEMM_UNSUPPORTED;
}

/* The chapter's own kernel. Its tile is a placeholder: tile and kernel are those of the
 * configuration that select() returns. */
extern const struct gemm_kernel kernel_12_w4a8_w4a8;
const struct gemm_kernel kernel_12_w4a8_w4a8 = {
    .name = "12_w4a8",
    .technique = "the configuration with the fewest predicted cycles",
    .tile_m = 16,
    .tile_n = 128,
    .tile_k = 128,
    .stages = 10,
    .cluster = 2,
    .launch = launch_w4a8,
    .select = w4a8_selected_kernel,
};
