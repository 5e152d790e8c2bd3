/*
 * 12_pair_across_groups.cu: each CTA of a pair decides for itself whether one loads for both.
 *
 * title: A pair that does not agree
 * kind: count
 * project: DeepGEMM, https://github.com/deepseek-ai/DeepGEMM/pull/415
 * symptom: a hang, because rank 1 waits for bytes that rank 0 does not send
 * reports: deadlock
 * does: The tiles of two groups, three and five, are numbered consecutively; two CTAs of a cluster
 *   have neighbouring tiles. If both need the same box, rank 0 loads it for both.
 */
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CLUSTER = 2, FIRST_GROUP = 3, TILES = 8 };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t full;
};

/* Every tile of a group needs the same box. */
#define PLACE_OF(tile) ((tile) >= FIRST_GROUP)

KERNEL(THREADS, 1) grouped(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int tile = (int)blockIdx.x, rank = (int)cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
#if FIXED
    const bool together = PLACE_OF(tile - rank) == PLACE_OF(tile - rank + 1);
#else
    const bool together = tile != FIRST_GROUP - 1; /* not the last of an odd number */
#endif
    if (threadIdx.x == 0) {
        const int row = PLACE_ROW(PLACE_OF(tile));
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        if (!together)
            tma_load(shared->box, &args.map_a, row, 0, &shared->full);
        else if (rank == 0)
            tma_load_multicast(shared->box, &args.map_a, row, 0, &shared->full, 3);
    }
    mbarrier_wait(&shared->full, 0); /* accused: deadlock */
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
        const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
        st_global_b128(&args.d[MATRIX_CHUNK(tile, i)], chunk);
    }
    cluster_sync();
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int n = 0; n < TILES; ++n)
        for (int i = 0; i < BOX_ELEMENTS; ++i) {
            const int row = i / BOX_ROWS, column = i % BOX_ROWS;
            wrong += d[(PLACE_ROW(n) + row) * MUSEUM_EXTENT + PLACE_COLUMN(n) + column] !=
                     a[(PLACE_ROW(PLACE_OF(n)) + row) * MUSEUM_EXTENT + column];
        }
    return wrong;
}

EXHIBIT(grouped, TILES, CLUSTER, THREADS, struct smem, count_wrong);
