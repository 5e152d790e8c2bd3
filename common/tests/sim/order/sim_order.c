/*
 * sim_order.c: every rule of happens-before, with a kernel that keeps it and one that does not. The
 * verdict must be the same under every schedule, whatever the bytes turn out to be.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/cp_async.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "sim/core/shared_memory.h"
#include "sim/order/shadow.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

struct smem {
    uint32_t word[256] __attribute__((aligned(1024)));
    union {
        element_t tile[8 * 64];     /* of the TMA */
        element_t operand[64 * 16]; /* of a wgmma: core matrices of 8 x 8, two of them along k */
    };
    mbarrier_t barrier;
};

static int me(void) { return (int)threadIdx.x; }
static const struct b128 some_chunk = {{1, 2, 3, 4}};

/* ---- __syncthreads ---- */

KERNEL(64, 1) synchronized(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    st_shared_b32(&shared->word[me()], 1);
    __syncthreads();
    (void)ld_shared_b32(&shared->word[(me() + 33) % 64]);
    __syncthreads();
    st_shared_b32(&shared->word[me()], 2);
}

KERNEL(64, 1) unsynchronized_read(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() < 32) {
        st_shared_b32(&shared->word[me()], 1);
        (void)ld_shared_b32(&shared->word[64 + me()]);
    } else {
        st_shared_b32(&shared->word[32 + me()], 1);
        (void)ld_shared_b32(&shared->word[me() - 32]);
    }
}

KERNEL(64, 1) unsynchronized_overwrite(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    st_shared_b32(&shared->word[me()], 1);
    __syncthreads();
    MARK (void)ld_shared_b32(&shared->word[63 - me()]); st_shared_b32(&shared->word[me()], 2);
}

/* Neighbouring words of one 16-byte cell belong to different threads: no race. */
KERNEL(32, 1) neighbours(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    for (int i = 0; i < 8; ++i) st_shared_b32(&shared->word[me()], (uint32_t)i);
    (void)ld_shared_b32(&shared->word[me()]);
}

/* What a store of so many bytes would do; no kernel of the book has one of fewer than four. */
static void store_bytes(void *pointer, size_t bytes) {
    const struct sim_shared_pointer at = sim_shared_at(pointer, bytes, bytes);
    sim_shadow_generic(sim_thread(), at.cta, at.offset, bytes, SIM_WRITE);
    memset(at.host, me(), bytes);
}
#define STORE(pointer, bytes) SIM(store_bytes(pointer, bytes))

/* Nor is there one between the halves, or the bytes, of a word. */
KERNEL(32, 1) neighbouring_halves(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    for (int i = 0; i < 3; ++i) STORE(&shared->tile[me()], 2);
    __syncwarp();
    (void)ld_shared_b128(&shared->tile[me() / 8 * 8]);
}
KERNEL(32, 1) neighbouring_bytes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    for (int i = 0; i < 3; ++i) STORE((char *)shared->tile + me(), 1);
    __syncwarp();
    (void)ld_shared_b128(&shared->tile[me() / 16 * 8]);
}
KERNEL(32, 1) same_half(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK STORE(&shared->tile[me() / 2], 2);
}
KERNEL(32, 1) same_byte(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK STORE((char *)shared->tile + me() % 31, 1);
}
KERNEL(32, 1) word_over_a_half(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    STORE(&shared->tile[2 * me() + 1], 2);
    __syncwarp();
    element_t *const own = &shared->tile[2 * me()], *const other = &shared->tile[2 * (31 - me())];
    MARK st_shared_b32(other, 1); (void)ld_shared_b32(own);
}
/* One half of a word was written, and both are read. */
KERNEL(32, 1) half_of_nothing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    STORE(&shared->tile[2 * me()], 2);
    MARK (void)ld_shared_b32(&shared->tile[2 * me()]);
}

/* ---- shared memory that nothing has written ---- */

KERNEL(32, 1) reads_nothing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() != 5) st_shared_b32(&shared->word[me()], 1);
    __syncwarp();
    MARK (void)ld_shared_b32(&shared->word[me()]);
}

