/*
 * 25_one_lane_arrives.cu: 32 lanes store, and one of them arrives for all.
 *
 * title: One lane arrives
 * kind: scope
 * project: cuDNN's frontend, https://github.com/NVIDIA/cudnn-frontend/pull/426
 * symptom: none in the results, according to its title: "latent"
 * reports: data-race
 * does: The lanes of one warp store weights to shared memory, and one of them tells the four warps
 *   that compute.
 */
#include "hopper/mbarrier.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 160, LOADER = 128 /* its first thread; the warps before compute */ };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t loaded;
};

KERNEL(THREADS, 1) load_weights(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->loaded, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x >= LOADER) {
        for (int i = threadIdx.x - LOADER; i < BOX_CHUNKS; i += 32)
            st_shared_b128(&shared->box[BOX_CHUNK(i)], ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
        fence_proxy_async();
#if FIXED
        __syncwarp();
#endif
        if (threadIdx.x == LOADER) mbarrier_arrive(&shared->loaded);
    } else {
        mbarrier_wait(&shared->loaded, 0);
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += LOADER) {
            /* accused: data-race */
            const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(0, i)], chunk);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, 1);
}

EXHIBIT(load_weights, 1, 1, THREADS, struct smem, count_wrong);
