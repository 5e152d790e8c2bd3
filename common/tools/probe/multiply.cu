/*
 * multiply.cu: mma.sync, ldmatrix and wgmma alone, and together with a TMA that fills shared memory
 * next to their operands, or with another warpgroup's multiply-adds.
 */
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tools/probe/probe_kernel.h"

enum { RING = 4, MMA_THREADS = 512, MMA_TILES = 8, LDMATRIX_EACH = 8, MOST_THREADS = 384 };

struct smem {
    element_t a[2][64 * BOX_COLUMNS];               /* of each warpgroup that multiplies */
    element_t b[256 * BOX_COLUMNS];
    element_t ring[RING][BOX_ROWS * BOX_COLUMNS]; /* what the TMA fills */
    mbarrier_t full[RING];
    uint32_t finished; /* warpgroups that have */
};

/* 0: cycles of `k` rounds of MMA_TILES mma.sync per warp; with `items` they are one chain. */
KERNEL(MMA_THREADS, 1) mma(KERNEL_ARGS args) {
    float acc[MMA_TILES][4];
    const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    UNROLL for (int i = 0; i < MMA_TILES * 4; ++i) acc[i / 4][i % 4] = (float)(threadIdx.x + i);
    __syncthreads();
    const uint64_t begin = clock_now();
    if (args.items)
        for (int i = 0; i < args.k; ++i)
            UNROLL for (int j = 0; j < MMA_TILES; ++j) mma_m16n8k16(acc[0], a, b);
    else
        for (int i = 0; i < args.k; ++i)
            UNROLL for (int j = 0; j < MMA_TILES; ++j) mma_m16n8k16(acc[j], a, b);
    UNROLL for (int i = 0; i < MMA_TILES * 4; ++i) use(&args, __float_as_uint(acc[i / 4][i % 4]));
    __syncthreads();
    if (threadIdx.x == 0) result(&args, 0, clock_now() - begin);
}

/* Streams boxes into the ring until all warpgroups have finished: 2 cycles, 3 boxes. */
DEVICE void fill(struct smem *shared, const struct gemm_args *args, uint32_t warpgroups) {
    const uint64_t begin = clock_now();
    int boxes = 0;
    for (; ld_shared_b32(&shared->finished) < warpgroups; ++boxes) {
        const int stage = boxes % RING;
        if (boxes >= RING) mbarrier_wait(&shared->full[stage], (boxes / RING - 1) & 1);
        mbarrier_arrive_expect_tx(&shared->full[stage], BOX_BYTES);
        tma_load(shared->ring[stage], &args->map_a,
                 (int)((blockIdx.x * 64 + boxes) % args->m) * BOX_ROWS, 0, &shared->full[stage]);
    }
    for (int i = boxes > RING ? boxes - RING : 0; i < boxes; ++i)
        mbarrier_wait(&shared->full[i % RING], (i / RING) & 1);
    result(args, 2, clock_now() - begin);
    result(args, 3, boxes);
}

/* Zeroes the operands and sets up the ring. All threads. */
DEVICE void prepare(struct smem *shared) {
    const struct b128 zero = {{0, 0, 0, 0}};
    for (int i = threadIdx.x; i < (int)(sizeof shared->a + sizeof shared->b) / 16; i += blockDim.x)
        st_shared_b128((unsigned char *)shared->a + i * 16, zero);
    if (threadIdx.x == 0) {
        for (int i = 0; i < RING; ++i)
            mbarrier_init(&shared->full[i], 1);
        fence_mbarrier_init();
        st_shared_b32(&shared->finished, 0);
    }
    fence_proxy_async(); /* wgmma and the TMA come after the stores */
    __syncthreads();
}

DEVICE void finish(struct smem *shared, const struct gemm_args *args, uint64_t begin) {
    const uint64_t end = clock_now();
    if (threadIdx.x % 128) return;
    atomicAdd(&shared->finished, 1);
    result(args, threadIdx.x / 128 - 1, end - begin);
}

/* 0 and 1: cycles in which each warp of a warpgroup loads `k` times LDMATRIX_EACH matrices of 512
 * bytes; with `items` each load's address depends on the last. `splits`: the TMA fills
 * meanwhile. */
KERNEL(MOST_THREADS, 1) ldmatrix(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    prepare(shared);
    if (threadIdx.x < 128) {
        if (threadIdx.x == 0 && args.splits) fill(shared, &args, blockDim.x / 128 - 1);
        return;
    }
    uint32_t address = shared_address(shared->b) + threadIdx.x % 32 * 16, sum = 0;
    const uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        UNROLL for (int j = 0; j < LDMATRIX_EACH; ++j) {
            uint32_t r[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                         : "r"(args.items ? address : address + j * 512));
            if (args.items) address += r[0]; /* zero */
            else sum += r[0] + r[1] + r[2] + r[3];
        }
    use(&args, sum + address);
    finish(shared, &args, begin);
}

