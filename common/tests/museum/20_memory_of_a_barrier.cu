/*
 * 20_memory_of_a_barrier.cu: the memory of an mbarrier is used for data while it is still one.
 *
 * title: The memory of a barrier
 * kind: reuse
 * project: Triton, https://github.com/triton-lang/triton/pull/3858
 * symptom: sporadic corruption of memory
 * reports: mbarrier-not-invalidated
 * does: A warp waits for a copy. Then the memory of its barrier is used for a number.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32 };
struct smem {
    element_t box[BOX_ELEMENTS];
    union {
        mbarrier_t landed;
        uint32_t scratch[2];
    } place;
};

KERNEL(THREADS, 1) reuse_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    mbarrier_t *const landed = &shared->place.landed;
    if (threadIdx.x == 0) {
        mbarrier_init(landed, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(landed, BOX_BYTES);
        tma_load(shared->box, &args.map_a, 0, 0, landed);
    }
    __syncwarp();
    mbarrier_wait(landed, 0);
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
        const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
        st_global_b128(&args.d[MATRIX_CHUNK(0, i)], chunk);
    }
    __syncwarp();
    if (threadIdx.x == 0) {
#if FIXED
        mbarrier_inval(landed);
#endif
        /* accused: mbarrier-not-invalidated */
        st_shared_b32(&shared->place.scratch[0], 7);
    }
    __syncwarp();
    const uint32_t seven = ld_shared_b32(&shared->place.scratch[0]);
    if (threadIdx.x < BOX_ROWS / 2)
        st_global_b32(&args.d[MATRIX_CHUNK(1, 0) + threadIdx.x * 2], seven);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = count_not_copied(a, d, 0, 1);
    (void)b;
    for (int i = 0; i < BOX_ROWS; ++i)
        wrong += d[PLACE_ROW(1) * MUSEUM_EXTENT + i] != (i % 2 ? 0 : 7);
    return wrong;
}

EXHIBIT(reuse_barrier, 1, 1, THREADS, struct smem, count_wrong);
