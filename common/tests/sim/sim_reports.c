/*
 * sim_reports.c: kernels that cannot go on, or that touch what is not theirs. The report names the
 * kind and the line.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "hopper/cp_async.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "sim/units/registers/accumulators.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

struct smem {
    uint32_t word[256];
};

struct too_large {
    uint32_t word[2048];
};

static int me(void) { return (int)threadIdx.x; }
static const struct b128 some_chunk = {{1, 2, 3, 4}};

/* ---- divergence ---- */

KERNEL(32, 1) diverged_lines(KERNEL_ARGS args) {
    (void)args;
    if (me() < 16)
        __syncwarp();
    else
        __syncwarp();
}

KERNEL(32, 1) returned_lane(KERNEL_ARGS args) {
    (void)args;
    if (me() == 7) return;
    __syncwarp();
}

KERNEL(64, 1) skipped_barrier(KERNEL_ARGS args) {
    (void)args;
    if (me() < 32) __syncthreads();
}

KERNEL(48, 1) half_a_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    uint32_t r[4];
    if (me() >= 32) { MARK ldmatrix_x4(r, &shared->word[0]); }
}

/* ---- barriers ---- */

KERNEL(64, 1) different_counts(KERNEL_ARGS args) {
    (void)args;
    if (me() < 32)
        named_barrier_sync(1, 64);
    else
        named_barrier_sync(1, 96);
}

KERNEL(64, 1) circular_wait(KERNEL_ARGS args) {
    (void)args;
    if (me() < 32) {
        named_barrier_sync(1, 64);
        named_barrier_sync(2, 64);
    } else {
        named_barrier_sync(2, 64);
        named_barrier_sync(1, 64);
    }
}

KERNEL(32, 1) barrier_sixteen(KERNEL_ARGS args) {
    (void)args;
    MARK named_barrier_sync(16, 32);
}

/* A barrier counts whole warps. */
KERNEL(64, 1) barrier_of_forty(KERNEL_ARGS args) {
    (void)args;
    MARK named_barrier_sync(1, 40);
}

KERNEL(64, 1) barrier_of_none(KERNEL_ARGS args) {
    (void)args;
    MARK named_barrier_arrive(1, 0);
}

/* Warp 0 arrives twice in one round: it would stand for warp 1, too. */
KERNEL(96, 1) comes_again(KERNEL_ARGS args) {
    (void)args;
    if (me() >= 32) return;
    named_barrier_arrive(1, 96);
    MARK named_barrier_arrive(1, 96);
}

/* 96 are announced, and the CTA has 64 threads. */
KERNEL(64, 1) one_warp_too_few(KERNEL_ARGS args) {
    (void)args;
    MARK named_barrier_sync(1, 96);
}

/* Two rounds of arrive and sync with changing counts, each complete before the next begins. */
KERNEL(96, 1) counts_by_round(KERNEL_ARGS args) {
    (void)args;
    named_barrier_sync(3, 96);
    if (me() < 32)
        named_barrier_arrive(3, 64);
    else if (me() < 64)
        named_barrier_sync(3, 64);
}

/* ---- shared memory ---- */

KERNEL(32, 1) past_the_end(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK st_shared_b32(&shared->word[0] + 1024 + me(), 1);
}

KERNEL(32, 1) in_front(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK (void)ld_shared_b32(&shared->word[0] - 1);
}

KERNEL(32, 1) not_aligned(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    MARK st_shared_b128(&shared->word[1], some_chunk);
}

KERNEL(32, 1) global_pointer(KERNEL_ARGS args) {
    MARK (void)ld_shared_b32((const uint32_t *)(const void *)args.a);
}

KERNEL(32, 1) too_large_a_struct(KERNEL_ARGS args) {
    (void)args;
    MARK SHARED_MEMORY(struct too_large); (void)shared;
}

/* ---- global memory ---- */

KERNEL(32, 1) read_past_input(KERNEL_ARGS args) {
    MARK (void)ld_global_element(args.a + TEST_BYTES / 2 + me());
}

KERNEL(32, 1) write_input(KERNEL_ARGS args) {
    MARK st_global_element((element_t *)(uintptr_t)&args.a[me()], args.a[me()]);
}

KERNEL(32, 1) write_in_front(KERNEL_ARGS args) {
    MARK st_global_b32(args.d - 2 * (me() + 1), 0);
}

KERNEL(32, 1) null_pointer(KERNEL_ARGS args) {
    (void)args;
    MARK (void)ld_global_b128(NULL);
}

KERNEL(32, 1) odd_address(KERNEL_ARGS args) {
    MARK (void)ld_global_b128(args.a + 1);
}

KERNEL(32, 1) same_element_twice(KERNEL_ARGS args) {
    MARK st_global_element(&args.d[me() / 2], args.a[0]);
}

KERNEL(32, 1) neighbouring_elements(KERNEL_ARGS args) {
    st_global_element(&args.d[me()], args.a[0]);
    st_global_element(&args.d[me()], args.a[0]);
}

KERNEL(32, 1) same_byte_twice(KERNEL_ARGS args) {
    MARK st_global_b8((char *)args.d + me() / 2, 1);
}

