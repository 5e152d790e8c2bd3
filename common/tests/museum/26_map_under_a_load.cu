/*
 * 26_map_under_a_load.cu: a tensor map is changed while loads that use it are under way.
 *
 * One warp loads a box of one matrix after the other, all through the same map in global memory; at
 * last all boxes go to D. The map lies in D's last place.
 *
 * title: A map under a load
 * kind: reuse
 * project: DeepGEMM, https://github.com/deepseek-ai/DeepGEMM/pull/343
 * symptom: wrong sums, different in each run
 * reports: tensor-map-in-use
 */
#include "hopper/tensormap.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, MATRICES = 4 };
struct smem {
    element_t box[MATRICES][BOX_ELEMENTS];
    struct tensor_map map __attribute__((aligned(128)));
    mbarrier_t landed[MATRICES];
};

KERNEL(THREADS, 1) load_matrices(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    struct tensor_map *map = (struct tensor_map *)&args.d[MATRIX_CHUNK(15, 0)];
    if (threadIdx.x == 0) {
        for (int n = 0; n < MATRICES; ++n) mbarrier_init(&shared->landed[n], 1);
        fence_mbarrier_init();
    }
    st_shared_b32((uint32_t *)&shared->map + threadIdx.x,
                  ((const uint32_t *)&args.map_a)[threadIdx.x]);
    for (int n = 0; n < MATRICES; ++n) {
#if FIXED
        if (n > 0) mbarrier_wait(&shared->landed[n - 1], 0);
#endif
        __syncwarp();
        if (threadIdx.x == 0)
            tensor_map_replace_address(&shared->map, &args.a[MATRIX_CHUNK(n, 0)]);
        __syncwarp();
        /* accused: tensor-map-in-use */
        tensor_map_copy_release(map, &shared->map, SCOPE_CTA);
        fence_tensor_map_acquire(map, SCOPE_CTA);
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&shared->landed[n], BOX_BYTES);
            tma_load(shared->box[n], map, 0, 0, &shared->landed[n]);
        }
    }
    for (int n = 0; n < MATRICES; ++n) {
        mbarrier_wait(&shared->landed[n], 0);
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_global_b128(&args.d[MATRIX_CHUNK(n, i)],
                           ld_shared_b128(&shared->box[n][BOX_CHUNK(i)]));
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, MATRICES);
}

EXHIBIT(load_matrices, 1, 1, THREADS, struct smem, count_wrong);
