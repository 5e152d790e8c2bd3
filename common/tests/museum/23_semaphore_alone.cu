/*
 * 23_semaphore_alone.cu: a CTA passes its partial sums on by a semaphore, without a fence.
 *
 * title: A semaphore alone
 * kind: scope
 * project: nvFuser, https://github.com/NVIDIA/Fuser/pull/2391
 * symptom: none is reported
 * reports: data-race
 * does: CTA 0 leaves partial sums in global memory and passes the turn on. CTA 1 waits for its turn
 *   and reads them.
 */
#include "hopper/atomics.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CTAS = 2 };
struct smem {
    uint32_t nothing;
};

KERNEL(THREADS, 1) take_turns(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    uint32_t *const turn = args.tile_counter;
    if (blockIdx.x == 0) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_global_b128(&args.d[MATRIX_CHUNK(0, i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
        __syncthreads();
        if (threadIdx.x == 0) {
#if FIXED
            fence_acq_rel(SCOPE_GPU);
#endif
            atomic_add_relaxed(turn, 1, SCOPE_GPU);
        }
    } else {
        if (threadIdx.x == 0)
            while (ld_global_acquire(turn, SCOPE_GPU) == 0) {
            }
        __syncthreads();
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            /* accused: data-race */
            const struct b128 chunk = ld_global_b128(&args.d[MATRIX_CHUNK(0, i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(1, i)], chunk);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int i = 0; i < BOX_ELEMENTS; ++i)
        for (int n = 0; n < CTAS; ++n)
            wrong += d[(PLACE_ROW(n) + i / BOX_ROWS) * MUSEUM_EXTENT + i % BOX_ROWS] !=
                     a[i / BOX_ROWS * MUSEUM_EXTENT + i % BOX_ROWS];
    return wrong;
}

EXHIBIT(take_turns, CTAS, 1, THREADS, struct smem, count_wrong);
