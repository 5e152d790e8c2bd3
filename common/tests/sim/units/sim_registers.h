/*
 * sim_registers.h: a warpgroup, operands in shared memory, and one wgmma or two, for the tests of
 * what a kernel does to the registers of a wgmma.
 */
#ifndef TESTS_SIM_UNITS_SIM_REGISTERS_H
#define TESTS_SIM_UNITS_SIM_REGISTERS_H

#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/sim/sim_kernels.h"

enum { THREADS = 128, M = 64, N = 16, K = 16, ACC = N / 2 };

struct smem {
    element_t a[2][M * K]; /* core matrices of 8 x 8, one below the other, then along k */
    element_t b[N * K];
};

DEVICE uint64_t a_of(struct smem *shared) {
    return wgmma_descriptor(shared_address(shared->a[0]), M * 16, 128, SWIZZLE_NONE);
}

DEVICE uint64_t b_of(struct smem *shared) {
    return wgmma_descriptor(shared_address(shared->b), N * 16, 128, SWIZZLE_NONE);
}

/* Fills all of shared memory with elements that differ. */
DEVICE void fill(struct smem *shared, const struct gemm_args *args) {
    for (unsigned i = threadIdx.x; i < sizeof *shared / 16; i += THREADS)
        st_shared_b128((char *)shared + 16 * i, ld_global_b128(&args->a[8 * i + 1024]));
    fence_proxy_async();
    __syncthreads();
}

/* Each thread's registers of A, in whatever order. */
DEVICE uint32_t word_of_a(struct smem *shared, int tile, int i) {
    return ld_shared_b32(&shared->a[tile][8 * threadIdx.x + 2 * i]);
}
DEVICE void load(uint32_t a[4], struct smem *shared, int tile) {
    for (int i = 0; i < 4; ++i)
        a[i] = word_of_a(shared, tile, i);
}
DEVICE const element_t *row_of_a(struct smem *shared, int tile) {
    return &shared->a[tile][8 * threadIdx.x];
}

DEVICE void finish(void) {
    wgmma_commit_group();
    wgmma_wait_group(0);
}

#define CLEAN(kernel)                                                                              \
    expect_run_(#kernel, &(struct test_launch){kernel, 1, 1, THREADS, sizeof(struct smem)}, NULL)
#define WRONG(kernel, kind)                                                                        \
    expect_run_(#kernel, &(struct test_launch){kernel, 1, 1, THREADS, sizeof(struct smem)}, kind)

#endif
