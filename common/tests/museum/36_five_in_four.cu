/*
 * 36_five_in_four.cu: five tiles are copied into a ring of four stages.
 *
 * title: Five in four
 * kind: count
 * project: cuda-samples, globalToShmemAsyncCopy, https://github.com/NVIDIA/cuda-samples
 * symptom: none; the sample's matrices have one value
 * reports: overwritten-in-flight
 * does: Threads copy tiles into a ring by cp.async, each a part, some tiles ahead of the one that
 *   they store.
 */
#include "hopper/cp_async.h"
#include "hopper/thread.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, TILES = 7, STAGES = 4 };
#if FIXED
enum { COPIED = STAGES - 1 }; /* others may still read the tile before */
#else
enum { COPIED = STAGES + 1 }; /* with the tile that is next */
#endif
struct smem {
    element_t ring[STAGES][BOX_ELEMENTS];
};

KERNEL(THREADS, 1) copied_ahead(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    for (int n = 0, next = 0; n < TILES; ++n) {
        for (; next < n + COPIED; ++next) {
            for (int i = threadIdx.x; next < TILES && i < BOX_CHUNKS; i += THREADS) {
                element_t *const to = &shared->ring[next % STAGES][BOX_CHUNK(i)];
                /* accused: overwritten-in-flight */
                cp_async_16(to, &args.a[MATRIX_CHUNK(next, i)], 16);
            }
            cp_async_commit_group();
        }
        cp_async_wait_group(COPIED - 1);
        __syncthreads();
        const element_t *const tile = shared->ring[n % STAGES];
        for (int i = THREADS - 1 - threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            const struct b128 chunk = ld_shared_b128(&tile[BOX_CHUNK(i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(copied_ahead, 1, 1, THREADS, struct smem, count_wrong);
