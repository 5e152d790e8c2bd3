/*
 * wgmma.h: the simulator's half of hopper/wgmma.h.
 */
#ifndef SIM_HOPPER_WGMMA_H
#define SIM_HOPPER_WGMMA_H

#include "gemm.h"
#include "sim/hopper/call.h"

void sim_wgmma_fence(void);
void sim_wgmma(int n, float *acc, uint64_t a, uint64_t b, int accumulate, int mn_major, int bf16);
void sim_wgmma_e4m3(int n, float *acc, uint64_t a, uint64_t b, int accumulate);
void sim_wgmma_rs(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate, int mn_major,
                  int bf16);
void sim_wgmma_rs_e4m3(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate);
void sim_wgmma_commit_group(void);
void sim_wgmma_wait_group(int pending);
void sim_wgmma_promote(float *sum, const float *acc, const float scale[2], int count);
void sim_wgmma_promote_columns(float *sum, const float *acc, const float *scale, int count);

/* ---- the wrappers ---- */

#define wgmma_fence() SIM(sim_wgmma_fence())
#define wgmma_commit_group() SIM(sim_wgmma_commit_group())
#define wgmma_wait_group(pending) SIM(sim_wgmma_wait_group(IMMEDIATE(pending)))
#define wgmma_use_registers(acc, count) ((void)(acc))
#define wgmma_use_fragments(a, count) ((void)(a))
#define wgmma_promote(sum, acc, scale, count) SIM(sim_wgmma_promote(sum, acc, scale, count))
#define wgmma_promote_columns(sum, acc, scale, count)                                              \
    SIM(sim_wgmma_promote_columns(sum, acc, scale, count))
#define wgmma_m64nNk16(n, acc, a, b, accumulate)                                                   \
    SIM(sim_wgmma(n, acc, a, b, accumulate, 0, GEMM_BF16_ELEMENTS))
#define wgmma_m64nNk16_mn_major(n, acc, a, b, accumulate)                                          \
    SIM(sim_wgmma(n, acc, a, b, accumulate, 1, GEMM_BF16_ELEMENTS))
#define wgmma_m64nNk16_rs(n, acc, a, b, accumulate)                                                \
    SIM(sim_wgmma_rs(n, acc, a, b, accumulate, 0, GEMM_BF16_ELEMENTS))
#define wgmma_m64nNk16_rs_mn_major(n, acc, a, b, accumulate)                                       \
    SIM(sim_wgmma_rs(n, acc, a, b, accumulate, 1, GEMM_BF16_ELEMENTS))
#define wgmma_m64nNk32_e4m3(n, acc, a, b, accumulate) SIM(sim_wgmma_e4m3(n, acc, a, b, accumulate))
#define wgmma_m64nNk32_e4m3_rs(n, acc, a, b, accumulate)                                           \
    SIM(sim_wgmma_rs_e4m3(n, acc, a, b, accumulate))

#endif
