/*
 * 22_read_is_not_written.cu: a flag is raised when the TMA has read what it is to store.
 *
 * title: Read is not written
 * kind: scope
 * project: Triton, https://github.com/triton-lang/triton/pull/10415
 * symptom: according to the pull request, no message can be passed that way
 * reports: read-before-landed
 * does: CTA 0 stores a box by the TMA and raises a flag. CTA 1 sees the flag and reads the box.
 */
#include "hopper/atomics.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CTAS = 2 };
struct smem {
    element_t box[BOX_ELEMENTS];
};

KERNEL(THREADS, 1) send_box(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t *const flag = args.tile_counter;
    if (blockIdx.x == 0) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_shared_b128(&shared->box[BOX_CHUNK(i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
        fence_proxy_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_store(&args.map_d, PLACE_ROW(0), PLACE_COLUMN(0), shared->box);
            bulk_commit_group();
#if FIXED
            bulk_wait_group(0);
#else
            bulk_wait_group_read(0);
#endif
            st_global_release(flag, 1, SCOPE_GPU);
        }
    } else {
        if (threadIdx.x == 0)
            while (ld_global_acquire(flag, SCOPE_GPU) == 0) {
            }
        __syncthreads();
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            /* accused: read-before-landed */
            const struct b128 chunk = ld_global_b128(&args.d[MATRIX_CHUNK(0, i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(1, i)], chunk);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int i = 0; i < BOX_ELEMENTS; ++i)
        for (int n = 0; n < CTAS; ++n)
            wrong += d[(PLACE_ROW(n) + i / BOX_ROWS) * MUSEUM_EXTENT + i % BOX_ROWS] !=
                     a[i / BOX_ROWS * MUSEUM_EXTENT + i % BOX_ROWS];
    return wrong;
}

EXHIBIT(send_box, CTAS, 1, THREADS, struct smem, count_wrong);
