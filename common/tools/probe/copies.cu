/*
 * copies.cu: the TMA and cp.async: how long a copy takes, and how many bytes come per cycle.
 */
#include "hopper/cp_async.h"
#include "hopper/tma.h"
#include "tools/probe/probe_kernel.h"

enum { STAGES = 8, CP_THREADS = 256, CP_EACH = 8, CP_GROUPS = 4 };

struct smem {
    element_t box[STAGES][BOX_ROWS * BOX_COLUMNS];
    mbarrier_t full[STAGES];
};

/* Where `a` is read, the boxes are spread over it. */
DEVICE int row_of(const struct gemm_args *args, int box) { return box % args->m * BOX_ROWS; }

/* Cycles of `k` loads, each waited for: 0 for the first time, 1 again; 2: the least of those again;
 * 3: until a thread has asked for STAGES of them. `items`: boxes of 8 rows instead of 128. */
KERNEL(32, 1) tma_latency(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x) return;
    const struct tensor_map *const map = args.items ? &args.map_b : &args.map_a;
    const uint32_t bytes = args.items ? SMALL_BOX_ROWS * ROW_BYTES : BOX_BYTES;
    for (int i = 0; i < STAGES; ++i)
        mbarrier_init(&shared->full[i], 1);
    fence_mbarrier_init();
    /* The tensor map is fetched with the first load. */
    mbarrier_arrive_expect_tx(&shared->full[0], bytes);
    tma_load(shared->box[0], map, row_of(&args, args.k), 0, &shared->full[0]);
    mbarrier_wait(&shared->full[0], 0);
    uint32_t parity = 1;
    uint64_t least = ~0ull;
    for (int pass = 0; pass < 2; ++pass) {
        const uint64_t begin = clock_now();
        for (int i = 0; i < args.k; ++i, parity ^= 1) {
            const uint64_t issue = clock_now();
            mbarrier_arrive_expect_tx(&shared->full[0], bytes);
            tma_load(shared->box[0], map, row_of(&args, i), 0, &shared->full[0]);
            mbarrier_wait(&shared->full[0], parity);
            const uint64_t cycles = clock_now() - issue;
            if (pass && cycles < least) least = cycles;
        }
        result(&args, pass, clock_now() - begin);
    }
    result(&args, 2, least);
    for (int i = 1; i < STAGES; ++i)
        mbarrier_arrive_expect_tx(&shared->full[i], bytes);
    const uint64_t begin = clock_now();
    for (int i = 1; i < STAGES; ++i)
        tma_load(shared->box[i], map, row_of(&args, i), 0, &shared->full[i]);
    result(&args, 3, clock_now() - begin);
    for (int i = 1; i < STAGES; ++i)
        mbarrier_wait(&shared->full[i], 0);
}

/* 0: cycles of `k` boxes through a ring, one after another; every CTA begins elsewhere in `a`. */
KERNEL(32, 1) tma_stream(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x) return;
    for (int i = 0; i < STAGES; ++i)
        mbarrier_init(&shared->full[i], 1);
    fence_mbarrier_init();
    const int first = blockIdx.x * (args.m / gridDim.x);
    const uint64_t begin = clock_now();
    for (int i = 0; i < args.k + STAGES; ++i) {
        const int stage = i % STAGES;
        if (i >= STAGES) mbarrier_wait(&shared->full[stage], (i / STAGES - 1) & 1);
        if (i >= args.k) continue;
        mbarrier_arrive_expect_tx(&shared->full[stage], BOX_BYTES);
        tma_load(shared->box[stage], &args.map_a, row_of(&args, first + i), 0,
                 &shared->full[stage]);
    }
    result(&args, 0, clock_now() - begin);
}

/* Cycles of `k` stores of 64 x 128 bytes, each waited for: 0 until shared memory has been read,
 * 1 until they are complete. */
KERNEL(32, 1) tma_store_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x) return;
    uint64_t read = 0, complete = 0;
    fence_proxy_async();
    for (int i = 0; i < args.k; ++i) {
        const uint64_t begin = clock_now();
        tma_store(&args.map_d, i % 64 * STORE_BOX_ROWS, 0, shared->box[0]);
        bulk_commit_group();
        bulk_wait_group_read(0);
        read += clock_now() - begin;
        bulk_wait_group(0);
        complete += clock_now() - begin;
    }
    result(&args, 0, read);
    result(&args, 1, complete);
}

/* 0: cycles of `k` rounds of CP_EACH copies of 16 bytes per thread, CP_GROUPS rounds under way;
 * 1: of `k` copies of one thread, each waited for. `m`: 4 KB pieces that `a` has. */
KERNEL(CP_THREADS, 1) cp_async(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    unsigned char *const to = (unsigned char *)shared + threadIdx.x * 16;
    const unsigned char *const from = (const unsigned char *)args.a + threadIdx.x * 16;
    __syncthreads();
    uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i) {
        UNROLL for (int j = 0; j < CP_EACH; ++j) {
            const int piece = blockIdx.x * (args.m / gridDim.x) + i * CP_EACH + j;
            cp_async_16(to + (i % CP_GROUPS * CP_EACH + j) * CP_THREADS * 16,
                        from + (int64_t)(piece % args.m) * CP_THREADS * 16, 16);
        }
        cp_async_commit_group();
        cp_async_wait_group(CP_GROUPS - 1);
    }
    cp_async_wait_group(0);
    __syncthreads();
    if (threadIdx.x == 0) result(&args, 0, clock_now() - begin);
    if (threadIdx.x) return;
    begin = clock_now();
    for (int i = 0; i < args.k; ++i) {
        cp_async_16(to, from + (int64_t)(i % args.m) * CP_THREADS * 16, 16);
        cp_async_commit_group();
        cp_async_wait_group(0);
    }
    result(&args, 1, clock_now() - begin);
}

PROBE(tma_latency, 32, sizeof(struct smem))
PROBE(tma_stream, 32, sizeof(struct smem))
const struct probe_kernel probe_tma_store = {(const void *)tma_store_wait, "tma_store", 32,
                                             sizeof(struct smem)};
PROBE(cp_async, CP_THREADS, sizeof(struct smem))
