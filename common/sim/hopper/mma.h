/*
 * mma.h: the simulator's half of hopper/mma.h.
 */
#ifndef SIM_HOPPER_MMA_H
#define SIM_HOPPER_MMA_H

#include "sim/hopper/call.h"

/* `matrices`: 1, 2 or 4; only the lanes below 8 * matrices give a row. */
void sim_ldmatrix(uint32_t *r, const void *row, int matrices, bool transposed);
void sim_ldmatrix_x4(uint32_t r[4], const void *row);
void sim_stmatrix(void *row, const uint32_t *r, int matrices, bool transposed);
void sim_mma_m16n8k16(float d[4], const uint32_t a[4], const uint32_t b[2], int bf16);

/* ---- the wrappers ---- */

#define ldmatrix_x4(r, row) SIM(sim_ldmatrix_x4(r, row))
#define stmatrix_x4(row, r) SIM(sim_stmatrix(row, r, 4, false))
#define stmatrix_x4_trans(row, r) SIM(sim_stmatrix(row, r, 4, true))
#define stmatrix_x2(row, r) SIM(sim_stmatrix(row, r, 2, false))
#define mma_m16n8k16(d, a, b) SIM(sim_mma_m16n8k16(d, a, b, GEMM_BF16_ELEMENTS))

#endif
