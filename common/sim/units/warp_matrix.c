/*
 * warp_matrix.c: ldmatrix, stmatrix and mma.sync, whose sums are tensor_sum.h's.
 */
#include <string.h>

#include "hopper/mma.h"
#include "sim/core/collective.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/cost/warp_timing.h"
#include "sim/models/tensor_core.h"
#include "sim/order/shadow.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/wgmma/state.h"

enum { ROW_BYTES = 16, MATRIX_ROWS = 8 };

/* These instructions exist for whole warps only. */
static void require_whole_warp(const char *name) {
    if (sim_thread()->warp->lanes != 0xffffffffu)
        sim_fatal("diverged-warp", NULL, "%s in a warp of fewer than 32 threads", name);
}

struct rows {
    struct sim_shared_pointer row; /* of the lanes whose addresses count, eight for each matrix */
    uint32_t *r;
    int matrices;
    bool transposed;
};

/* The rows are accesses of the lanes that give their addresses. */
static unsigned touch_rows(struct sim_warp *warp, void *const operand[WARP_SIZE],
                           enum sim_access access) {
    size_t offset[WARP_SIZE];
    const int rows = ((const struct rows *)operand[0])->matrices * MATRIX_ROWS;
    for (int lane = 0; lane < rows; ++lane) {
        const struct rows *o = operand[lane];
        offset[lane] = o->row.offset;
        sim_shadow_generic(warp->thread[lane], o->row.cta, o->row.offset, ROW_BYTES, access);
    }
    return timing_rows(warp, offset, rows);
}

static bool ldmatrix(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    ++sim_statistics.ldmatrix;
    sim_statistics.ldmatrix_conflicts += touch_rows(warp, operand, SIM_READ);
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct rows *o = operand[lane];
        for (int i = 0; i < o->matrices; ++i) {
            const struct rows *source = operand[i * MATRIX_ROWS + lane / 4];
            if (!o->transposed)
                memcpy(&o->r[i], source->row.host + lane % 4 * sizeof(uint32_t), sizeof(uint32_t));
            for (int half = 0; half < 2 && o->transposed; ++half) {
                uint16_t element;
                source = operand[i * MATRIX_ROWS + lane % 4 * 2 + half];
                memcpy(&element, source->row.host + (size_t)(lane / 4) * sizeof element,
                       sizeof element);
                o->r[i] = half ? o->r[i] | (uint32_t)element << 16 : element;
            }
        }
        if (o->matrices < 4) continue; /* a wgmma's A has four */
        wgmma_fragment_loaded(warp->thread[lane], o->r);
        register_watch_load(warp->thread[lane], o->r);
    }
    timing_fragments(warp, ((struct rows *)operand[0])->r);
    return true;
}

void sim_ldmatrix(uint32_t *r, const void *row, int matrices, bool transposed) {
    require_whole_warp("ldmatrix");
    struct rows o = {.r = r, .matrices = matrices, .transposed = transposed};
    if (sim_thread()->lane < matrices * MATRIX_ROWS)
        o.row = sim_shared_at(row, ROW_BYTES, ROW_BYTES);
    sim_warp_collective("ldmatrix", &o, ldmatrix);
}

void sim_ldmatrix_x4(uint32_t r[4], const void *row) {
    sim_turn(SIM_EVENT_CUE_FRAGMENTS, TURN_FRAGMENTS, TURN_FRAGMENTS, TURN_MULTIPLY | TURN_BARRIER);
    sim_ldmatrix(r, row, 4, false);
}

static bool stmatrix(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    ++sim_statistics.stmatrix;
    sim_statistics.stmatrix_conflicts += touch_rows(warp, operand, SIM_WRITE);
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct rows *o = operand[lane];
        for (int i = 0; i < o->matrices; ++i) {
            const struct rows *row = operand[i * MATRIX_ROWS + lane / 4];
            if (!o->transposed)
                memcpy(row->row.host + lane % 4 * sizeof(uint32_t), &o->r[i], sizeof(uint32_t));
            for (int half = 0; half < 2 && o->transposed; ++half) {
                const uint16_t element = (uint16_t)(o->r[i] >> 16 * half);
                row = operand[i * MATRIX_ROWS + lane % 4 * 2 + half];
                memcpy(row->row.host + (size_t)(lane / 4) * sizeof element, &element,
                       sizeof element);
            }
        }
    }
    return true;
}

