/*
 * memory.cu: latencies by chains of loads, each of which gives the next one's address; what loads
 * and stores of many lines cost; the CTA's barrier.
 */
#include "tools/probe/probe_kernel.h"

enum { CHAIN = 1024, TILE = 128, SYNC_THREADS = 1024, GATHER_THREADS = 512 };
enum { LINE_DISTANCE = 4096 + 128 }; /* not all in one set of the L1 */

struct chain {
    uint32_t word[CHAIN];
};

/* 0: cycles. ld.shared, one thread. */
KERNEL(32, 1) shared_chase(KERNEL_ARGS args) {
    SHARED_MEMORY(struct chain);
    for (int i = threadIdx.x; i < CHAIN; i += 32)
        st_shared_b32(&shared->word[i], shared_address(&shared->word[(i + 33) % CHAIN]));
    __syncthreads();
    if (threadIdx.x) return;
    uint32_t at = shared_address(shared->word);
    const uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        asm volatile("ld.shared.b32 %0, [%0];" : "+r"(at)::"memory");
    use(&args, at);
    result(&args, 0, clock_now() - begin);
}

/* Writes a chain of `m` addresses, `splits` bytes apart, into a. */
KERNEL(256, 1) chain_fill(KERNEL_ARGS args) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < args.m; i += gridDim.x * 256) {
        const uint64_t next = (uint64_t)args.a + (uint64_t)((i + 1) % args.m) * args.splits;
        *(uint64_t *)((uint64_t)args.a + (uint64_t)i * args.splits) = next;
    }
}

/* 0: cycles of `k` steps along the chain, through the L1 if `items`. One thread. */
KERNEL(32, 1) global_chase(KERNEL_ARGS args) {
    if (threadIdx.x) return;
    uint64_t at = (uint64_t)args.a;
    if (args.items) /* into the L1 */
        for (int i = 0; i < args.m; ++i)
            asm volatile("ld.global.ca.b64 %0, [%0];" : "+l"(at)::"memory");
    const uint64_t begin = clock_now();
    if (args.items)
        for (int i = 0; i < args.k; ++i)
            asm volatile("ld.global.ca.b64 %0, [%0];" : "+l"(at)::"memory");
    else
        for (int i = 0; i < args.k; ++i)
            asm volatile("ld.global.cg.b64 %0, [%0];" : "+l"(at)::"memory");
    use(&args, (uint32_t)at);
    result(&args, 0, clock_now() - begin);
}

/* 0: cycles of `k` loads per warp, of as many lines as the warp has lanes, all in the L1. */
KERNEL(GATHER_THREADS, 1) gather(KERNEL_ARGS args) {
    const unsigned char *const line =
        (const unsigned char *)args.a + threadIdx.x % 32 * LINE_DISTANCE;
    uint32_t sum = 0;
    __syncthreads();
    const uint64_t begin = clock_now();
    _Pragma("unroll 4") for (int i = 0; i < args.k; ++i) {
        uint16_t value;
        asm volatile("ld.global.ca.u16 %0, [%1];" : "=h"(value) : "l"(line + 2 * (i % 64)));
        sum += value;
    }
    use(&args, sum);
    __syncthreads();
    if (threadIdx.x == 0) result(&args, 0, clock_now() - begin);
}

/* 0: cycles in which four warps store `k` tiles of 128 x 128 elements, `items` bytes a lane: 4, as
 * an epilogue does that takes accumulators as they lie, or 16. Until all is visible. */
KERNEL(128, 1) store_tile(KERNEL_ARGS args) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t pitch = 8192; /* elements */
    element_t *const first = args.d + (blockIdx.x / 8 * TILE) * pitch + blockIdx.x % 8 * TILE * 8;
    __syncthreads();
    const uint64_t begin = clock_now();
    for (int tile = 0; tile < args.k; ++tile) {
        element_t *const d = first + tile % 8 * TILE;
        const int row = warp * 16 + lane / 4;
        if (args.items == 4) {
            UNROLL for (int i = 0; i < 64; ++i)
                st_global_b32(d + (row + i / 32 * 64 + i % 2 * 8) * pitch + i / 2 % 16 * 8 +
                                  lane % 4 * 2,
                              (uint32_t)(i + lane));
        } else {
            UNROLL for (int i = 0; i < 16; ++i) {
                const struct b128 value = {{(uint32_t)i, (uint32_t)lane, 0, 0}};
                st_global_b128(d + (row + i / 8 * 64 + i % 2 * 8) * pitch +
                                   (i / 2 % 4 * 4 + lane % 4) * 8,
                               value);
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) result(&args, 0, clock_now() - begin);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) result(&args, 1, clock_now() - begin);
}

/* 0: cycles of `k` __syncthreads. */
KERNEL(SYNC_THREADS, 1) sync(KERNEL_ARGS args) {
    __syncthreads();
    const uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        __syncthreads();
    if (threadIdx.x == 0) result(&args, 0, clock_now() - begin);
}

PROBE(shared_chase, 32, sizeof(struct chain))
PROBE(chain_fill, 256, 0)
PROBE(global_chase, 32, 0)
PROBE(gather, GATHER_THREADS, 0)
PROBE(store_tile, 128, 0)
PROBE(sync, SYNC_THREADS, 0)
