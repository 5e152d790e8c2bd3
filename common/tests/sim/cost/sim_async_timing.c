/*
 * sim_async_timing.c: what the timing model charges for a chain of wgmmas and for loads, as
 * differences between two lengths, so that beginnings and ends drop out.
 */
#include "hopper/element.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/sim/sim_trials.h"

enum { BOX_BYTES = TRIAL_BOX * 64 * 2, THREADS = 128, BUFFERS = 4 };

struct smem {
    element_t box[BUFFERS][TRIAL_BOX * 64];
    mbarrier_t full;
};

/* A chain of `splits` wgmmas whose operands are zeros. */
#define CHAIN(name, multiply, n)                                                                   \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        const struct b128 zeros = {{0}};                                                           \
        for (int i = (int)threadIdx.x; i < (int)(sizeof shared->box / sizeof zeros); i += THREADS) \
            st_shared_b128((struct b128 *)(void *)shared->box + i, zeros);                         \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        const uint64_t tile =                                                                      \
            wgmma_descriptor(shared_address(shared->box), 0, 1024, SWIZZLE_128B);                  \
        float acc[n / 2] = {0};                                                                    \
        wgmma_fence();                                                                             \
        for (int i = 0; i < args.splits; ++i)                                                      \
            multiply(n, acc, tile, tile, 1);                                                       \
        wgmma_commit_group();                                                                      \
        wgmma_wait_group(0);                                                                       \
    }
CHAIN(chain_8, wgmma_m64nNk16, 8)
CHAIN(chain_64, wgmma_m64nNk16, 64)
CHAIN(chain_128, wgmma_m64nNk16, 128)
CHAIN(chain_256, wgmma_m64nNk16, 256)
CHAIN(e4m3_chain_256, wgmma_m64nNk32_e4m3, 256)

/* `splits` boxes, BUFFERS of them under way at a time; all from the same place, so from the L2 but
 * for the first. */
KERNEL(THREADS, 1) loads(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x != 0) return;
    mbarrier_init(&shared->full, 1);
    fence_mbarrier_init();
    for (int round = 0; round < args.splits; ++round) {
        mbarrier_arrive_expect_tx(&shared->full, BUFFERS * BOX_BYTES);
        for (int i = 0; i < BUFFERS; ++i)
            tma_load(shared->box[i], &args.map_a, 0, 0, &shared->full);
        mbarrier_wait(&shared->full, round % 2);
    }
}

static double cycles_of(void (*kernel)(const struct gemm_args), int argument) {
    const struct sim_trial trial = {.name = "timing",
                                    .kernel = kernel,
                                    .threads = THREADS,
                                    .cluster = 1,
                                    .smem_bytes = sizeof(struct smem),
                                    .argument = argument};
    double cycles = -1;
    const enum run_status status = run_once(&trial, &cycles);
    EXPECT(status == RUN_OK && cycles > 0, "status %d, %g cycles", status, cycles);
    return cycles;
}

/* No faster than the Tensor Core's 4096 FLOP per cycle (e4m3: 8192), no slower than published
 * measurements. */
static void test_chain(int n, void (*kernel)(const struct gemm_args), double measured) {
    const double each = (cycles_of(kernel, 96) - cycles_of(kernel, 32)) / 64;
    EXPECT(each >= n / 2 && each >= measured - 1 && each <= measured,
           "n %d: %g cycles per wgmma, measured were %g", n, each, measured);
}

int main(void) {
    open_trial(1, SCHEDULE_TIME, 1);
    /* Small ones cost more than their work, n / 2. */
    test_chain(8, chain_8, 19);
    test_chain(64, chain_64, 33);
    test_chain(128, chain_128, 65);
    test_chain(256, chain_256, 129);
    test_chain(256, e4m3_chain_256, 129); /* twice the FLOPs */
    /* A round trip lasts at least the latency, and at least the time of 32 KB through 117 B per
     * cycle. */
    const double round = (cycles_of(loads, 12) - cycles_of(loads, 4)) / 8;
    EXPECT(round > 380 && round < 1350, "%g cycles for 32 KB from the L2 and back to the wait",
           round);
    backend_close();
    return expect_result();
}
