/*
 * sim_instructions.c: the values that instructions give, and the bank conflicts that accesses cost.
 */
#include "tests/sim/sim_kernels.h"

#include <math.h>
#include <string.h>

#include "hopper/cp_async.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "sim/core/events.h"
#include "sim/models/element_values.h"
#include "sim/models/tensor_sum.h"

struct smem {
    element_t tile[2048];
};

static int me(void) { return (int)threadIdx.x; }

/* ---- conversions, against the compiler's own fp16 and by the definition of bf16 ---- */

static void test_conversions(void) {
    uint32_t state = 1;
    for (int i = 0; i < 2000000; ++i) {
        state = state * 1664525u + 1013904223u;
        uint32_t bits = state;
        if (i < 65536) bits = (uint32_t)i << 16 | (i & 1 ? 0x8000 : 0); /* halfway cases of bf16 */
        float value;
        memcpy(&value, &bits, sizeof value);
        uint16_t got = element_nearest(value, 1);
        double error = 0, low, high;
        float as_float;
        const uint32_t up = (uint32_t)got << 16;
        memcpy(&as_float, &up, sizeof as_float);
        if (value != value) {
            EXPECT(as_float != as_float, "bf16 of NaN %#x is %#x", bits, got);
        } else if ((got & 0x7fff) < 0x7f80) {
            const uint32_t below = (bits & 0xffff0000u), above = below + 0x10000;
            float l, h;
            memcpy(&l, &below, sizeof l);
            memcpy(&h, &above, sizeof h);
            low = (double)value - l, high = (double)h - value;
            error = (double)value - as_float;
            if (low < 0) low = -low;
            if (high < 0) high = -high;
            if (error < 0) error = -error;
            EXPECT(error <= low && error <= high, "bf16 of %#x is %#x", bits, got);
            EXPECT(low != high || !(got & 1), "bf16 of %#x, a tie, is odd: %#x", bits, got);
        }
#ifdef __FLT16_MAX__
        _Float16 half = (_Float16)value;
        uint16_t want;
        memcpy(&want, &half, sizeof want);
        got = element_nearest(value, 0);
        EXPECT(value != value ? (got & 0x7fff) > 0x7c00 : got == want,
               "fp16 of %#x is %#x, not %#x", bits, got, want);
#endif
    }
}

/* ---- shuffles ---- */

static int shuffled[32], elected, elected_again, leader;

KERNEL(32, 1) shuffles(KERNEL_ARGS args) {
    (void)args;
    shuffled[me()] = __shfl_sync(0xffffffffu, 100 + me(), (me() + 5) % 32);
    const bool first = elect_one();
    if (first) {
        ++elected;
        leader = me();
    }
    if (elect_one() && first) ++elected_again;
}

/* ---- ldmatrix, mma.sync, stmatrix: a 16x8 product, k = 16 ---- */

static float mma_a[16][16], mma_b[16][8], mma_d[16][8];

KERNEL(32, 1) multiply(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    const int lane = me();
    element_t *a = shared->tile, *b = a + 16 * 16, *out = b + 16 * 16;
    /* A row-major [16][16]; B as [column][k], 8 columns, repeated. */
    for (int i = 0; i < 4; ++i) {
        const int at = (lane * 4 + i) * 2, row = at / 16, k = at % 16;
        st_shared_b32(&a[at], pack_elements(mma_a[row][k], mma_a[row][k + 1]));
        st_shared_b32(&b[at], pack_elements(mma_b[k][row % 8], mma_b[k + 1][row % 8]));
    }
    __syncwarp();
    uint32_t fa[4], fb[4], packed[4];
    ldmatrix_x4(fa, &a[(lane % 16) * 16 + lane / 16 * 8]);
    ldmatrix_x4(fb, &b[(lane % 8) * 16 + lane / 8 % 2 * 8]);
    float d[4] = {1, 1, 1, 1};
    mma_m16n8k16(d, fa, fb);
    for (int i = 0; i < 4; ++i)
        mma_d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = d[i];
    /* Both halves stored twice: as they are, and by the smaller instruction. */
    packed[0] = packed[2] = pack_elements(d[0], d[1]);
    packed[1] = packed[3] = pack_elements(d[2], d[3]);
    stmatrix_x4(&out[lane * 8], packed);
    /* Only the first sixteen lanes' addresses count. */
    stmatrix_x2(lane < 16 ? &out[256 + lane * 8] : NULL, packed);
    __syncwarp();
    st_global_b128(&args.d[lane * 8], ld_shared_b128(&out[lane * 8]));
    if (lane < 16) st_global_b128(&args.d[256 + lane * 8], ld_shared_b128(&out[256 + lane * 8]));
}

