/*
 * 27_load_in_flight.cu: sums are released while they are still being loaded. For Blackwell.
 *
 * title: A load in flight
 * kind: Blackwell
 * project: FlashInfer, https://github.com/flashinfer-ai/flashinfer/issues/5334
 * symptom: none was seen
 * reports: tensor-load-in-flight
 * does: One thread multiplies two tiles, one after the other, into the same columns of tensor
 *   memory. A warpgroup loads each tile's sums and stores them.
 */
#include "blackwell/tcgen05.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { READERS = 128, THREADS = READERS + 32, TILES = 2, BM = 2 * BOX_ROWS, BN = BOX_ROWS };
struct smem {
    element_t a[TILES][2][BOX_ELEMENTS], b[TILES][BOX_ELEMENTS];
    mbarrier_t landed, full, empty;
    uint32_t sums;
};

/* One thread: each tile is one k-tile long. */
DEVICE void multiply(struct smem *shared, const struct gemm_args *args, uint32_t sums) {
    mbarrier_arrive_expect_tx(&shared->landed, 3 * TILES * BOX_BYTES);
    for (int tile = 0; tile < TILES; ++tile) {
        for (int i = 0; i < 2; ++i)
            tma_load(shared->a[tile][i], &args->map_a, i * BOX_ROWS, tile * BOX_ROWS,
                     &shared->landed);
        tma_load(shared->b[tile], &args->map_b, 0, tile * BOX_ROWS, &shared->landed);
    }
    mbarrier_wait(&shared->landed, 0);
    for (int tile = 0; tile < TILES; ++tile) {
        mbarrier_wait_relaxed(&shared->empty, tile % 2 ^ 1);
        tcgen05_fence_after();
        const uint64_t a =
            tcgen05_descriptor(shared_address(shared->a[tile]), 0, 1024, SWIZZLE_128B);
        const uint64_t b =
            tcgen05_descriptor(shared_address(shared->b[tile]), 0, 1024, SWIZZLE_128B);
        for (int step = 0; step < BOX_ROWS / 16; ++step)
            /* accused: tensor-load-in-flight */
            tcgen05_mma(1, sums, a + step * 2, b + step * 2, tcgen05_instruction(BM, BN), step > 0);
        tcgen05_commit(1, &shared->full);
    }
}

KERNEL(THREADS, 1) one_set_of_sums(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, READERS);
        fence_mbarrier_init();
    }
    if (warp == 0) tcgen05_alloc(1, &shared->sums, BN);
    __syncthreads();
    const uint32_t sums = ld_shared_b32(&shared->sums);
    if (threadIdx.x == READERS) multiply(shared, &args, sums);
    for (int tile = 0; tile < TILES && threadIdx.x < READERS; ++tile) {
        float values[BN];
        mbarrier_wait_relaxed(&shared->full, tile % 2);
        tcgen05_fence_after();
        tcgen05_load(64, values, sums + ((uint32_t)warp * 32 << 16));
#if FIXED
        tcgen05_wait_load();
#endif
        tcgen05_fence_before();
        mbarrier_arrive_relaxed(&shared->empty);
        for (int i = 0; i < BN; i += 2)
            st_global_b32(&args.d[threadIdx.x * MUSEUM_EXTENT + tile * BN + i],
                          pack_elements(values[i], values[i + 1]));
        tcgen05_wait_load();
    }
    __syncthreads();
    if (warp == 0) tcgen05_dealloc(1, sums, BN);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < TILES * BM * BN; ++i) {
        const int tile = i / (BM * BN), row = i / BN % BM, column = i % BN;
        wrong += d[row * MUSEUM_EXTENT + tile * BN + column] !=
                 float_to_bf16(product_of(a, b, row, column, tile, tile + 1));
    }
    return wrong;
}

BLACKWELL_EXHIBIT(one_set_of_sums, 1, 1, THREADS, struct smem, count_wrong);
