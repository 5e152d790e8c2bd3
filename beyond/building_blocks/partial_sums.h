/*
 * partial_sums.h: where several CTAs share a tile, they store their fp32 sums in a workspace, and a
 * second kernel adds them up and stores D.
 *
 * The workspace holds `args.splits` layers, each [row][column] of m rows whose pitch is a whole
 * number of chunks: 16 bytes of D. Layers are added in their order. Whether one layer's sums
 * are the same in every run depends on the kernel that stores them.
 */
#ifndef BUILDING_BLOCKS_PARTIAL_SUMS_H
#define BUILDING_BLOCKS_PARTIAL_SUMS_H

#include "building_blocks/partial_sums_layout.h"
#include "hopper/element.h"

enum { ADD_THREADS = 128 };

/* The elements of a layer at (row, column), a chunk's first. Any thread. */
DEVICE float *partial_sums_at(const struct gemm_args *args, int layer, int row, int column) {
    return args->workspace + ((int64_t)layer * args->m + row) * CHUNKS(args->n) * CHUNK + column;
}

/* Stores those of the eight sums at (row, column) that lie in the layer. Any thread. */
DEVICE void store_partial_sums(const struct gemm_args *args, int layer, int row, int column,
                               const float sum[CHUNK]) {
    if (row >= args->m || column >= args->n) return;
    struct b128 halves[2];
    memcpy(halves, sum, sizeof halves);
    float *to = partial_sums_at(args, layer, row, column);
    UNROLL for (int i = 0; i < 2; ++i) st_global_b128(to + 4 * i, halves[i]);
}

/* Converts eight sums and stores those that lie in D at (row, column) of D. Any
 * thread. */
DEVICE void store_chunk(const struct gemm_args *args, int row, int column, const float sum[CHUNK]) {
    if (row >= args->m) return;
    element_t *d = &args->d[row * args->ldd + column];
    struct b128 chunk;
    UNROLL for (int i = 0; i < 4; ++i) chunk.word[i] = pack_elements(sum[2 * i], sum[2 * i + 1]);
    if (column + CHUNK <= args->n) st_global_b128(d, chunk);
    else UNROLL for (int i = 0; i < CHUNK; ++i)
        if (column + i < args->n) st_global_element(&d[i], float_to_element(sum[i]));
}

/* Adds up the layers, which are complete because the kernel before has ended. */
KERNEL(ADD_THREADS, 1) add_partial_sums(KERNEL_ARGS args) {
    const int64_t chunks = args.m * CHUNKS(args.n), step = (int64_t)gridDim.x * ADD_THREADS;
    int64_t chunk = (int64_t)blockIdx.x * ADD_THREADS + threadIdx.x;
    for (; chunk < chunks; chunk += step) {
        const int row = chunk / CHUNKS(args.n), column = chunk % CHUNKS(args.n) * CHUNK;
        float sum[CHUNK] = {0};
        for (int layer = 0; layer < args.splits; ++layer) {
            const float *from = partial_sums_at(&args, layer, row, column);
            const struct b128 halves[2] = {ld_global_b128(from), ld_global_b128(from + 4)};
            float addend[CHUNK];
            memcpy(addend, halves, sizeof addend);
            UNROLL for (int i = 0; i < CHUNK; ++i) sum[i] += addend[i];
        }
        store_chunk(&args, row, column, sum);
    }
}

/* Enqueues the addition of `layers` layers. Host thread. */
static inline enum gemm_status launch_add_partial_sums(const struct gemm_args *args, int layers,
                                                       void *stream) {
    enum { CTAS_PER_SM = 8 };
    const int64_t ctas = (args->m * CHUNKS(args->n) + ADD_THREADS - 1) / ADD_THREADS;
    const int most = CTAS_PER_SM * gemm_sm_count();
    const struct gemm_launch launch = {.kernel = (const void *)add_partial_sums,
                                       .name = "add_partial_sums",
                                       .grid = ctas < most ? (int)ctas : most, .cluster = 1,
                                       .threads = ADD_THREADS, .smem_bytes = 0, .stream = stream};
    struct gemm_args with_layers = *args;
    with_layers.splits = layers;
    return gemm_launch_kernel(&launch, &with_layers);
}

#endif
