/*
 * sim_accumulators.c: accumulators between two wgmmas, under way, and without a value. A mistake is
 * reported at the marked line, and the right kernel beside it is not.
 */
#include "tests/sim/units/sim_registers.h"

/* ---- accumulators between two wgmmas ---- */

#define TWICE(name, accumulate, before_fence, after_fence)                                         \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        float acc[ACC] = {0}, other[ACC], copy[ACC];                                               \
        (void)copy;                                                                                \
        fill(shared, &args);                                                                       \
        wgmma_fence();                                                                             \
        wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);                                     \
        wgmma_m64nNk16(N, other, a_of(shared) + 1, b_of(shared), 0);                               \
        finish();                                                                                  \
        before_fence;                                                                              \
        after_fence;                                                                               \
        MARK wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), accumulate);                       \
        finish();                                                                                  \
    }
#define PACK_ALL(values)                                                                           \
    for (int i = 0; i < ACC; i += 2)                                                               \
    st_global_b32(&args.d[2 * (threadIdx.x * ACC + i)], pack_elements(values[i], values[i + 1]))
#define WORD_OF(value)                                                                             \
    ({                                                                                             \
        uint32_t word_;                                                                            \
        memcpy(&word_, &(value), sizeof word_);                                                    \
        word_;                                                                                     \
    })
TWICE(packed, 1, PACK_ALL(acc), )
TWICE(packed_to_begin_anew, 0, PACK_ALL(acc), )
TWICE(packed_after_the_fence, 1, wgmma_fence(), PACK_ALL(acc))
TWICE(converted, 1, (void)float_to_element(acc[3]), )
TWICE(stored_as_they_are, 1, st_global_b32(&args.d[2 * threadIdx.x], WORD_OF(acc[5])), )
TWICE(scaled, 1, for (int i = 0; i < ACC; ++i) acc[i] *= 0.5f, )
TWICE(zeroed_after_the_fence, 1, wgmma_fence(), for (int i = 0; i < ACC; ++i) acc[i] = 0)
TWICE(zeroed_to_begin_anew, 0, wgmma_fence(), for (int i = 0; i < ACC; ++i) acc[i] = 0)
/* Right: the fence comes last, or nothing was touched, or it was something else. */
TWICE(packed_and_fenced, 1, PACK_ALL(acc), wgmma_fence())
TWICE(scaled_and_fenced, 1, for (int i = 0; i < ACC; ++i) acc[i] *= 0.5f, wgmma_fence())
TWICE(untouched, 1, , )
TWICE(others_packed, 1, PACK_ALL(other), )
TWICE(others_packed_after, 1, wgmma_fence(), PACK_ALL(other))
TWICE(constants_packed, 1, wgmma_fence(),
      for (int i = 0; i < ACC; ++i)(void) pack_elements((float)i, (float)threadIdx.x))
/* Values that are also in accumulators, by chance or because they were there. */
TWICE(value_of_lane_0_converted, 1,
      const int word = __shfl_sync(0xffffffffu, (int)WORD_OF(acc[1]), 0);
      wgmma_fence(), float value; memcpy(&value, &word, sizeof value);
      (void)float_to_element(value))
TWICE(a_constant_converted, 1, for (int i = 0; i < ACC; ++i) acc[i] = 2;
      wgmma_fence(), (void)float_to_element(2))

/* A copy is read while the accumulators go on. */
KERNEL(THREADS, 1) copy_packed(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[ACC] = {0}, copy[ACC];
    fill(shared, &args);
    wgmma_fence();
    wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);
    finish();
    memcpy(copy, acc, sizeof copy);
    wgmma_fence();
    wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);
    finish();
    PACK_ALL(copy);
    wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);
    finish();
}

/* More arrays than the simulator keeps in mind. */
KERNEL(THREADS, 1) many_arrays(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[20][4] = {{0}};
    fill(shared, &args);
    wgmma_fence();
    for (int i = 0; i < 60; ++i) {
        wgmma_m64nNk16(8, acc[i % 20], a_of(shared), b_of(shared), 1);
        finish();
    }
}

#if READS_SEEN
/* Plain C alone: what is computed reaches no wrapper until the end. */
#define PROMOTED(name, between)                                                                    \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        float acc[ACC] = {0}, sum[ACC] = {0};                                                      \
        fill(shared, &args);                                                                       \
        for (int turn = 0; turn < 3; ++turn) {                                                     \
            if (turn == 0) wgmma_fence();                                                          \
            between;                                                                               \
            MARK wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 0);                            \
            finish();                                                                              \
            for (int i = 0; i < ACC; ++i)                                                          \
                sum[i] += acc[i];                                                                  \
        }                                                                                          \
        PACK_ALL(sum);                                                                             \
    }
