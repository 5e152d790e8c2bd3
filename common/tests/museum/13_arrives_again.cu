/*
 * 13_arrives_again.cu: a warp arrives at a named barrier, has nothing to do, and arrives again.
 *
 * title: Two arrivals of one warp
 * kind: count
 * project: vLLM, https://github.com/vllm-project/vllm/pull/26026
 * symptom: workers hang under load
 * reports: barrier-count
 * does: Two warps go from tile to tile and meet at the end of each. Warp 0 has nothing to compute.
 */
#include "hopper/thread.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, TILES = 4, TILE_ENDS = 1 };
struct smem {
    uint32_t nothing;
};

KERNEL(THREADS, 1) empty_tiles(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    for (int n = 0; n < TILES; ++n) {
        if (warp_index() == 0) {
#if FIXED
            named_barrier_sync(TILE_ENDS, THREADS);
#else
            /* accused: barrier-shared, barrier-count */
            named_barrier_arrive(TILE_ENDS, THREADS);
#endif
        } else {
            for (int i = threadIdx.x - 32; i < BOX_CHUNKS; i += 32)
                st_global_b128(&args.d[MATRIX_CHUNK(n, i)],
                               ld_global_b128(&args.a[MATRIX_CHUNK(n, i)]));
            named_barrier_sync(TILE_ENDS, THREADS);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(empty_tiles, 1, 1, THREADS, struct smem, count_wrong);
