/*
 * 42_in_one_step.cu: the lanes of a warp add in place, and one reads what another writes.
 *
 * title: In one step
 * kind: reuse
 * project: learn-cuda, https://github.com/gau-nernst/learn-cuda
 * symptom: none is told
 * reports: data-race
 * does: A warp adds the chunks of 32 lanes in five steps: each lane adds the chunk that lies 16,
 *   then 8, 4, 2 and 1 places further.
 */
#include "hopper/thread.h"
#include "tests/museum/museum.h"

enum { THREADS = 32 };
struct smem {
    struct b128 part[2 * THREADS];
};

KERNEL(THREADS, 1) warp_sum(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int lane = threadIdx.x;
    for (int i = lane; i < 2 * THREADS; i += THREADS)
        st_shared_b128(&shared->part[i], ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
    __syncwarp();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        /* accused: data-race */
        const struct b128 other = ld_shared_b128(&shared->part[lane + stride]);
        struct b128 sum = ld_shared_b128(&shared->part[lane]);
        for (int i = 0; i < 4; ++i) sum.word[i] += other.word[i];
#if FIXED
        __syncwarp();
#endif
        st_shared_b128(&shared->part[lane], sum); /* accused: data-race */
        __syncwarp();
    }
    if (lane == 0) st_global_b128(args.d, ld_shared_b128(&shared->part[0]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int word = 0; word < 4; ++word) {
        uint32_t sum = 0;
        for (int i = 0; i < THREADS; ++i) {
            const uint16_t *const part = &a[MATRIX_CHUNK(0, i) + 2 * word];
            sum += part[0] | (uint32_t)part[1] << 16;
        }
        wrong += sum != (d[2 * word] | (uint32_t)d[2 * word + 1] << 16);
    }
    return wrong;
}

EXHIBIT(warp_sum, 1, 1, THREADS, struct smem, count_wrong);