static void test_mma(void) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            /* Exponents far enough apart that sums depend on how they are added. */
            mma_a[i][j] = ldexpf((float)((i * 7 + j * 3) % 11 - 5), (i * 5 + j * 3) % 20 - 13);
            if (j < 8) mma_b[i][j] = ldexpf((float)((i * 5 + j * 2) % 7 - 3), (i * 9 + j) % 14 - 9);
        }
    EXPECT_CLEAN(multiply, 32);
    int told = 0; /* sums that fp32 additions one by one get wrong */
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            struct tensor_term terms[17];
            for (int k = 0; k < 16; ++k)
                terms[k] = tensor_product(TENSOR_FP16, element_nearest(mma_a[row][k], false),
                                          TENSOR_FP16, element_nearest(mma_b[k][column], false));
            terms[16] = tensor_accumulator(0x3f800000);
            const uint32_t sum = tensor_sum(terms, 17, tensor_precision(TENSOR_FP16));
            float want, rounded = 1;
            memcpy(&want, &sum, sizeof want);
            for (int k = 0; k < 16; ++k)
                rounded += mma_a[row][k] * mma_b[k][column];
            told += rounded != want;
            EXPECT(mma_d[row][column] == want, "(%d, %d): %g, not %g", row, column,
                   mma_d[row][column], want);
            const uint16_t bits = element_nearest(want, 0);
            /* Matrix 0 holds rows 0-7, matrix 1 rows 8-15. */
            EXPECT(test_out[row * 8 + column].bits == bits, "stmatrix (%d, %d)", row, column);
            EXPECT(test_out[256 + row * 8 + column].bits == bits, "stmatrix.x2 (%d, %d)", row,
                   column);
        }
    EXPECT(told > 8, "only %d sums depend on how they are added", told);
}

/* ---- bank conflicts: extra passes over the banks ---- */

static int pitch; /* elements */

KERNEL(32, 1) read_rows(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    uint32_t r[4] = {0, 0, 0, 0};
    element_t *row = &shared->tile[me() % 16 * pitch + me() / 16 * 8];
    stmatrix_x4(row, r);
    __syncwarp();
    ldmatrix_x4(r, row);
}

KERNEL(32, 1) write_rows(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    const uint32_t r[4] = {0, 0, 0, 0};
    stmatrix_x4(&shared->tile[me() % 16 * pitch + me() / 16 * 8], r);
}

KERNEL(32, 1) copy_rows(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->tile[me() * pitch], &args.a[8 * me()], 16);
    cp_async_commit_group();
    cp_async_wait_group(0);
}

KERNEL(32, 1) strided_words(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    uint32_t *word = (uint32_t *)(void *)shared->tile;
    if (pitch || me() == 0) st_shared_b32(&word[me() * pitch / 2], 0);
    __syncwarp();
    (void)ld_shared_b32(&word[me() * pitch / 2]);
}

static void expect_conflicts(void (*kernel)(const struct gemm_args), const char *name, int of_pitch,
                             const uint64_t *counter, uint64_t want) {
    test_open(SCHEDULE_TIME, 0, 4);
    pitch = of_pitch;
    const enum run_status status =
        test_run(&(struct test_launch){kernel, 1, 1, 32, sizeof(struct smem)}, NULL);
    EXPECT(status == RUN_OK, "%s", name);
    EXPECT(*counter == want, "%s, pitch %d: %d extra passes, not %d", name, of_pitch, (int)*counter,
           (int)want);
}

static void test_banks(void) {
    struct sim_statistics *s = &sim_statistics;
    /* 64 elements are 128 bytes: the eight rows of a matrix share four banks, 7 extra passes for
     * each of 4 matrices. */
    expect_conflicts(read_rows, "ldmatrix", 64, &s->ldmatrix_conflicts, 28);
    expect_conflicts(read_rows, "ldmatrix", 72, &s->ldmatrix_conflicts, 0);
    expect_conflicts(read_rows, "ldmatrix", 32, &s->ldmatrix_conflicts, 12);
    expect_conflicts(read_rows, "ldmatrix", 16, &s->ldmatrix_conflicts, 4);
    expect_conflicts(write_rows, "stmatrix", 64, &s->stmatrix_conflicts, 28);
    expect_conflicts(write_rows, "stmatrix", 72, &s->stmatrix_conflicts, 0);
    expect_conflicts(copy_rows, "cp.async", 64, &s->cp_async_conflicts, 28);
    expect_conflicts(copy_rows, "cp.async", 8, &s->cp_async_conflicts, 0);
    expect_conflicts(strided_words, "ld.shared", 2, &s->ld_shared_conflicts, 0);
    expect_conflicts(strided_words, "ld.shared", 4, &s->ld_shared_conflicts, 1);
    expect_conflicts(strided_words, "st.shared", 64, &s->st_shared_conflicts, 31);
    expect_conflicts(strided_words, "ld.shared", 0, &s->ld_shared_conflicts,
                     0); /* one word for all */
}

/* One lane, the same one every time it is asked, but not always lane 0. */
static void test_election(void) {
    static const int schedules[] = {SCHEDULE_TIME, SCHEDULE_EARLY, SCHEDULE_LATE, SCHEDULE_RANDOM};
    int others = 0;
    for (int i = 0; i < 4; ++i) {
        test_open(schedules[i], 7, 4);
        elected = elected_again = 0;
        test_run(&(struct test_launch){shuffles, 1, 1, 32, 0}, NULL);
        EXPECT(elected == 1 && elected_again == 1, "%d lanes were elected, %d of them twice",
               elected, elected_again);
        others += leader != 0;
    }
    EXPECT(others >= 1, "lane 0 is elected under every schedule");
}

int main(void) {
    test_conversions();
    test_election();
    test_open(SCHEDULE_RANDOM, 3, 4);
    test_run(&(struct test_launch){shuffles, 1, 1, 32, 0}, NULL);
    for (int lane = 0; lane < 32; ++lane)
        EXPECT(shuffled[lane] == 100 + (lane + 5) % 32, "lane %d got %d", lane, shuffled[lane]);
    test_mma();
    test_banks();
    backend_close();
    return expect_result();
}
