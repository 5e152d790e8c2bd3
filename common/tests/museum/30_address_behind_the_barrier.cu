/*
 * 30_address_behind_the_barrier.cu: where the sums are is read before anything orders its store.
 * For Blackwell.
 *
 * An allocation writes its address to shared memory like an ordinary store.
 *
 * title: An address behind the barrier
 * kind: Blackwell
 * project: TIRx-kernels, https://github.com/mlc-ai/TIRx-kernels/pull/7
 * symptom: a racecheck reported it
 * reports: data-race
 */
#include "blackwell/tcgen05.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, COLUMNS = 32 };
struct smem {
    uint32_t sums;
    uint32_t elsewhere[31];
};

KERNEL(THREADS, 1) allocate_late(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const bool allocates = warp_index() == 0;
    if (threadIdx.x == 0) st_shared_b32(&shared->elsewhere[0], 7);
#if FIXED
    if (allocates) tcgen05_alloc(1, &shared->sums, COLUMNS);
    __syncthreads();
#else
    __syncthreads();
    if (allocates) tcgen05_alloc(1, &shared->sums, COLUMNS); /* accused: data-race */
#endif
    const uint32_t sums = ld_shared_b32(&shared->sums);
    st_global_b32(&args.d[2 * threadIdx.x], sums + ld_shared_b32(&shared->elsewhere[0]));
    __syncthreads();
    if (allocates) tcgen05_dealloc(1, sums, COLUMNS);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)a, (void)b;
    for (int i = 0; i < THREADS; ++i)
        wrong += d[2 * i] != 7;
    return wrong;
}

BLACKWELL_EXHIBIT(allocate_late, 1, 1, THREADS, struct smem, count_wrong);