/* The same, but written later and in order, so that there is no race to report. */
KERNEL(32, 1) reads_before_the_first_write(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK (void)ld_shared_b32(&shared->word[me()]);
    st_shared_b32(&shared->word[me()], 1);
}

KERNEL(32, 1) loads_fragments_of_nothing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    uint32_t fragments[4];
    if (me() != 9) st_shared_b128(&shared->word[4 * me()], some_chunk);
    __syncwarp();
    MARK ldmatrix_x4(fragments, &shared->word[4 * me()]);
}

/* One thread's chunk of the box is missing. */
KERNEL(64, 1) stores_nothing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() != 63) st_shared_b128(&shared->tile[8 * me()], some_chunk);
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        MARK tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* A matrix of 6 rows and 40 columns takes no more of a box: the rest need not be written. All but
 * `missing` of the chunks that it takes are. */
static void store_the_inside(struct smem *shared, bool swizzled, int missing) {
    const int row = me() / 8, chunk = me() % 8;
    if (row < 6 && chunk < 5 && me() != missing)
        st_shared_b128(&shared->tile[64 * row + 8 * (swizzled ? chunk ^ row : chunk)], some_chunk);
}
#define STORES_THE_INSIDE(name, swizzled, missing, fence, after)                              \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        store_the_inside(shared, swizzled, missing);                                               \
        fence;                                                                                     \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            MARK tma_store(&args.map_b, 0, 0, shared->tile); after;                                \
            bulk_commit_group();                                                                   \
            bulk_wait_group(0);                                                                    \
        }                                                                                          \
    }
STORES_THE_INSIDE(stores_the_inside, false, -1, fence_proxy_async(), )
STORES_THE_INSIDE(stores_the_inside_swizzled, true, -1, fence_proxy_async(), )
STORES_THE_INSIDE(stores_all_but_one, false, 8 * 5 + 4, fence_proxy_async(), )
STORES_THE_INSIDE(stores_all_but_one_swizzled, true, 8 * 5 + 4, fence_proxy_async(), )
STORES_THE_INSIDE(stores_the_inside_unfenced, true, -1, , )
#define OVERWRITE st_shared_b128(&shared->tile[64 * 5 + 8 * (4 ^ 5)], some_chunk)
STORES_THE_INSIDE(stores_the_inside_and_goes_on, true, -1, fence_proxy_async(), OVERWRITE)

/* One thread's chunk of the operand is missing; what the TMA or cp.async brings counts as written:
 * copy_waited, refill_fenced. */
KERNEL(128, 1) multiplies_nothing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    if (me() != 100) st_shared_b128(&shared->operand[8 * me()], some_chunk);
    fence_proxy_async();
    __syncthreads();
    const uint64_t operand =
        wgmma_descriptor(shared_address(shared->operand), 128, 256, SWIZZLE_NONE);
    wgmma_fence();
    MARK wgmma_m64nNk16(8, acc, operand, operand, 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
}

/* Words of a cell that one after the other are written and read. */
KERNEL(32, 1) writes_word_by_word(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() != 0) return;
    for (int i = 0; i < 4; ++i) {
        st_shared_b32(&shared->word[i], 1);
        (void)ld_shared_b32(&shared->word[i]);
    }
    st_shared_b32(&shared->word[0], 2);
    (void)ld_shared_b128(&shared->word[0]);
}

/* ---- __syncwarp orders one warp, not two ---- */

KERNEL(64, 1) warp_synchronized(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    st_shared_b32(&shared->word[me()], 1);
    __syncwarp();
    (void)ld_shared_b32(&shared->word[me() ^ 1]);
}

KERNEL(64, 1) warp_synchronized_only(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    const uint32_t *other = &shared->word[me() ^ 32];
    MARK st_shared_b32(&shared->word[me()], 1); __syncwarp(); (void)ld_shared_b32(other);
}

/* ---- named barriers: those who arrive release, those who wait acquire ---- */

