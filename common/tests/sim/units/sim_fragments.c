/*
 * sim_fragments.c: A in registers, between its loading, wgmma.fence, wgmma and the wait. An access
 * at the wrong time, or a use without a value, is reported at the marked line. An access to other
 * registers, or to these at the right time, is not.
 */
#include "hopper/w4.h"
#include "tests/sim/units/sim_registers.h"

#define RS_KERNEL(name, before, after)                                                             \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        uint32_t a[4], next[4];                                                                    \
        float acc[ACC] = {0};                                                                      \
        (void)next;                                                                                \
        fill(shared, &args);                                                                       \
        before;                                                                                    \
        wgmma_fence();                                                                             \
        after;                                                                                     \
        MARK wgmma_m64nNk16_rs(N, acc, a, b_of(shared), 1);                                        \
        finish();                                                                                  \
    }
RS_KERNEL(loaded_before, load(a, shared, 0), )
RS_KERNEL(loaded_after, , load(a, shared, 0))
RS_KERNEL(loaded_by_ldmatrix, ldmatrix_x4(a, row_of_a(shared, 0)), )
RS_KERNEL(loaded_by_ldmatrix_after, , ldmatrix_x4(a, row_of_a(shared, 0)))
RS_KERNEL(loaded_again, ldmatrix_x4(a, row_of_a(shared, 0)), ldmatrix_x4(a, row_of_a(shared, 0)))
RS_KERNEL(sign_changed, load(a, shared, 0), a[0] ^= 0x80008000u)
RS_KERNEL(one_set_to_zero, load(a, shared, 0), a[2] = 0)
RS_KERNEL(all_scaled, load(a, shared, 0), for (int i = 0; i < 4; ++i) a[i] += 0x04000400u)
RS_KERNEL(exchanged, load(a, shared, 0), const uint32_t x = a[0]; a[0] = a[1]; a[1] = x)
RS_KERNEL(one_never_loaded, a[0] = a[1] = a[2] = word_of_a(shared, 0, 0), )
/* Other registers may be loaded, converted and packed at any time. */
RS_KERNEL(next_loaded, load(a, shared, 0), load(next, shared, 1))
RS_KERNEL(next_by_ldmatrix, load(a, shared, 0), ldmatrix_x4(next, row_of_a(shared, 1)))
RS_KERNEL(next_converted, load(a, shared, 0),
          for (int i = 0; i < 4; ++i) next[i] = pack_elements(i, (float)threadIdx.x))

/* Fragments that are named anew after the fence are in the same registers. */
KERNEL(THREADS, 1) renamed(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[ACC] = {0};
    fill(shared, &args);
    for (int tile = 0; tile < 2; ++tile) {
        const struct b128 chunk = ld_shared_b128(row_of_a(shared, tile));
        wgmma_fence();
        const uint32_t a[4] = {chunk.word[0], chunk.word[2], chunk.word[1], chunk.word[3]};
        wgmma_m64nNk16_rs(N, acc, a, b_of(shared), 1);
        finish();
    }
}

/* A group that is done long before its wait is looked at all the same. */
KERNEL(THREADS, 1) replaced_two_groups_ago(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t a[3][4];
    float acc[ACC] = {0};
    fill(shared, &args);
    for (int i = 0; i < 3; ++i)
        load(a[i], shared, i % 2);
    wgmma_fence();
    for (int i = 0; i < 3; ++i) {
        wgmma_m64nNk16_rs(N, acc, a[i], b_of(shared), 1);
        wgmma_commit_group();
        if (i == 0) a[0][1] ^= 1;
        __syncthreads(); /* time for a wgmma to complete */
    }
    MARK wgmma_wait_group(0);
}

/* The same where some of A is zero, as behind the end of k. */
KERNEL(THREADS, 1) renamed_beside_zeros(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[ACC] = {0};
    fill(shared, &args);
    for (int tile = 0; tile < 2; ++tile) {
        const struct b128 chunk = ld_shared_b128(row_of_a(shared, tile));
        wgmma_fence();
        const uint32_t a[4] = {chunk.word[0], chunk.word[2], 0, 0};
        wgmma_m64nNk16_rs(N, acc, a, b_of(shared), 1);
        finish();
    }
}

/* The same for fragments that are under way when the name is used again. */
KERNEL(THREADS, 1) renamed_in_flight(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t set[2][4];
    float acc[ACC] = {0};
    fill(shared, &args);
    load(set[0], shared, 0);
    load(set[1], shared, 1);
    wgmma_fence();
    for (int tile = 0; tile < 2; ++tile) {
        const uint32_t a[4] = {set[tile][1], set[tile][3], set[tile][0], set[tile][2]};
        wgmma_m64nNk16_rs(N, acc, a, b_of(shared), 1);
        wgmma_commit_group();
    }
    wgmma_wait_group(0);
    st_global_b32(&args.d[2 * threadIdx.x], set[0][0] ^ set[0][1] ^ set[0][2] ^ set[0][3]);
}

