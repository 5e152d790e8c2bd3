/*
 * sim_special_function.c: the special-function unit: its values, an accumulator that it must not
 * read yet, and what a warp's instruction costs: 8 cycles of a sub-partition.
 */
#include <math.h>

#include "hopper/special_function.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/sim/sim_kernels.h"

enum { SHORT = 100, LONG = 500 };

static float seen[4]; /* by thread 0 */
static int length;

static void values(const struct gemm_args args) {
    (void)args;
    const float power = exp2_approx(-1.5f), all = exp2_approx(200), third = reciprocal_approx(3);
    const float none = reciprocal_approx(all);
    if (threadIdx.x == 0) seen[0] = power, seen[1] = all, seen[2] = third, seen[3] = none;
}

/* A product of zeros, without swizzle. */
static void too_early(const struct gemm_args args) {
    SHARED_MEMORY(uint32_t);
    float acc[4] = {0};
    for (int i = (int)threadIdx.x; i < 1024; i += 128)
        st_shared_b32(&shared[i], 0);
    fence_proxy_async();
    __syncthreads();
    const uint64_t tile = wgmma_descriptor(shared_address(shared), 128, 256, SWIZZLE_NONE);
    wgmma_fence();
    wgmma_m64nNk16(8, acc, tile, tile, 0);
    wgmma_commit_group();
    MARK(void) exp2_approx(acc[0] + 1);
    wgmma_wait_group(0);
}

static void chain(const struct gemm_args args) {
    (void)args;
    for (int i = 0; i < length; ++i)
        (void)(i % 2 ? exp2_approx(1) : reciprocal_approx(1));
}

static double cycles_of(int instructions, int threads) {
    const struct test_launch launch = {chain, 1, 1, threads, 4096};
    double cycles = -1;
    length = instructions;
    test_open(SCHEDULE_TIME, 0, 1);
    EXPECT(test_run(&launch, &cycles) == RUN_OK, "a chain of %d fails", instructions);
    return cycles;
}

int main(void) {
    EXPECT_CLEAN(values, 32);
    EXPECT(fabs(seen[0] / exp2(-1.5) - 1) < 0x1p-22, "2^-1.5 is %g", (double)seen[0]);
    EXPECT(isinf(seen[1]) && seen[3] == 0, "2^200 is %g, its reciprocal %g", (double)seen[1],
           (double)seen[3]);
    EXPECT(fabs(seen[2] * 3.0 - 1) < 0x1p-22, "1 / 3 is %g", (double)seen[2]);
    /* Four warps have four units; eight warps share them. */
    for (int warps = 1; warps <= 8; warps *= 2) {
        const double each =
            (cycles_of(LONG, 32 * warps) - cycles_of(SHORT, 32 * warps)) / (LONG - SHORT);
        const double expected = warps == 8 ? 16 : 8;
        EXPECT(fabs(each - expected) < 0.5, "%d warps: %g cycles each, not %g", warps, each,
               expected);
    }
    test_open(SCHEDULE_TIME, 0, 4);
    EXPECT_HAZARD(too_early, 128, "accumulator-in-use");
    return expect_result();
}