PROMOTED(promoted_in_a_loop, )
PROMOTED(promoted_and_fenced, wgmma_fence())

/* What leaves every value as it was: zeros onto zeros, in a loop and by the C library; of any
 * number of bytes, constant or not. Zeros onto another array, and reads that no wrapper sees. */
#define NO_VALUE_CHANGES(name, after_fence)                                                        \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        static const float zeros[ACC];                                                             \
        float acc[ACC] = {0}, other[ACC] = {0};                                                    \
        const size_t some = blockDim.x / 4, none = some - THREADS / 4;                             \
        (void)zeros, (void)some, (void)none;                                                       \
        fill(shared, &args);                                                                       \
        wgmma_fence();                                                                             \
        after_fence;                                                                               \
        MARK wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);                                \
        finish();                                                                                  \
        PACK_ALL(acc);                                                                             \
        PACK_ALL(other);                                                                           \
    }
NO_VALUE_CHANGES(zeros_onto_zeros, for (int i = 0; i < ACC; ++i) acc[i] = 0)
NO_VALUE_CHANGES(set_to_zero, memset(acc, 0, sizeof acc))
NO_VALUE_CHANGES(one_set_to_zero, memset(&acc[3], 0, sizeof acc[3]))
NO_VALUE_CHANGES(two_set_to_zero, memset(&acc[ACC - 2], 0, 2 * sizeof acc[0]))
NO_VALUE_CHANGES(some_set_to_zero, memset(acc, 0, some))
NO_VALUE_CHANGES(one_copied_onto, memcpy(&acc[3], &zeros[3], sizeof acc[3]))
NO_VALUE_CHANGES(two_copied_onto, memcpy(&acc[2], &zeros[2], 2 * sizeof acc[2]))
NO_VALUE_CHANGES(copied_onto, memcpy(acc, zeros, sizeof acc))
NO_VALUE_CHANGES(moved_onto, memmove(acc, acc + ACC / 2, ACC / 2 * sizeof acc[0]))
NO_VALUE_CHANGES(copied_from, memcpy(other, acc, sizeof other))
NO_VALUE_CHANGES(none_set_to_zero, memset(acc, 0, none))
NO_VALUE_CHANGES(another_set_to_zero, memset(other, 0, sizeof other))
NO_VALUE_CHANGES(another_copied_onto, memcpy(other, zeros, sizeof other))
NO_VALUE_CHANGES(set_to_zero_and_fenced, memset(acc, 0, sizeof acc); wgmma_fence())

/* Other arrays of the frame are touched at any time. */
KERNEL(THREADS, 1) others_summed(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[2][ACC] = {{0}}, sum[ACC] = {0};
    fill(shared, &args);
    wgmma_fence();
    wgmma_m64nNk16(N, acc[0], a_of(shared), b_of(shared), 1);
    finish();
    wgmma_fence();
    for (int i = 0; i < ACC; ++i)
        sum[i] += acc[0][i];
    wgmma_m64nNk16(N, acc[1], a_of(shared), b_of(shared), 1);
    finish();
    PACK_ALL(sum);
    PACK_ALL(acc[1]);
}
#endif

/* ---- accumulators in flight ---- */

#define IN_FLIGHT(name, change)                                                                    \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        const float one = (float)blockDim.x / THREADS;                                             \
        float acc[ACC] = {0}, sum = 0;                                                             \
        fill(shared, &args);                                                                       \
        wgmma_fence();                                                                             \
        wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);                                     \
        wgmma_commit_group();                                                                      \
        change;                                                                                    \
        MARK wgmma_wait_group(0);                                                                  \
        st_global_b32(&args.d[2 * threadIdx.x], pack_elements(one, one + sum * 0));                \
    }
IN_FLIGHT(kept, )
IN_FLIGHT(multiplied_by_one, acc[2] *= one)
IN_FLIGHT(nothing_added, acc[7] += one - 1)
IN_FLIGHT(one_overwritten, acc[0] = one)
IN_FLIGHT(one_moved, acc[1] = acc[0])
#if SIGNALING_NANS /* or the compiler leaves the multiplication out */
IN_FLIGHT(multiplied_by_the_constant_one, acc[2] *= 1.0f)
#endif

/* What was computed of an accumulator in flight arrives at a wrapper. */
KERNEL(THREADS, 1) computed_with(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const float half = (float)blockDim.x / 256;
    float acc[ACC] = {0};
    fill(shared, &args);
    wgmma_fence();
    wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);
    wgmma_commit_group();
    const float value = acc[0] * half;
    MARK(void) float_to_element(value);
    wgmma_wait_group(0);
}

/* ---- registers without a value ---- */

