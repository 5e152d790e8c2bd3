/*
 * converted_sums.h: fp32 sums that become elements of D after the GEMM's own main loop: a chunk of
 * 16 bytes by a thread, or a whole workspace by a second kernel.
 *
 * The workspace holds m rows of sums, [row][column], whose pitch is a whole number of chunks.
 */
#ifndef BUILDING_BLOCKS_CONVERTED_SUMS_H
#define BUILDING_BLOCKS_CONVERTED_SUMS_H

#include "hopper/element.h"
#include "hopper/thread.h"

enum { CHUNK = 8 /* columns */, CONVERT_THREADS = 128 };

/* Columns of a row of the workspace, in chunks. */
#define CHUNKS_OF(n) (((int64_t)(n) + CHUNK - 1) / CHUNK)

/* Bytes of a workspace for sums of all of D. Host thread. */
static inline size_t sums_bytes(const struct gemm_problem *p) {
    return (size_t)p->m * CHUNKS_OF(p->n) * CHUNK * sizeof(float);
}

/* Converts eight sums and stores those that lie in D at (row, column) of D. Any thread. */
DEVICE void store_chunk(const struct gemm_args *args, int row, int column, const float sum[CHUNK]) {
    if (row >= args->m) return;
    element_t *d = &args->d[row * args->ldd + column];
    struct b128 chunk;
    UNROLL for (int i = 0; i < 4; ++i) chunk.word[i] = pack_elements(sum[2 * i], sum[2 * i + 1]);
    if (column + CHUNK <= args->n) st_global_b128(d, chunk);
    else UNROLL for (int i = 0; i < CHUNK; ++i)
        if (column + i < args->n) st_global_element(&d[i], float_to_element(sum[i]));
}

/* Converts the sums of the workspace, which are complete because the kernel before has ended. */
KERNEL(CONVERT_THREADS, 1) convert_sums(KERNEL_ARGS args) {
    const int64_t chunks = args.m * CHUNKS_OF(args.n), step = (int64_t)gridDim.x * CONVERT_THREADS;
    int64_t chunk = (int64_t)blockIdx.x * CONVERT_THREADS + threadIdx.x;
    for (; chunk < chunks; chunk += step) {
        const int row = chunk / CHUNKS_OF(args.n), column = chunk % CHUNKS_OF(args.n) * CHUNK;
        const float *from = args.workspace + chunk * CHUNK;
        const struct b128 halves[2] = {ld_global_b128(from), ld_global_b128(from + 4)};
        float sum[CHUNK];
        memcpy(sum, halves, sizeof sum);
        store_chunk(&args, row, column, sum);
    }
}

/* Enqueues the conversion. Host thread. */
static inline enum gemm_status launch_convert_sums(const struct gemm_args *args, void *stream) {
    enum { CTAS_PER_SM = 8 };
    const int64_t ctas = (args->m * CHUNKS_OF(args->n) + CONVERT_THREADS - 1) / CONVERT_THREADS;
    const int most = CTAS_PER_SM * gemm_sm_count();
    const struct gemm_launch launch = {.kernel = (const void *)convert_sums,
                                       .name = "convert_sums",
                                       .grid = ctas < most ? (int)ctas : most, .cluster = 1,
                                       .threads = CONVERT_THREADS, .smem_bytes = 0,
                                       .stream = stream};
    return gemm_launch_kernel(&launch, args);
}

#endif