void sim_stmatrix(void *row, const uint32_t *r, int matrices, bool transposed) {
    require_whole_warp("stmatrix");
    uint32_t copy[4];
    memcpy(copy, r, (size_t)matrices * sizeof *copy);
    struct rows o = {.r = copy, .matrices = matrices, .transposed = transposed};
    if (sim_thread()->lane < matrices * MATRIX_ROWS)
        o.row = sim_shared_at(row, ROW_BYTES, ROW_BYTES);
    for (int i = 0; i < matrices; ++i)
        sim_check_register(copy[i]);
    sim_warp_collective("stmatrix", &o, stmatrix);
    sim_progress();
}

/* ---- mma.sync m16n8k16 ---- */

enum { M = 16, N = 8 };

struct mma {
    float *d;
    const uint32_t *a, *b;
    int bf16;
};

/* Sums that begin with what the compiler has put into variables without a value, in every lane. */
static void check_initialized(const struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    for (int i = 0; i < 4; ++i) {
        int unset = 0;
        while (unset < WARP_SIZE && sim_is_unset(((const struct mma *)operand[unset])->d[i]))
            ++unset;
        if (unset < WARP_SIZE) continue;
        sim_hazard("uninitialized-registers", warp->thread[0],
                   "mma.sync adds to d[%d], which was never given a value\n"
                   "    set the sums to zero before the first multiplication",
                   i);
        return;
    }
}

static bool mma(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    static struct wgmma_operand a, b; /* 32 KB: too much for a fiber's stack */
    float d[M][N];
    ++sim_statistics.mma;
    check_initialized(warp, operand);
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct mma *o = operand[lane];
        const int g = lane / 4, t = lane % 4 * 2;
        for (int half = 0; half < 2; ++half) {
            const int shift = 16 * half;
            a.bits[t + half][g] = (uint16_t)(o->a[0] >> shift);
            a.bits[t + half][g + 8] = (uint16_t)(o->a[1] >> shift);
            a.bits[t + 8 + half][g] = (uint16_t)(o->a[2] >> shift);
            a.bits[t + 8 + half][g + 8] = (uint16_t)(o->a[3] >> shift);
            b.bits[t + half][g] = (uint16_t)(o->b[0] >> shift);
            b.bits[t + 8 + half][g] = (uint16_t)(o->b[1] >> shift);
            d[g][t + half] = o->d[half];
            d[g + 8][t + half] = o->d[2 + half];
        }
    }
    const enum tensor_type type =
        ((const struct mma *)operand[0])->bf16 ? TENSOR_BF16 : TENSOR_FP16;
    tensor_core_multiply(d[0], &a, &b, (struct tensor_shape){M, N, type, type, true});
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct mma *o = operand[lane];
        const int g = lane / 4, t = lane % 4 * 2;
        for (int half = 0; half < 2; ++half) {
            o->d[half] = d[g][t + half];
            o->d[2 + half] = d[g + 8][t + half];
        }
    }
    timing_mma(warp, ((const struct mma *)operand[0])->d);
    return true;
}

void sim_mma_m16n8k16(float d[4], const uint32_t a[4], const uint32_t b[2], int bf16) {
    require_whole_warp("mma.sync");
    sim_turn(SIM_EVENT_CUE_MULTIPLY, TURN_MULTIPLY, TURN_MULTIPLY,
             TURN_FRAGMENTS | TURN_BARRIER | TURN_RESULT);
    timing_operands(sim_thread(), d, a, b);
    struct mma o = {d, a, b, bf16};
    sim_warp_collective("mma.sync", &o, mma);
}