KERNEL(64, 1) named(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() < 32) {
        st_shared_b32(&shared->word[me()], 1);
        named_barrier_arrive(1, 64);
    } else {
        named_barrier_sync(1, 64);
        (void)ld_shared_b32(&shared->word[me() - 32]);
    }
}

KERNEL(64, 1) named_after_arrive(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() < 32) {
        named_barrier_arrive(1, 64);
        MARK st_shared_b32(&shared->word[me()], 1);
        named_barrier_sync(2, 64);
    } else {
        named_barrier_sync(1, 64);
        MARK (void)ld_shared_b32(&shared->word[me() - 32]);
        named_barrier_sync(2, 64);
    }
}

/* ---- cp.async ---- */

KERNEL(32, 1) copy_waited(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    cp_async_wait_group(0);
    __syncthreads();
    const struct b128 value = ld_shared_b128(&shared->word[4 * (31 - me())]);
    st_global_b128(&args.d[8 * me()], value);
}

KERNEL(32, 1) copy_not_waited(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    MARK (void)ld_shared_b128(&shared->word[4 * me()]);
    cp_async_wait_group(0);
}

KERNEL(32, 1) copy_waited_by_other(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    cp_async_wait_group(0);
    MARK (void)ld_shared_b128(&shared->word[4 * (me() ^ 1)]);
}

KERNEL(32, 1) copy_wrong_count(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    cp_async_16(&shared->word[128 + 4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    cp_async_wait_group(1);
    (void)ld_shared_b128(&shared->word[4 * me()]);
    MARK (void)ld_shared_b128(&shared->word[128 + 4 * me()]);
    cp_async_wait_group(0);
}

KERNEL(64, 1) copy_over_reader(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() < 32) st_shared_b32(&shared->word[me()], 1);
    __syncthreads();
    if (me() == 0) (void)ld_shared_b32(&shared->word[0]);
    if (me() >= 32) __syncwarp();
    named_barrier_sync(1, 64);
    if (me() == 63) (void)ld_shared_b32(&shared->word[0]);
    if (me() < 32) __syncwarp();
    if (me() == 0) {
        MARK cp_async_16(&shared->word[0], args.a, 16);
        cp_async_commit_group();
        cp_async_wait_group(0);
    }
    if (me() >= 32) __syncwarp();
    named_barrier_sync(1, 64);
}

/* Copies that tell a barrier when they have landed. */
KERNEL(64, 1) copy_arrives(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) mbarrier_init(&shared->barrier, 32);
    __syncthreads();
    if (me() < 32) {
        cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
        cp_async_mbarrier_arrive_noinc(&shared->barrier);
    } else {
        mbarrier_wait(&shared->barrier, 0);
        const struct b128 value = ld_shared_b128(&shared->word[4 * (63 - me())]);
        st_global_b128(&args.d[8 * (63 - me())], value);
    }
}

KERNEL(64, 1) copy_after_arrival(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) mbarrier_init(&shared->barrier, 32);
    __syncthreads();
    if (me() < 32) {
        cp_async_mbarrier_arrive_noinc(&shared->barrier);
        MARK cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
        cp_async_commit_group();
        cp_async_wait_group(0);
    } else {
        mbarrier_wait(&shared->barrier, 0);
        MARK (void)ld_shared_b128(&shared->word[4 * (63 - me())]);
    }
}

/* ---- mbarrier ---- */

KERNEL(64, 1) barrier_orders(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() == 0) mbarrier_init(&shared->barrier, 32);
    __syncthreads();
    if (me() < 32) {
        st_shared_b32(&shared->word[me()], 1);
        mbarrier_arrive(&shared->barrier);
    } else {
        mbarrier_wait(&shared->barrier, 0);
        (void)ld_shared_b32(&shared->word[me() - 32]);
    }
}

