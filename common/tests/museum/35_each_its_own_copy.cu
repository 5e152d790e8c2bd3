/*
 * 35_each_its_own_copy.cu: the wait for cp.async speaks for the thread that has copied, and all of
 * a tile is multiplied.
 *
 * title: Each its own copy
 * kind: scope
 * project: CUTLASS, tutorial wgmma_sm90, https://github.com/NVIDIA/cutlass
 * symptom: none is told
 * reports: read-before-landed
 * does: A warpgroup copies tiles of A and B by cp.async, a part of them each thread, and multiplies
 *   them.
 */
#include "hopper/cp_async.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { THREADS = 128, TILES = 3, STAGES = 2 };
struct smem {
    element_t a[STAGES][BOX_ELEMENTS], b[STAGES][BOX_ELEMENTS];
};

/* A macro, so that a report names the kernel's line. */
#define copy_tile(stage, matrix, k)                                                                \
    do {                                                                                           \
        for (int i_ = threadIdx.x; i_ < BOX_CHUNKS; i_ += THREADS)                                 \
            cp_async_16(&(stage)[BOX_CHUNK(i_)],                                                   \
                        &(matrix)[MATRIX_CHUNK((k) * MUSEUM_BOXES, i_)], 16);                      \
    } while (0)

KERNEL(THREADS, 1) piped_gemm(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[BOX_ROWS / 2];
    copy_tile(shared->a[0], args.a, 0);
    copy_tile(shared->b[0], args.b, 0);
    cp_async_commit_group();
    NO_UNROLL for (int k = 0; k < TILES; ++k) {
        const int stage = k % STAGES;
        cp_async_wait_group(0);
        fence_proxy_async();
#if FIXED
        __syncthreads();
#endif
        /* accused: read-before-landed */
        issue_product(acc, shared->a[stage], shared->b[stage], k > 0);
        if (k + 1 < TILES) {
            copy_tile(shared->a[1 - stage], args.a, k + 1);
            copy_tile(shared->b[1 - stage], args.b, k + 1);
            cp_async_commit_group();
        }
        wgmma_wait_group(0);
        wgmma_use_registers(acc, BOX_ROWS / 2);
    }
    UNROLL for (int i = 0; i < BOX_ROWS / 2; i += 2)
        st_global_b32(&args.d[product_place(i)], pack_elements(acc[i], acc[i + 1]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < BOX_ELEMENTS; ++i) {
        const int row = i / BOX_ROWS, column = i % BOX_ROWS;
        const float sum = product_of(a, b, row, column, 0, TILES);
        wrong += d[row * MUSEUM_EXTENT + column] != float_to_bf16(sum);
    }
    return wrong;
}

EXHIBIT(piped_gemm, 1, 1, THREADS, struct smem, count_wrong);
