/*
 * select.c: which configuration of the chapter's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of kernel.cu or wide.cu; the top
 * CMakeLists.txt has their constants. A formula predicts the cycles of each, and the smallest
 * prediction is taken.
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
 *   k-tile    of all CTAs of an SM, a k-tile of each: what the Tensor Core and the waits take
 *   overhead  a tile besides its main loop: first loads, the exchange of sums, the store
 *
 * Fitted to the times of docs/results/h200-w4a8.jsonl, within 6 % (root mean square).
 */
#define CONFIGURATIONS(f)                                                                          \
    /* name     ctas k-tile overhead */                                                            \
    f(rows8, 2, 450, 3000) f(rows16, 2, 470, 3000) f(teams16, 1, 410, 0) f(teams32, 1, 450, 0)     \
        f(teams64, 1, 270, 6000) f(rows64, 2, 670, 6000) f(rows128, 1, 750, 6000)                  \
            f(wide, 0, 1350, 6000)

/* Bytes per cycle of all SMs: from memory, and from the L2. */
enum { MEMORY_BYTES = 2000, L2_BYTES = 6000 };
/* What the shorter one of main loop and memory adds: not all of it runs under the other. */
static const double EXPOSED = 0.4;

#define DECLARE(name, ...) extern const struct gemm_kernel kernel_12_w4a8_##name##_w4a8;
#define ENTRY(name, ...) {&kernel_12_w4a8_##name##_w4a8, __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

static double predicted_cycles(const struct configuration *c, const struct gemm_problem *p) {
    const struct gemm_kernel *const kernel = c->kernel;
    const int sms = gemm_sm_count(), tiles_k = ceil_div(p->k, kernel->tile_k);
    if (sms < kernel->cluster) return INFINITY;
    const int64_t tiles_m = ceil_div(p->m, kernel->tile_m);
    const int64_t tiles = tiles_m * ceil_div(p->n, kernel->tile_n);
    const struct gemm_launch launch = gemm_launch_of(kernel, 1, NULL);
    const int splits = c->ctas ? cluster_splits(launch, tiles, tiles_k) : 1;
    const double room = (double)sms * (c->ctas ? c->ctas : 1);
    const double waves = ceil((double)tiles * splits / room);
    const double k_tiles = waves * ceil((double)tiles_k / splits);
    /* Tiles of different rows that run at the same time fetch the weights from memory once. */
    const double weights = (double)w4_bytes(p->n, p->k), rows = (double)kernel->tile_m * p->k;
    const double a = rows * (double)tiles / (c->ctas ? 1 : kernel->cluster);
    const struct gemm_rates rates = gemm_device_rates();
    const double memory = fmax(weights / (rates.memory * MEMORY_BYTES),
                               (weights * (double)tiles_m + a) / (rates.l2 * L2_BYTES));
    const double main_loop = k_tiles * c->k_tile;
    return fmax(main_loop, memory) + EXPOSED * fmin(main_loop, memory) + waves * c->overhead;
}

const struct gemm_kernel *w4a8_selected_kernel(const struct gemm_problem *problem) {
    return fastest_configuration("12_w4a8", configurations,
                                 sizeof configurations / sizeof *configurations, predicted_cycles,
                                 problem);
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
    .technique = "one of several configurations, by the number of rows",
    .tile_m = 16,
    .tile_n = 128,
    .tile_k = 128,
    .stages = 10,
    .cluster = 2,
    .launch = launch_w4a8,
    .select = w4a8_selected_kernel,
};
