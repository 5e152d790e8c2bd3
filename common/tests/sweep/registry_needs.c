/*
 * registry_needs.c: a table of three kernels with needs, where a program has that of all chapters:
 * one for bf16 alone, one for fp16 alone, one for more GPUs than there are.
 */
#include "harness/registry.h"

extern const struct gemm_kernel kernel_01_naive_bf16, kernel_01_naive_fp16;
extern const struct gemm_kernel kernel_02_smem_tiled_bf16, kernel_05_tma_mbarrier_fp16;

const struct kernel_entry kernel_registry[] = {
    {{[GEMM_FP16] = &kernel_01_naive_fp16, [GEMM_BF16] = &kernel_01_naive_bf16}, 9, true, NULL, 0},
    {{[GEMM_BF16] = &kernel_02_smem_tiled_bf16}, 1, true, NULL, 0},
    {{[GEMM_FP16] = &kernel_05_tma_mbarrier_fp16}, 1, true, NULL, 0},
};
const struct kernel_entry kernel_trace_registry[] = {
    {{NULL}, 9, true, NULL, 0}, {{NULL}, 1, true, NULL, 0}, {{NULL}, 1, true, NULL, 0}};
const int kernel_registry_count = 3;
const bool program_is_tour = true;