/* 0 and 1: cycles in which a warpgroup issues `k` groups of `group` wgmmas of this shape, and waits
 * until `pending` groups are under way. `splits`: the TMA fills meanwhile. */
#define WGMMA(name, n, group, pending)                                                             \
    KERNEL(MOST_THREADS, 1) name(KERNEL_ARGS args) {                                               \
        SHARED_MEMORY(struct smem);                                                                \
        prepare(shared);                                                                           \
        if (threadIdx.x < 128) {                                                                   \
            if (threadIdx.x == 0 && args.splits) fill(shared, &args, blockDim.x / 128 - 1);        \
            return;                                                                                \
        }                                                                                          \
        float acc[n / 2];                                                                          \
        UNROLL for (int i = 0; i < n / 2; ++i) acc[i] = 0.0f;                                      \
        const uint64_t a = wgmma_descriptor(shared_address(shared->a[warp_index() / 4 - 1]), 0,    \
                                            1024, SWIZZLE_128B);                                   \
        const uint64_t b = wgmma_descriptor(shared_address(shared->b), 0, 1024, SWIZZLE_128B);     \
        const uint64_t begin = clock_now();                                                        \
        NO_UNROLL for (int i = 0; i < args.k; ++i) {                                               \
            wgmma_fence();                                                                         \
            UNROLL for (int j = 0; j < group; ++j)                                                 \
                wgmma_m64nNk16(n, acc, a + j % 4 * 2, b + j % 4 * 2, 1);                           \
            wgmma_commit_group();                                                                  \
            wgmma_wait_group(pending);                                                             \
        }                                                                                          \
        wgmma_wait_group(0);                                                                       \
        wgmma_use_registers(acc, n / 2);                                                           \
        finish(shared, &args, begin);                                                              \
        float sum = 0.0f;                                                                          \
        UNROLL for (int i = 0; i < n / 2; ++i) sum += acc[i];                                      \
        use(&args, __float_as_uint(sum));                                                          \
    }                                                                                              \
    PROBE(name, MOST_THREADS, sizeof(struct smem))
WGMMA(wgmma_8, 8, WGMMA_GROUP, 1)
WGMMA(wgmma_64, 64, WGMMA_GROUP, 1)
WGMMA(wgmma_128, 128, WGMMA_GROUP, 1)
WGMMA(wgmma_192, 192, WGMMA_GROUP, 1)
WGMMA(wgmma_256, 256, WGMMA_GROUP, 1)
WGMMA(wgmma_128_wait0, 128, WGMMA_GROUP, 0)
WGMMA(wgmma_256_wait0, 256, WGMMA_GROUP, 0)
WGMMA(wgmma_128_alone, 128, 1, 0)

/* 1: cycles in which warpgroup 2 adds `k` times its accumulators, times a scale, to sums: PROMOTED
 * multiply-adds of each thread. With `items` warpgroup 1 multiplies all that time. */
KERNEL(MOST_THREADS, 1) promote(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    prepare(shared);
    if (threadIdx.x < 128 || (threadIdx.x < 256 && !args.items)) return;
    float acc[PROMOTED], sum[PROMOTED];
    UNROLL for (int i = 0; i < PROMOTED; ++i) acc[i] = sum[i] = 0.0f;
    const float scale[2] = {(float)args.k, (float)args.m};
    const uint64_t begin = clock_now();
    if (threadIdx.x < 256) {
        const uint64_t a = wgmma_descriptor(shared_address(shared->a[0]), 0, 1024, SWIZZLE_128B);
        const uint64_t b = wgmma_descriptor(shared_address(shared->b), 0, 1024, SWIZZLE_128B);
        NO_UNROLL for (int i = 0; i < args.k; ++i) {
            wgmma_fence();
            UNROLL for (int j = 0; j < WGMMA_GROUP; ++j)
                wgmma_m64nNk16(128, acc, a + j % 4 * 2, b + j % 4 * 2, 1);
            wgmma_commit_group();
            wgmma_wait_group(1);
        }
        wgmma_wait_group(0);
        wgmma_use_registers(acc, PROMOTED);
    } else {
        NO_UNROLL for (int i = 0; i < args.k; ++i) {
            wgmma_promote(sum, acc, scale, PROMOTED);
            wgmma_use_registers(sum, PROMOTED);
        }
    }
    finish(shared, &args, begin);
    UNROLL for (int i = 0; i < PROMOTED; ++i) sum[0] += acc[i] + sum[i];
    use(&args, __float_as_uint(sum[0]));
}

PROBE(mma, MMA_THREADS, 0)
PROBE(promote, MOST_THREADS, sizeof(struct smem))
PROBE(ldmatrix, MOST_THREADS, sizeof(struct smem))
