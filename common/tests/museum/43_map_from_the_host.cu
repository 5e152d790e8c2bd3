/*
 * 43_map_from_the_host.cu: the host has copied a tensor map to global memory, and the kernel uses
 * it without an acquire.
 *
 * title: A map from the host
 * kind: proxy, a practice
 * project: fast.cu, https://github.com/pranjalssh/fast.cu
 * symptom: none is told
 * reports: tensor-map-not-acquired
 * does: One thread lets the TMA load a box and store it. The map of the load lies in global memory,
 *   where the host has copied it before the launch.
 */
#include "hopper/tensormap.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32 };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) copy_box(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tensor_map *const map = MUSEUM_MAP_A(args);
    if (threadIdx.x != 0) return;
    mbarrier_init(&shared->landed, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&shared->landed, BOX_BYTES);
#if FIXED
    fence_tensor_map_acquire(map, SCOPE_SYS);
#endif
    tma_load(shared->box, map, 0, 0, &shared->landed); /* accused: tensor-map-not-acquired */
    mbarrier_wait(&shared->landed, 0);
    tma_store(&args.map_d, 0, 0, shared->box);
    bulk_commit_group();
    bulk_wait_group(0);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, 1);
}

EXHIBIT(copy_box, 1, 1, THREADS, struct smem, count_wrong);