/* Two sets, one multiplying while the other is loaded; the fence comes after the load. */
KERNEL(THREADS, 1) two_sets(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t a[2][4];
    float acc[ACC] = {0};
    fill(shared, &args);
    for (int i = 0; i < 6; ++i) {
        if (i < 2)
            load(a[i], shared, i);
        else
            ldmatrix_x4(a[i % 2], row_of_a(shared, i % 2));
        wgmma_fence();
        wgmma_m64nNk16_rs(N, acc, a[i % 2], b_of(shared), 1);
        wgmma_commit_group();
        wgmma_wait_group(1);
    }
    wgmma_wait_group(0);
}

/* The same, and the fence in front of the load, from the fourth time on. */
KERNEL(THREADS, 1) two_sets_after(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t a[2][4];
    float acc[ACC] = {0};
    fill(shared, &args);
    for (int i = 0; i < 6; ++i) {
        if (i > 2) wgmma_fence();
        load(a[i % 2], shared, i % 3 % 2);
        if (i <= 2) wgmma_fence();
        MARK wgmma_m64nNk16_rs(N, acc, a[i % 2], b_of(shared), 1);
        wgmma_commit_group();
        wgmma_wait_group(1);
    }
    wgmma_wait_group(0);
}

#define RS_IN_FLIGHT(name, change)                                                                 \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        uint32_t a[4], next[4];                                                                    \
        float acc[ACC] = {0};                                                                      \
        fill(shared, &args);                                                                       \
        load(a, shared, 0);                                                                        \
        wgmma_fence();                                                                             \
        wgmma_m64nNk16_rs(N, acc, a, b_of(shared), 1);                                             \
        wgmma_commit_group();                                                                      \
        load(next, shared, 1);                                                                     \
        change;                                                                                    \
        MARK wgmma_wait_group(0);                                                                  \
        load(a, shared, 1); /* now they are free */                                                \
    }
RS_IN_FLIGHT(fragments_kept, )
RS_IN_FLIGHT(fragments_replaced, for (int i = 0; i < 4; ++i) a[i] = next[i])
RS_IN_FLIGHT(fragment_set_to_zero, a[3] = 0)
RS_IN_FLIGHT(exchanged_in_flight, const uint32_t x = a[0]; a[0] = a[1]; a[1] = x)

/* The same of e4m3: A's registers are four bytes each, of 32 columns. */
#define RS_E4M3(name, before, after, meanwhile)                                                    \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        uint32_t a[4], next[4], words[2];                                                          \
        float acc[ACC] = {0};                                                                      \
        fill(shared, &args);                                                                       \
        load(a, shared, 0);                                                                        \
        load(next, shared, 1);                                                                     \
        words[0] = next[1], words[1] = ~next[3];                                                   \
        before;                                                                                    \
        wgmma_fence();                                                                             \
        after;                                                                                     \
        MARK wgmma_m64nNk32_e4m3_rs(N, acc, a, b_of(shared), 1);                                   \
        wgmma_commit_group();                                                                      \
        meanwhile;                                                                                 \
        wgmma_wait_group(0);                                                                       \
        w4_to_e4m3(a, words, 2); /* now they are free */                                           \
    }
RS_E4M3(e4m3_converted, w4_to_e4m3(a, words, 2), , w4_to_e4m3(next, words, 2))
RS_E4M3(e4m3_converted_in_flight, , , w4_to_e4m3(a, words, 2))
RS_E4M3(e4m3_changed_in_flight, , , a[2] ^= 0x80)
RS_E4M3(e4m3_converted_late, , w4_to_e4m3(a, words, 2), )

/* ---- */

int main(void) {
    CLEAN(loaded_before);
    WRONG(loaded_after, "missing-wgmma-fence");
    CLEAN(loaded_by_ldmatrix);
    WRONG(loaded_by_ldmatrix_after, "missing-wgmma-fence");
    WRONG(loaded_again, "missing-wgmma-fence");
    WRONG(sign_changed, "missing-wgmma-fence");
    WRONG(one_set_to_zero, "missing-wgmma-fence");
    WRONG(all_scaled, "missing-wgmma-fence");
    WRONG(exchanged, "missing-wgmma-fence");
    if (UNSET_PATTERN) WRONG(one_never_loaded, "uninitialized-registers");
    CLEAN(next_loaded);
    CLEAN(next_by_ldmatrix);
    CLEAN(next_converted);
    CLEAN(renamed);
    CLEAN(renamed_beside_zeros);
    CLEAN(renamed_in_flight);
    CLEAN(two_sets);
    WRONG(two_sets_after, "missing-wgmma-fence");
    CLEAN(fragments_kept);
    WRONG(fragments_replaced, "fragment-in-flight");
    WRONG(fragment_set_to_zero, "fragment-in-flight");
    WRONG(exchanged_in_flight, "fragment-in-flight");
    WRONG(replaced_two_groups_ago, "fragment-in-flight");
    CLEAN(e4m3_converted);
    WRONG(e4m3_converted_in_flight, "fragment-in-flight");
    WRONG(e4m3_changed_in_flight, "fragment-in-flight");
    WRONG(e4m3_converted_late, "missing-wgmma-fence");
    return expect_result();
}
