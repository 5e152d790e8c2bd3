/*
 * 19_shared_operand.cu: each warpgroup waits for its own wgmma, and overwrites what both read.
 *
 * All threads stage a tile of A, two warpgroups multiply it, each by a B of its own.
 *
 * title: An operand that two share
 * kind: reuse
 * project: tilelang, https://github.com/tile-ai/tilelang/issues/2613
 * symptom: silently wrong results
 * reports: overwritten-while-read
 */
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { GROUPS = 2, THREADS = GROUPS * 128, TILES = 4 };
struct smem {
    element_t a[BOX_ELEMENTS], b[GROUPS][TILES][BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) two_groups(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&shared->landed, GROUPS * TILES * BOX_BYTES);
        for (int i = 0; i < GROUPS * TILES; ++i)
            tma_load(shared->b[i / TILES][i % TILES], &args.map_b, i / TILES * BOX_ROWS,
                     i % TILES * BOX_ROWS, &shared->landed);
    }
    __syncthreads();
    mbarrier_wait(&shared->landed, 0);
    float acc[BOX_ROWS / 2];
    NO_UNROLL for (int k = 0; k < TILES; ++k) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            const struct b128 chunk =
                ld_global_b128(&args.a[i / 8 * MUSEUM_EXTENT + k * BOX_ROWS + i % 8 * 8]);
            st_shared_b128(&shared->a[BOX_CHUNK(i)], chunk); /* accused: overwritten-while-read */
        }
        fence_proxy_async();
        __syncthreads();
        issue_product(acc, shared->a, shared->b[group][k], k > 0);
        wgmma_wait_group(0);
#if FIXED
        __syncthreads();
#endif
    }
    UNROLL for (int i = 0; i < BOX_ROWS / 2; i += 2)
        st_global_b32(&args.d[product_place(i) + group * BOX_ROWS],
                      pack_elements(acc[i], acc[i + 1]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < GROUPS * BOX_ELEMENTS; ++i) {
        const int row = i / (GROUPS * BOX_ROWS), column = i % (GROUPS * BOX_ROWS);
        wrong += d[row * MUSEUM_EXTENT + column] !=
                 float_to_bf16(product_of(a, b, row, column, 0, TILES));
    }
    return wrong;
}

EXHIBIT(two_groups, 1, 1, THREADS, struct smem, count_wrong);
