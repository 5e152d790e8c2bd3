/*
 * 39_no_answer.cu: a scheduler announces the next tile, and nobody tells it that the last one has
 * been read. The fix has two places: the practice asks for none.
 *
 * title: No answer
 * kind: reuse
 * project: cuda-oxide, https://github.com/NVlabs/cuda-oxide/pull/1066
 * symptom: 264 of 1024 tiles are not written, on a B200, if some waits are delayed
 * run: --schedule random --schedule-seed 3
 * reports: data-race
 */
#include "hopper/atomics.h"
#include "hopper/mbarrier.h"
#include "tests/museum/museum.h"

enum { THREADS = 96, READERS = 64, TILES = MUSEUM_BOXES };
struct smem {
    struct b128 place;
    mbarrier_t full, empty;
};

KERNEL(THREADS, 1) copy_tiles(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, READERS);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == READERS) {
        uint32_t tile = 0;
        for (int n = 0; tile < TILES; ++n) {
            tile = atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
            const struct b128 place = {{tile, 0, 0, 0}};
#if FIXED
            mbarrier_wait(&shared->empty, n % 2 ^ 1);
#endif
            st_shared_b128(&shared->place, place); /* accused: data-race */
            mbarrier_arrive(&shared->full);
        }
    }
    if (threadIdx.x >= READERS) return;
    for (int n = 0;; ++n) {
        mbarrier_wait(&shared->full, n % 2); /* accused: lapped-waiter */
        const struct b128 place = ld_shared_b128(&shared->place);
#if FIXED
        mbarrier_arrive(&shared->empty);
#endif
        if (place.word[0] >= TILES) return;
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += READERS)
            st_global_b128(&args.d[MATRIX_CHUNK(place.word[0], i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(place.word[0], i)]));
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(copy_tiles, 1, 1, THREADS, struct smem, count_wrong);
