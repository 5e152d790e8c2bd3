/*
 * 14_two_warps_expected.cu: a named barrier for two warps, and five come.
 *
 * title: A barrier for two warps, and five come
 * kind: count
 * project: QuACK, https://github.com/Dao-AILab/quack/pull/146
 * symptom: the kernel hangs
 * reports: barrier-shared
 * does: Four warps load, and a fifth waits at a named barrier until all of them have begun.
 */
#include "hopper/thread.h"
#include "tests/museum/museum.h"

enum { LOADERS = 4, THREADS = (LOADERS + 1) * 32, FIRST_LOADS_OUT = 1 };
struct smem {
    uint32_t loaded[LOADERS];
};
#if FIXED
#define EXPECTED THREADS
#else
#define EXPECTED 64
#endif

KERNEL(THREADS, 1) epilogue_load(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index();
    if (warp < LOADERS) {
        /* accused: data-race */
        if (threadIdx.x % 32 == 0) st_shared_b32(&shared->loaded[warp], warp + 1);
        named_barrier_arrive(FIRST_LOADS_OUT, EXPECTED); /* accused: barrier-shared */
        return;
    }
    named_barrier_sync(FIRST_LOADS_OUT, EXPECTED); /* accused: barrier-shared */
    if (threadIdx.x % 32 < LOADERS) {
        const uint32_t loaded = ld_shared_b32(&shared->loaded[threadIdx.x % 32]);
        st_global_b32(&args.d[threadIdx.x % 32 * 2], loaded);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)a, (void)b;
    for (int i = 0; i < LOADERS; ++i)
        wrong += d[2 * i] != i + 1 || d[2 * i + 1] != 0;
    return wrong;
}

EXHIBIT(epilogue_load, 1, 1, THREADS, struct smem, count_wrong);