/* Two bytes of an element. */
KERNEL(32, 1) neighbouring_bytes(KERNEL_ARGS args) {
    st_global_b8((char *)args.d + me(), 1);
}

/* ---- cp.async ---- */

KERNEL(32, 1) copy_left_behind(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    MARK cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
}

KERNEL(32, 1) copy_past_input(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    /* No byte is read: any address will do. The last one reads 2 bytes too many. */
    cp_async_16(&shared->word[4 * me()], args.a + TEST_BYTES, 0);
    MARK cp_async_16(&shared->word[128 + 4 * me()], args.a + TEST_BYTES / 2, 2);
    cp_async_commit_group();
    cp_async_wait_group(0);
}

/* ---- registers of a wgmma that is under way ---- */

KERNEL(32, 1) tagged_accumulator(KERNEL_ARGS args) {
    const uint32_t bits = SIM_ACCUMULATOR_TAG + 5;
    float value;
    memcpy(&value, &bits, sizeof value);
    MARK st_global_b32(&args.d[2 * me()], pack_elements(0, value));
}

/* ---- polls ---- */

/* A word that no thread ever writes. */
KERNEL(32, 1) poll_forever(KERNEL_ARGS args) {
    if (me() == 0) {
        MARK while (atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU) == 0) {}
    }
}

/* Two threads in one warp: the spin must let the other lane run. */
KERNEL(32, 1) poll_neighbour(KERNEL_ARGS args) {
    if (me() == 0)
        while (atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU) == 0) {}
    else if (me() == 31)
        (void)atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
}

/* ---- divisions ---- */

#if DIVISIONS_SEEN
static int zero(void) { return (int)blockDim.x - 32; }

KERNEL(32, 1) divides_by_zero(KERNEL_ARGS args) {
    __syncwarp();
    MARK if (me() == 5) st_global_b32(args.d, (uint32_t)(me() / zero()));
}

KERNEL(32, 1) remainder_of_zero(KERNEL_ARGS args) {
    __syncwarp();
    const unsigned none = (unsigned)zero();
    MARK const unsigned left = blockIdx.x % none; st_global_b32(args.d + 2 * me(), left);
}

/* Of real numbers it has a result. */
KERNEL(32, 1) other_divisions(KERNEL_ARGS args) {
    const int some = me() + 1;
    const float infinite = 1.0f / (float)zero();
    st_global_b32(args.d + 2 * me(), (uint32_t)(1000 / some + 1000 % some + (infinite > 0)));
}
#endif

int main(void) {
    EXPECT_RACE(diverged_lines, 32);
    EXPECT_RACE(returned_lane, 32);
    EXPECT_RACE(skipped_barrier, 64);
    EXPECT_HAZARD(half_a_warp, 48, "diverged-warp");
    EXPECT_RACE(different_counts, 64);
    EXPECT_RACE(circular_wait, 64);
    EXPECT_HAZARD(barrier_sixteen, 32, "barrier-count");
    EXPECT_HAZARD(barrier_of_forty, 64, "barrier-count");
    EXPECT_HAZARD(barrier_of_none, 64, "barrier-count");
    EXPECT_HAZARD(comes_again, 96, "barrier-count");
    EXPECT_HAZARD(one_warp_too_few, 64, "deadlock");
    EXPECT_CLEAN(counts_by_round, 96);
    EXPECT_HAZARD(past_the_end, 32, "shared-bounds");
    EXPECT_HAZARD(in_front, 32, "shared-bounds");
    EXPECT_HAZARD(not_aligned, 32, "misaligned");
    EXPECT_HAZARD(global_pointer, 32, "shared-bounds");
    EXPECT_HAZARD(too_large_a_struct, 32, "shared-bounds");
    EXPECT_HAZARD(read_past_input, 32, "global-bounds");
    EXPECT_HAZARD(write_input, 32, "global-read-only");
    EXPECT_HAZARD(write_in_front, 32, "global-bounds");
    EXPECT_HAZARD(null_pointer, 32, "global-bounds");
    EXPECT_HAZARD(odd_address, 32, "misaligned");
    EXPECT_HAZARD(same_element_twice, 32, "global-write-write");
    EXPECT_CLEAN(neighbouring_elements, 32);
    EXPECT_HAZARD(same_byte_twice, 32, "global-write-write");
    EXPECT_CLEAN(neighbouring_bytes, 32);
    EXPECT_HAZARD(copy_left_behind, 32, "exit-in-flight");
    EXPECT_HAZARD(copy_past_input, 32, "global-bounds");
    EXPECT_HAZARD(tagged_accumulator, 32, "accumulator-in-use");
    EXPECT_HAZARD(poll_forever, 32, "deadlock");
    EXPECT_CLEAN(poll_neighbour, 32);
#if DIVISIONS_SEEN
    EXPECT_HAZARD(divides_by_zero, 32, "division-by-zero");
    EXPECT_HAZARD(remainder_of_zero, 32, "division-by-zero");
    EXPECT_CLEAN(other_divisions, 32);
#endif
    backend_close();
    return expect_result();
}
