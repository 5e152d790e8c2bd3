/*
 * ptxas_kernels.cu: kernels that the build must refuse, and one that it must not. ptxas_kernels.sh
 * compiles them one by one, chosen by a macro.
 */
#define GEMM_BF16_ELEMENTS 1
#include "hopper/registers.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#if IGNORED
/* No launch bounds: the registers at entry are unknown, so setmaxnreg is ignored. */
extern "C" __global__ void kernel(float *out) {
    setmaxnreg_inc(240);
    out[threadIdx.x] = 1.0f;
}
#elif SPILLED
/* 1024 threads leave 64 registers each, and 128 values are loaded before the first is stored. */
extern "C" __global__ void __launch_bounds__(1024, 1) kernel(volatile float *out) {
    float value[128];
    UNROLL for (int i = 0; i < 128; ++i) value[i] = out[i * 1024 + threadIdx.x];
    UNROLL for (int i = 0; i < 128; ++i) out[threadIdx.x * 128 + i] = value[i];
}
#elif STACKED
/* The copy of the tensor map lies on the stack, where the TMA must not read it. */
extern "C" __global__ void __launch_bounds__(128, 1)
    kernel(const __grid_constant__ struct tensor_map map) {
    __shared__ alignas(1024) element_t box[64 * 64];
    __shared__ mbarrier_t full;
    const struct tensor_map copy = map;
    tma_load(box, &copy, 0, 0, &full);
}
#else
extern "C" __global__ void __launch_bounds__(128, 1) kernel(float *out, uint64_t a, uint64_t b) {
    float acc[128];
    UNROLL for (int i = 0; i < 128; ++i) acc[i] = out[i * 128];
    wgmma_fence();
    wgmma_m64nNk16(256, acc, a, b, 1);
#if SERIALIZED
    acc[3] += out[200]; /* touched while the Tensor Core owns it */
    wgmma_m64nNk16(256, acc, a, b, 1);
#endif
    wgmma_commit_group();
    wgmma_wait_group(0);
    wgmma_use_registers(acc, 128);
    UNROLL for (int i = 0; i < 128; ++i) out[threadIdx.x * 128 + i] = acc[i];
}
#endif
