/*
 * 17_next_fragment.cu: A's next fragments are loaded into registers that a wgmma still reads.
 *
 * title: The next fragment
 * kind: reuse
 * project: DeepGEMM, https://github.com/deepseek-ai/DeepGEMM/issues/449
 * symptom: two calls with the same input differ
 * reports: fragment-in-flight
 * does: A warpgroup multiplies three k-tiles; A goes from shared memory to registers, B stays in
 *   shared memory.
 */
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { THREADS = 128, TILES = 3, STEPS = BOX_ROWS / 16 };
struct smem {
    element_t a[TILES][BOX_ELEMENTS], b[TILES][BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) a_from_registers(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->landed, 2 * TILES * BOX_BYTES);
        for (int k = 0; k < TILES; ++k) {
            tma_load(shared->a[k], &args.map_a, 0, k * BOX_ROWS, &shared->landed);
            tma_load(shared->b[k], &args.map_b, 0, k * BOX_ROWS, &shared->landed);
        }
    }
    mbarrier_wait(&shared->landed, 0);
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    float acc[BOX_ROWS / 2] = {0};
    uint32_t fragment[STEPS][4];
    /* A loop: unrolled, a compiler may take other registers for each k-tile. */
    NO_UNROLL for (int k = 0; k < TILES; ++k) {
        UNROLL for (int step = 0; step < STEPS; ++step) {
            const void* const chunk = &shared->a[k][BOX_CHUNK(row * 8 + step * 2 + half)];
            ldmatrix_x4(fragment[step], chunk); /* accused: fragment-in-flight */
        }
#if !FIXED
        wgmma_wait_group(0);
#endif
        wgmma_fence();
        const uint64_t b = box_descriptor(shared->b[k]);
        UNROLL for (int step = 0; step < STEPS; ++step)
            wgmma_m64nNk16_rs(64, acc, fragment[step], b + step * 2, k > 0 || step > 0);
        wgmma_commit_group();
#if FIXED
        wgmma_wait_group(0);
#endif
    }
    wgmma_wait_group(0);
    UNROLL for (int i = 0; i < BOX_ROWS / 2; i += 2)
        st_global_b32(&args.d[product_place(i)], pack_elements(acc[i], acc[i + 1]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < BOX_ELEMENTS; ++i) {
        const int row = i / BOX_ROWS, column = i % BOX_ROWS;
        wrong += d[row * MUSEUM_EXTENT + column] !=
                 float_to_bf16(product_of(a, b, row, column, 0, TILES));
    }
    return wrong;
}

EXHIBIT(a_from_registers, 1, 1, THREADS, struct smem, count_wrong);