/* One arrival for the warp needs __syncwarp in front of it. */
KERNEL(64, 1) barrier_one_arrival(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() == 0) mbarrier_init(&shared->barrier, 1);
    __syncthreads();
    if (me() < 32) {
        st_shared_b32(&shared->word[me()], 1);
        if (me() == 0) mbarrier_arrive(&shared->barrier);
        __syncwarp();
    } else {
        mbarrier_wait(&shared->barrier, 0);
        /* Thread 1's word: thread 0 has not heard of it when it arrives. */
        if (me() == 33) { MARK (void)ld_shared_b32(&shared->word[1]); }
        __syncwarp();
    }
}

/* ---- the proxy fence ---- */

KERNEL(64, 1) fenced_store(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    st_shared_b128(&shared->tile[8 * me()], some_chunk);
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

KERNEL(64, 1) unfenced_store(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    st_shared_b128(&shared->tile[8 * me()], some_chunk);
    __syncthreads();
    if (me() == 0) {
        MARK tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* The fence of the thread that stores does not stand for those that wrote. */
KERNEL(64, 1) fenced_by_one(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    st_shared_b128(&shared->tile[8 * me()], some_chunk);
    __syncthreads();
    if (me() == 0) {
        fence_proxy_async();
        MARK tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* What is written after the fence is not covered by it. */
KERNEL(64, 1) fenced_too_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    fence_proxy_async();
    st_shared_b128(&shared->tile[8 * me()], some_chunk);
    __syncthreads();
    if (me() == 0) {
        MARK tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

KERNEL(64, 1) fenced_without_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    st_shared_b128(&shared->tile[8 * me()], some_chunk);
    MARK fence_proxy_async(); if (me() == 0) tma_store(&args.map_d, 0, 0, shared->tile);
    if (me() == 0) {
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* Reads by ldmatrix, then a refill by the TMA: the fence is needed in this direction, too. */
static inline void refill(const struct gemm_args *args, struct smem *shared, bool fence) {
    if (me() == 0) {
        mbarrier_init(&shared->barrier, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    for (int round = 0; round < 2; ++round) {
        if (me() == 0) {
            mbarrier_arrive_expect_tx(&shared->barrier, sizeof shared->tile);
            MARK tma_load(shared->tile, &args->map_a, 0, 0, &shared->barrier);
        }
        mbarrier_wait(&shared->barrier, (uint32_t)round);
        uint32_t r[4];
        ldmatrix_x4(r, &shared->tile[8 * me()]);
        ldmatrix_x4(r, &shared->tile[8 * (me() + 32)]);
        if (fence) fence_proxy_async();
        __syncthreads();
    }
}
KERNEL(32, 1) refill_fenced(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    refill(&args, shared, true);
}
KERNEL(32, 1) refill_unfenced(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    refill(&args, shared, false);
}

/* ---- a wgmma reads for four warps, and a wait tells each warp about its own part only ---- */

static inline void reuse_operands(struct smem *shared, bool barrier) {
    st_shared_b128(&shared->operand[8 * me()], some_chunk);
    fence_proxy_async();
    __syncthreads();
    float acc[4] = {0};
    const uint64_t operand =
        wgmma_descriptor(shared_address(shared->operand), 128, 256, SWIZZLE_NONE);
    wgmma_fence();
    wgmma_m64nNk16(8, acc, operand, operand, 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    if (barrier) __syncthreads();
    if (me() == 0) {
        MARK st_shared_b128(shared->operand, some_chunk);
    }
    __syncwarp();
}
KERNEL(128, 1) reuse_after_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    reuse_operands(shared, true);
}
KERNEL(128, 1) reuse_after_own_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    reuse_operands(shared, false);
}

int main(void) {
    test_open(SCHEDULE_EARLY, 0, 4);
    if (gemm_tensor_map(&test_args.map_d, GEMM_FP16, test_out, 8, 64, 64, 8, 64, SWIZZLE_NONE) ||
        gemm_tensor_map(&test_args.map_a, GEMM_FP16, test_in, 8, 64, 64, 8, 64, SWIZZLE_NONE))
        return 1;
    EXPECT_CLEAN(synchronized, 64);
    EXPECT_HAZARD(unsynchronized_overwrite, 64, "data-race");
    EXPECT_CLEAN(neighbours, 32);
    EXPECT_CLEAN(neighbouring_halves, 32);
    EXPECT_CLEAN(neighbouring_bytes, 32);
    EXPECT_HAZARD(same_half, 32, "data-race");
    EXPECT_HAZARD(same_byte, 32, "data-race");
    EXPECT_HAZARD(word_over_a_half, 32, "data-race");
    EXPECT_HAZARD(half_of_nothing, 32, "uninitialized-shared");
    EXPECT_HAZARD(reads_nothing, 32, "uninitialized-shared");
    EXPECT_HAZARD(reads_before_the_first_write, 32, "uninitialized-shared");
    EXPECT_HAZARD(loads_fragments_of_nothing, 32, "uninitialized-shared");
    EXPECT_HAZARD(stores_nothing, 64, "uninitialized-shared");
    if (gemm_tensor_map(&test_args.map_b, GEMM_FP16, test_out, 6, 40, 64, 8, 64, SWIZZLE_NONE))
        return 1;
    EXPECT_CLEAN(stores_the_inside, 64);
    EXPECT_HAZARD(stores_all_but_one, 64, "uninitialized-shared");
    if (gemm_tensor_map(&test_args.map_b, GEMM_FP16, test_out, 6, 40, 64, 8, 64, SWIZZLE_128B))
        return 1;
    EXPECT_CLEAN(stores_the_inside_swizzled, 64);
    EXPECT_HAZARD(stores_all_but_one_swizzled, 64, "uninitialized-shared");
    EXPECT_HAZARD(stores_the_inside_unfenced, 64, "missing-proxy-fence");
    EXPECT_HAZARD(stores_the_inside_and_goes_on, 64, "overwritten-while-read");
    EXPECT_HAZARD(multiplies_nothing, 128, "uninitialized-shared");
    EXPECT_CLEAN(writes_word_by_word, 32);
    EXPECT_CLEAN(warp_synchronized, 64);
    EXPECT_HAZARD(warp_synchronized_only, 64, "data-race");
    EXPECT_CLEAN(named, 64);
    EXPECT_CLEAN(copy_waited, 32);
    for (int i = 0; i < 32 * 8; ++i) {
        const int from = 8 * (31 - i / 8) + i % 8;
        EXPECT(test_out[i].bits == (uint16_t)from, "element %d: %d", i, test_out[i].bits);
    }
    EXPECT_HAZARD(copy_not_waited, 32, "read-before-landed");
    EXPECT_HAZARD(copy_wrong_count, 32, "read-before-landed");
    EXPECT_CLEAN(copy_arrives, 64);
    for (int i = 0; i < 32 * 8; ++i)
        EXPECT(test_out[i].bits == (uint16_t)i, "element %d: %d", i, test_out[i].bits);
    EXPECT_CLEAN(barrier_orders, 64);
    EXPECT_CLEAN(fenced_store, 64);
    EXPECT_HAZARD(unfenced_store, 64, "missing-proxy-fence");
    EXPECT_HAZARD(fenced_by_one, 64, "missing-proxy-fence");
    EXPECT_HAZARD(fenced_too_early, 64, "missing-proxy-fence");
    EXPECT_CLEAN(refill_fenced, 32);
    EXPECT_HAZARD(refill_unfenced, 32, "missing-proxy-fence-after-read");
    EXPECT_CLEAN(reuse_after_barrier, 128);
    EXPECT_HAZARD(reuse_after_own_wait, 128, "overwritten-while-read");
    /* Either side of these may come first, and kind or line say which: only that they are found is
     * always the same. */
    EXPECT_RACE(unsynchronized_read, 64);
    EXPECT_RACE(copy_waited_by_other, 32);
    EXPECT_RACE(named_after_arrive, 64);
    EXPECT_RACE(copy_over_reader, 64);
    EXPECT_RACE(copy_after_arrival, 64);
    EXPECT_RACE(barrier_one_arrival, 64);
    EXPECT_RACE(fenced_without_barrier, 64);
    backend_close();
    return expect_result();
}
