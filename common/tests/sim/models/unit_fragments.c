/*
 * unit_fragments.c: which element of a tile a register of a thread holds, against the PTX ISA's
 * pictures of wgmma's fragments read the other way round: by element, not by register.
 *
 * PTX ISA: "Register Fragments and Shared Memory Matrix Layouts", "Accumulator D" and "Matrix A
 * fragments for wgmma.mma_async.m64nNk16".
 */
#include <stdbool.h>
#include <string.h>

#include "sim/models/fragments.h"
#include "tests/support/expect.h"

enum { WARPGROUP = 128, M = 64, K = 16, MOST_N = 256 };

struct holder {
    int thread, reg;
};

/* The picture's cell of row `row`, column `column`: rows are dealt to the four warps 16 at a time;
 * in a warp's rows a quad of threads has row r and row r + 8, two columns a thread. */
static struct holder holder_of_d(int row, int column) {
    static const int quad_registers[2] = {0, 2}; /* upper and lower eight rows */
    const int in_warp = row % 16;
    return (struct holder){row / 16 * 32 + in_warp % 8 * 4 + column % 8 / 2,
                           column / 8 * 4 + quad_registers[in_warp / 8] + column % 2};
}

/* The same of A: register 0 the upper left 8 x 8 of a warp's rows, 1 the lower left, 2 the upper
 * right, 3 the lower right. */
static struct holder holder_of_a(int row, int column) {
    static const int quarters[2][2] = {{0, 2}, {1, 3}};
    const int in_warp = row % 16;
    return (struct holder){row / 16 * 32 + in_warp % 8 * 4 + column % 8 / 2,
                           quarters[in_warp / 8][column / 8]};
}

/* Every element of D has one place, and it is the picture's. */
static void test_d(int n) {
    static bool seen[M][MOST_N];
    memset(seen, 0, sizeof seen);
    for (int thread = 0; thread < WARPGROUP; ++thread)
        for (int i = 0; i < n / 2; ++i) {
            const struct fragment_position at = fragment_of_d(thread, i);
            const bool inside = at.row >= 0 && at.row < M && at.column >= 0 && at.column < n;
            EXPECT(inside, "n %d, thread %d, register %d: (%d, %d)", n, thread, i, at.row,
                   at.column);
            if (!inside) continue;
            const struct holder holder = holder_of_d(at.row, at.column);
            EXPECT(holder.thread == thread && holder.reg == i,
                   "n %d (%d, %d): thread %d register %d, expected %d and %d", n, at.row, at.column,
                   thread, i, holder.thread, holder.reg);
            EXPECT(!seen[at.row][at.column], "n %d (%d, %d) twice", n, at.row, at.column);
            seen[at.row][at.column] = true;
        }
}

static void test_a(void) {
    bool seen[M][K] = {{false}};
    for (int thread = 0; thread < WARPGROUP; ++thread)
        for (int i = 0; i < 4; ++i)
            for (int half = 0; half < 2; ++half) {
                const struct fragment_position at = fragment_of_a(thread, i, half);
                const bool inside = at.row >= 0 && at.row < M && at.column >= 0 && at.column < K;
                EXPECT(inside, "thread %d, register %d: (%d, %d)", thread, i, at.row, at.column);
                if (!inside) continue;
                const struct holder holder = holder_of_a(at.row, at.column);
                EXPECT(holder.thread == thread && holder.reg == i && half == at.column % 2,
                       "(%d, %d): thread %d register %d half %d, expected %d and %d", at.row,
                       at.column, thread, i, half, holder.thread, holder.reg);
                EXPECT(!seen[at.row][at.column], "(%d, %d) twice", at.row, at.column);
                seen[at.row][at.column] = true;
            }
}

/* Cells as the pictures label them: the corners of the first and the last warp. */
static void test_labels(void) {
    static const struct {
        int thread, reg, row, column;
    } d[] = {{0, 0, 0, 0},      {0, 1, 0, 1},   {1, 0, 0, 2},     {3, 1, 0, 7},
             {0, 4, 0, 8},      {4, 0, 1, 0},   {28, 0, 7, 0},    {0, 2, 8, 0},
             {31, 3, 15, 7},    {32, 0, 16, 0}, {0, 124, 0, 248}, {127, 127, 63, 255},
             {99, 126, 56, 254}};
    for (size_t i = 0; i < sizeof d / sizeof *d; ++i) {
        const struct fragment_position at = fragment_of_d(d[i].thread, d[i].reg);
        EXPECT(at.row == d[i].row && at.column == d[i].column, "T%d d%d: (%d, %d)", d[i].thread,
               d[i].reg, at.row, at.column);
    }
    static const struct {
        int thread, reg, half, row, column;
    } a[] = {{0, 0, 0, 0, 0},  {0, 0, 1, 0, 1},    {0, 1, 0, 8, 0},   {0, 2, 0, 0, 8},
             {3, 2, 1, 0, 15}, {31, 3, 1, 15, 15}, {96, 0, 0, 48, 0}, {127, 3, 1, 63, 15}};
    for (size_t i = 0; i < sizeof a / sizeof *a; ++i) {
        const struct fragment_position at = fragment_of_a(a[i].thread, a[i].reg, a[i].half);
        EXPECT(at.row == a[i].row && at.column == a[i].column, "T%d a%d: (%d, %d)", a[i].thread,
               a[i].reg, at.row, at.column);
    }
}

int main(void) {
    for (int n = 8; n <= MOST_N; n += 8)
        test_d(n);
    test_a();
    test_labels();
    return expect_result();
}
