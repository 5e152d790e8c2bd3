/*
 * 01_empty_sequence.cu: the only proxy fence stands in a loop, and the sequence may be empty.
 *
 * title: A fence in a loop that does not run
 * kind: proxy
 * project: FlashKDA, https://github.com/MoonshotAI/FlashKDA/issues/24
 * symptom: none was seen
 * reports: missing-proxy-fence
 * does: Each CTA adds the tiles of a sequence to a state in shared memory, and the TMA stores the
 *   state.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, SEQUENCES = 2 };
struct smem {
    element_t state[BOX_ELEMENTS];
};

KERNEL(THREADS, 1) fold_sequence(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int tiles = (int)blockIdx.x;
    const struct b128 zero = {{0, 0, 0, 0}};
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
        st_shared_b128(&shared->state[BOX_CHUNK(i)], zero);
#if FIXED
    fence_proxy_async();
#endif
    __syncthreads();
    for (int tile = 1; tile <= tiles; ++tile) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_shared_b128(&shared->state[BOX_CHUNK(i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(tile, i)]));
        fence_proxy_async();
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const int n = (int)blockIdx.x;
        tma_store(&args.map_d, PLACE_ROW(n), 0, shared->state); /* accused: missing-proxy-fence */
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    int wrong = count_not_copied(a, d, 1, SEQUENCES);
    for (int i = 0; i < BOX_ELEMENTS; ++i)
        wrong += d[i / BOX_ROWS * MUSEUM_EXTENT + i % BOX_ROWS] != 0;
    return wrong;
}

EXHIBIT(fold_sequence, SEQUENCES, 1, THREADS, struct smem, count_wrong);
