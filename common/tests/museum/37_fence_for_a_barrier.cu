/*
 * 37_fence_for_a_barrier.cu: before the store of one thread each executes a fence, and none waits.
 *
 * title: A fence for a barrier
 * kind: scope
 * project: simplegemm, stmatrix.cu, https://github.com/bertmaher/simplegemm
 * symptom: none is told
 * reports: data-race
 * does: A warpgroup stores fragments with stmatrix, and one thread lets the TMA bring them to D.
 */
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, WARP_ROWS = BOX_ROWS / 4 };
struct smem {
    element_t tile[BOX_ELEMENTS];
};

KERNEL(THREADS, 1) staged_store(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * WARP_ROWS;
    for (int chunk = 0; chunk < BOX_ROWS / 8; chunk += 2) {
        uint32_t pair[4];
        for (int i = 0; i < 4; ++i) {
            const int row = first + i % 2 * 8 + lane / 4;
            const int column = (chunk + i / 2) * 8 + lane % 4 * 2;
            pair[i] = ld_global_b32(&args.a[row * MUSEUM_EXTENT + column]);
        }
        stmatrix_x4(&shared->tile[BOX_CHUNK((first + lane % 16) * 8 + chunk + lane / 16)], pair);
    }
    fence_proxy_async();
#if FIXED
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        /* accused: data-race */
        tma_store(&args.map_d, 0, 0, shared->tile);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, 1);
}

EXHIBIT(staged_store, 1, 1, THREADS, struct smem, count_wrong);
