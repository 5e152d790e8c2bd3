/*
 * mma_f64.c: mma.sync of fp64, on fragments of one element in each register.
 *
 * PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point type" and its like: a lane of
 * group g = lane / 4 and place t = lane % 4 has rows g and, of 16 rows, g + 8 of A, columns t,
 * t + 4, ... ; of B the rows t, t + 4, ... in column g; of C and D two elements that adjoin, at
 * column 2 t of the same rows. Products are added one after the other, each rounded once.
 */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "semantics/address.h"
#include "semantics/mma.h"
#include "sim/core/collective.h"

enum { ROWS = 16, COLUMNS = 8, MOST_K = 16, GROUP = 4 };
enum { MOST_A = ROWS * MOST_K / WARP_SIZE, MOST_B = MOST_A / 2, MOST_D = 4 };
enum { OPTION_ROWS, OPTION_K, OPTION_ROUNDING };

struct call {
    const struct operation *op;
    double a[MOST_A], b[MOST_B], d[MOST_D];
};

static double sum(int k, const double *a, const double *b, double c, int rounding) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    volatile double result = c;
    fesetround(modes[rounding]);
    for (int i = 0; i < k; ++i) {
        const volatile double x = a[i], y = b[i];
        result = fma(x, y, result);
    }
    fesetround(FE_TONEAREST);
    return result;
}

static bool multiply(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    static double a[ROWS][MOST_K], b[COLUMNS][MOST_K];
    const struct operation *const op = ((const struct call *)operand[0])->op;
    const int high = op->option[OPTION_ROWS] / 8, k = op->option[OPTION_K];
    (void)warp;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct call *const c = operand[lane];
        const int g = lane / GROUP, t = lane % GROUP;
        for (int i = 0; i < high * k / GROUP; ++i)
            a[g + 8 * (i % high)][t + GROUP * (i / high)] = c->a[i];
        for (int i = 0; i < k / GROUP; ++i)
            b[g][t + GROUP * i] = c->b[i];
    }
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        for (int i = 0; i < 2 * high; ++i) {
            struct call *const c = operand[lane];
            c->d[i] = sum(k, a[lane / GROUP + 8 * (i / 2)], b[lane % GROUP * 2 + i % 2], c->d[i],
                          op->option[OPTION_ROUNDING]);
        }
    return true;
}

/* op->list: D, A, B, C, one behind the other. */
static void run(const struct operation *op, struct frame *frame) {
    struct call c = {.op = op};
    const int high = op->option[OPTION_ROWS] / 8, of_b = op->option[OPTION_K] / GROUP;
    const int *list = op->list + 2 * high;
    for (int i = 0; i < high * of_b; ++i)
        c.a[i] = VALUE_AT(reg_f64, *list++);
    for (int i = 0; i < of_b; ++i)
        c.b[i] = VALUE_AT(reg_f64, *list++);
    for (int i = 0; i < 2 * high; ++i)
        c.d[i] = VALUE_AT(reg_f64, *list++);
    if (sim_thread()->warp->lanes != UINT32_MAX)
        thread_not_modelled(op, "a warp of fewer than 32 threads");
    sim_warp_collective("mma.sync", &c, multiply);
    for (int i = 0; i < 2 * high; ++i)
        VALUE_AT(reg_f64, op->list[i]) = c.d[i];
}

/* .SHAPE.row.col.f64.f64.f64.f64{.rounding} */
void decode_mma_f64(struct decoder *d) {
    static const char *const shapes[] = {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16", NULL};
    static const char *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
    const int shape = take_one_of(d, shapes), rows = shape ? 16 : 8,
              k = shape > 1 ? 4 << (shape - 1) : 4;
    if (shape < 0) refuse(d, "this shape is not modelled");
    require(d, "row");
    require(d, "col");
    for (int i = 0; i < 4; ++i)
        require(d, "f64");
    const int rounding = take_one_of(d, roundings);
    const int counts[] = {rows / 4, rows * k / WARP_SIZE, k / GROUP, rows / 4};
    take_fragments(d, counts, 'g');
    d->op->option[OPTION_ROWS] = rows;
    d->op->option[OPTION_K] = k;
    d->op->option[OPTION_ROUNDING] = rounding < 0 ? 0 : rounding;
    d->op->run = run;
}