#define BEGIN(name, declare, after_fence, accumulate)                                              \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        fill(shared, &args);                                                                       \
        for (int turn = 0; turn < 2; ++turn) {                                                     \
            declare;                                                                               \
            wgmma_fence();                                                                         \
            after_fence;                                                                           \
            MARK wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), accumulate);                   \
            finish();                                                                              \
            PACK_ALL(acc);                                                                         \
        }                                                                                          \
    }
BEGIN(unset, float acc[ACC], , 1)
BEGIN(unset_in_the_second_turn, float acc[ACC], , turn)
BEGIN(unset_in_a_part, float acc[ACC]; for (int i = 0; i < ACC - 1; ++i) acc[i] = 0, , 1)
BEGIN(zeroed_late, float acc[ACC], for (int i = 0; i < ACC; ++i) acc[i] = 0, 1)
BEGIN(zeroed, float acc[ACC] = {0}, , 1)
BEGIN(overwritten, float acc[ACC], , 0)
BEGIN(zeroed_and_overwritten, float acc[ACC] = {0}, , 0)
BEGIN(declared_late, , float acc[ACC], 0)

#define MMA_KERNEL(name, declaration)                                                              \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        const uint32_t a[4] = {0}, b[2] = {0};                                                     \
        declaration;                                                                               \
        (void)shared, (void)args;                                                                  \
        MARK mma_m16n8k16(d, a, b);                                                                \
    }
MMA_KERNEL(mma_unset, float d[4])
MMA_KERNEL(mma_zeroed, float d[4] = {0})

/* ---- */

static void test_accumulators(void) {
    WRONG(packed, "missing-wgmma-fence");
    WRONG(packed_to_begin_anew, "missing-wgmma-fence");
    WRONG(packed_after_the_fence, "missing-wgmma-fence");
    WRONG(converted, "missing-wgmma-fence");
    WRONG(stored_as_they_are, "missing-wgmma-fence");
    WRONG(scaled, "missing-wgmma-fence");
    WRONG(zeroed_after_the_fence, "missing-wgmma-fence");
    WRONG(zeroed_to_begin_anew, "missing-wgmma-fence");
    CLEAN(packed_and_fenced);
    CLEAN(scaled_and_fenced);
    CLEAN(untouched);
    CLEAN(others_packed);
    CLEAN(others_packed_after);
    CLEAN(constants_packed);
    CLEAN(value_of_lane_0_converted);
    CLEAN(a_constant_converted);
    CLEAN(copy_packed);
    CLEAN(many_arrays);
#if READS_SEEN
    WRONG(promoted_in_a_loop, "missing-wgmma-fence");
    CLEAN(promoted_and_fenced);
    WRONG(zeros_onto_zeros, "missing-wgmma-fence");
    WRONG(set_to_zero, "missing-wgmma-fence");
    WRONG(one_set_to_zero, "missing-wgmma-fence");
    WRONG(two_set_to_zero, "missing-wgmma-fence");
    WRONG(some_set_to_zero, "missing-wgmma-fence");
    WRONG(one_copied_onto, "missing-wgmma-fence");
    WRONG(two_copied_onto, "missing-wgmma-fence");
    WRONG(copied_onto, "missing-wgmma-fence");
    WRONG(moved_onto, "missing-wgmma-fence");
    WRONG(copied_from, "missing-wgmma-fence");
    CLEAN(none_set_to_zero);
    CLEAN(another_set_to_zero);
    CLEAN(another_copied_onto);
    CLEAN(set_to_zero_and_fenced);
    CLEAN(others_summed);
#endif
    CLEAN(kept);
    WRONG(multiplied_by_one, "accumulator-in-flight");
    WRONG(nothing_added, "accumulator-in-flight");
    WRONG(one_overwritten, "accumulator-in-flight");
    WRONG(one_moved, "accumulator-in-flight");
#if SIGNALING_NANS
    WRONG(multiplied_by_the_constant_one, "accumulator-in-flight");
#endif
    WRONG(computed_with, "accumulator-in-use");
}

static void test_values(void) {
    if (UNSET_PATTERN) {
        WRONG(unset, "uninitialized-registers");
        WRONG(unset_in_the_second_turn, "uninitialized-registers");
        WRONG(unset_in_a_part, "uninitialized-registers");
        WRONG(zeroed_late, "missing-wgmma-fence");
        expect_run_("mma_unset", &(struct test_launch){mma_unset, 1, 1, 32, 8192},
                    "uninitialized-registers");
    }
    CLEAN(zeroed);
    CLEAN(overwritten);
    CLEAN(zeroed_and_overwritten);
    CLEAN(declared_late);
    expect_run_("mma_zeroed", &(struct test_launch){mma_zeroed, 1, 1, 32, 8192}, NULL);
}

int main(void) {
    test_accumulators();
    test_values();
    return expect_result();
}
