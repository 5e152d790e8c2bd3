/*
 * attention_lengths.c: checks the exercise "Variable lengths" of 16: sequences of different lengths
 * whose rows lie one directly behind the other, in one launch. gemm_problem.matrix[2] and [3] have
 * the first query and the first key of each sequence, batch + 1 ints each; m and n are the rows of
 * all sequences. Under every schedule O has to be right, and LSE [batch * heads][ld], of which
 * nothing behind a sequence's queries may be written; ld is at least the longest's queries.
 */
#include "attend.h"
#include "sim/core/simulation.h"
#include "sim/settings.h"

extern const struct gemm_kernel GEMM_KERNEL;

enum { FIRST_QUERIES = 2, FIRST_KEYS = 3 };
enum { SEQUENCES = 5, HEADS = 2, LONGEST = 200 };
/* No query; a single one; no key; none behind the other's last tile. */
static const int first_query[SEQUENCES + 1] = {0, 130, 130, 131, 208, 408};
static const int first_key[SEQUENCES + 1] = {0, 150, 159, 489, 489, 529};

static void test_lengths(bool causal) {
    const struct attention_problem of = {
        .batch = SEQUENCES, .heads = HEADS, .kv_heads = 1, .causal = causal, .scale = 0.0625f};
    const int queries = first_query[SEQUENCES], keys = first_key[SEQUENCES];
    struct matrix q = matrix_of(queries, HEADS * HEAD, true), k = matrix_of(keys, HEAD, true);
    struct matrix v = matrix_of(keys, HEAD, true), o = matrix_of(queries, HEADS * HEAD, false);
    const size_t lse_bytes = sizeof(float[SEQUENCES * HEADS * LONGEST]);
    uint32_t *const bits = filled(lse_bytes, 0xff);
    struct gemm_problem p = {.m = queries,
                             .n = keys,
                             .k = HEAD,
                             .lda = q.columns,
                             .ldb = k.columns,
                             .ldd = o.columns,
                             .a = q.memory,
                             .b = k.memory,
                             .d = o.memory,
                             .of_kind = &of};
    p.matrix[VALUES] = (struct gemm_matrix){v.memory, v.columns};
    p.matrix[LSE] = (struct gemm_matrix){put(bits, lse_bytes), LONGEST};
    p.matrix[FIRST_QUERIES].memory = put(first_query, sizeof first_query);
    p.matrix[FIRST_KEYS].memory = put(first_key, sizeof first_key);
    run(&GEMM_KERNEL, &p);
    fetch(&o);
    if (!backend_copy_out(bits, p.matrix[LSE].memory, lse_bytes)) exit(1);
    for (int number = 0; number < SEQUENCES * HEADS; ++number) {
        const int sequence = number / HEADS, column = number % HEADS * HEAD;
        const struct attended_head head = {.q = {&q, first_query[sequence], column},
                                           .k = {&k, first_key[sequence], 0},
                                           .v = {&v, first_key[sequence], 0},
                                           .o = {&o, first_query[sequence], column},
                                           .queries =
                                               first_query[sequence + 1] - first_query[sequence],
                                           .keys = first_key[sequence + 1] - first_key[sequence]};
        struct difference difference = {0};
        int written = 0;
        compare_head(&of, &head, (const float *)&bits[number * LONGEST], &difference);
        for (int row = head.queries; row < LONGEST; ++row)
            written += bits[number * LONGEST + row] != UINT32_MAX;
        EXPECT(
            is_right(&difference) && !written,
            "sequence %d, head %d, mask %s: O is off by %g, LSE by %g; %d elements of LSE behind "
            "its queries were written",
            sequence, number % HEADS, causal ? "causal" : "none", difference.o, difference.lse,
            written);
    }
    for (int i = LSE; i <= FIRST_KEYS; ++i)
        backend_free(p.matrix[i].memory);
    forget(&q), forget(&k), forget(&v), forget(&o);
    free(bits);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device;
    for (int schedule = 0; schedule < SIM_SCHEDULES && !failures; ++schedule) {
        backend_settings[SETTING_SCHEDULE].value = (uint64_t)schedule;
        if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
        test_lengths(false);
        test_lengths(true);
        backend_close();
    }
    return expect_result();
}
