/*
 * select.c: which configuration of the chapter's kernels computes a problem.
 *
 * Each configuration is an object file of its own, made of kernel.cu or few_rows.cu; the top
 * CMakeLists.txt has their constants. A formula predicts the cycles of each, and the smallest
 * prediction is taken.
 */
#include <math.h>
#include <stdio.h>

#include "building_blocks/cluster_splits.h"
#include "gemm.h"

/*
 * The configurations. Predicted cycles of the SM clock:
 *
 *   few       1: few_rows.cu; 0: kernel.cu, persistent, in clusters of two
 *   k-tile    of a CTA that is alone on its SM and has its operands in the L2
 *   overhead  a tile besides its main loop and the exchange of sums: first loads, the store
 *
 * Those of many_rows are inferred from runs on an H200 (README.md), the others from simulated ones.
 */
#define CONFIGURATIONS(f)                                                                          \
    /* name      few k-tile overhead */                                                            \
    f(rows16, 1, 250, 3200) f(rows32, 1, 260, 3300) f(rows64, 1, 352, 3800)                        \
        f(rows64_pair, 1, 352, 4100) f(rows128, 1, 540, 4700) f(rows128_pair, 1, 540, 5000)        \
            f(many_rows, 0, 1121, 4330)

enum { LEAST_ROWS = 16 /* of a tile of few_rows.cu */ };

/* Bytes per cycle: of all SMs, from memory and from the L2; of one SM, from the L2 and from the
 * shared memory of others. FLOPs per cycle of an SM. */
enum { MEMORY_BYTES = 2300, L2_BYTES = 4600, SM_BYTES = 64, PEER_BYTES = 14, TENSOR_CORE = 8192 };

struct configuration {
    const struct gemm_kernel *kernel;
    bool few;
    double k_tile, overhead;
};

#define DECLARE(name, ...) extern const struct gemm_kernel kernel_11_fp8_scaling_##name##_e4m3;
#define ENTRY(name, ...) {&kernel_11_fp8_scaling_##name##_e4m3, __VA_ARGS__},
CONFIGURATIONS(DECLARE)
static const struct configuration configurations[] = {CONFIGURATIONS(ENTRY)};

static double most(double a, double b) { return a > b ? a : b; }

/* Infinite if the configuration does not fit the device, or if a smaller one of few_rows.cu would
 * have no more tiles. */
static double predicted_cycles(const struct configuration *c, const struct gemm_problem *p) {
    const struct gemm_kernel *const kernel = c->kernel;
    const int sms = gemm_sm_count(), tiles_k = ceil_div(p->k, kernel->tile_k);
    if (sms < kernel->cluster) return INFINITY;
    const int most_rows = kernel->tile_m * kernel->cluster; /* of few_rows.cu's cluster */
    if (c->few && most_rows > LEAST_ROWS && p->m <= most_rows / 2) return INFINITY;
    /* The CTAs of a cluster lie side by side in kernel.cu, one below the other in few_rows.cu. */
    const int along_m = c->few ? kernel->cluster : 1, along_n = kernel->cluster / along_m;
    const double clusters = (double)ceil_div(ceil_div(p->m, kernel->tile_m), along_m) *
                            ceil_div(ceil_div(p->n, kernel->tile_n), along_n);
    struct gemm_launch launch = gemm_launch_of(kernel, kernel->cluster, NULL);
    int splits = 1;
    if (c->few && kernel->cluster == 1) {
        splits = cluster_splits(launch, (int64_t)clusters, tiles_k);
        launch.grid = launch.cluster = splits;
    }
    const int resident = gemm_resident_clusters(&launch);
    if (resident == 0) return INFINITY;

    const double waves = ceil(clusters / resident), ctas = clusters * launch.cluster;
    const double share = ceil(most(1, ctas / waves / sms)); /* CTAs of an SM at the same time */
    /* A cluster of tiles fetches the operand that they share once. */
    const double shared = c->few ? kernel->tile_n : kernel->tile_m, rows = kernel->tile_m;
    const double fetched =
        kernel->tile_k * (rows + kernel->tile_n - shared * (1 - 1.0 / kernel->cluster));
    const double flops = 2 * rows * kernel->tile_n * kernel->tile_k;
    const double k_tile = most(c->k_tile, share * most(flops / TENSOR_CORE, fetched / SM_BYTES));
    const double k_tiles = waves * ceil((double)tiles_k / splits);
    /* Tiles that run at the same time fetch what they have in common from memory once. */
    const double elements = (double)p->m * p->k + (double)p->n * p->k + 2.0 * p->m * p->n;
    const double memory =
        most(elements / MEMORY_BYTES, clusters * kernel->cluster * tiles_k * fetched / L2_BYTES);
    const double exchange = rows * kernel->tile_n * 4 * (1 - 1.0 / splits) / PEER_BYTES;
    return most(k_tiles * k_tile, memory) + waves * (c->overhead + exchange);
}

static const struct gemm_kernel *selected_kernel(const struct gemm_problem *problem) {
    const struct gemm_kernel *best = NULL;
    double best_cycles = INFINITY;
    if (gemm_sm_count() < 1) return NULL; /* no device; already reported */
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; ++i) {
        const double cycles = predicted_cycles(&configurations[i], problem);
        if (cycles >= best_cycles) continue;
        best_cycles = cycles;
        best = configurations[i].kernel;
    }
    if (!best) fprintf(stderr, "11_fp8_scaling: no configuration fits this device\n");
    return best;
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
    .technique = "one of several configurations, by the number of rows",
    .tile_m = 256,
    .tile_n = 128,
    .tile_k = 128,
    .stages = 4,
    .cluster = 2,
    .launch = launch,
    .select = selected_kernel,
};
