/*
 * 40_map_under_a_store.cu: a wait that is right for the stages of a ring is not enough for the map
 * of their stores.
 *
 * title: A map under a store
 * kind: reuse
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/issues/2162
 * symptom: very rarely a patch of 128 x 32 elements differs between two runs
 * reports: tensor-map-in-use
 * does: One warp copies a tile of each matrix through two stages: the lanes fill a stage, and the
 *   TMA stores it. All stores go through one map in global memory, changed for each matrix.
 */
#include "hopper/tensormap.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, MATRICES = 4, STAGES = 2 };
struct smem {
    element_t stage[STAGES][BOX_ELEMENTS];
    struct tensor_map map __attribute__((aligned(128)));
};

KERNEL(THREADS, 1) store_matrices(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    struct tensor_map *map = (struct tensor_map *)&args.d[MATRIX_CHUNK(15, 0)];
    st_shared_b32((uint32_t *)&shared->map + threadIdx.x,
                  ((const uint32_t *)&args.map_d)[threadIdx.x]);
    for (int n = 0; n < MATRICES; ++n) {
        element_t *const stage = shared->stage[n % STAGES];
#if FIXED
        bulk_wait_group_read(0);
#else
        bulk_wait_group_read(STAGES - 1);
#endif
        __syncwarp();
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_shared_b128(&stage[BOX_CHUNK(i)], ld_global_b128(&args.a[MATRIX_CHUNK(n, i)]));
        fence_proxy_async();
        if (threadIdx.x == 0)
            tensor_map_replace_address(&shared->map, &args.d[MATRIX_CHUNK(n, 0)]);
        __syncwarp();
        /* accused: tensor-map-in-use */
        tensor_map_copy_release(map, &shared->map, SCOPE_CTA);
        fence_tensor_map_acquire(map, SCOPE_CTA);
        if (threadIdx.x == 0) {
            tma_store(map, 0, 0, stage);
            bulk_commit_group();
        }
    }
    bulk_wait_group(0);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, MATRICES);
}

EXHIBIT(store_matrices, 1, 1, THREADS, struct smem, count_wrong);
