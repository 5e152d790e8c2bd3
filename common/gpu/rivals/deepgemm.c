/*
 * deepgemm.c: the fastest of DeepGEMM's kernels for a problem.
 *
 * Tensor maps, shared memory, grid and the rules for which tile may be tried are those of its own
 * host code (csrc/jit_kernels, which needs PyTorch and is not compiled). It selects one kernel by a
 * formula; here every kernel that fits is timed.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"
#include "gpu/rivals/deepgemm.h"
#include "scaled/scales.h"

/* What the chosen kernel computes, and of e4m3 B's scales without their padding. */
static struct {
    const struct gemm_problem *problems; /* [copies] */
    int copies;
    int groups;              /* each with n rows of B */
    const int *group_of_row; /* of A, in global memory; NULL: there is one group */
    float *scales;           /* in global memory, [copies][groups][blocks of n][blocks of k] */
} chosen;

#define X(name) &name,
static const struct deepgemm_table *const bf16_tables[] = {DEEPGEMM_BF16_TABLES};
static const struct deepgemm_table *const e4m3_tables[] = {DEEPGEMM_E4M3_TABLES};
#undef X
enum { TABLES = sizeof bf16_tables / sizeof *bf16_tables }; /* of each type */

static bool is_e4m3(void) { return gpu_state.type == GEMM_E4M3; }

/* ---- launching one kernel ---- */

/* A matrix [rows][columns] with a pitch of `ld`, all in elements, as the kernels expect it: boxes
 * as wide as the swizzle, or whole rows of the tile without one. */
static bool encode(CUtensorMap *map, CUtensorMapDataType type, int element_bytes, const void *base,
                   int rows, int columns, int64_t ld, int box_rows, int box_columns, int swizzle) {
    typedef __typeof__(cuTensorMapEncodeTiled) encode_function;
    static encode_function *function;
    if (!function)
        function = (encode_function *)cuda_driver_function("cuTensorMapEncodeTiled", 12000);
    if (!function) return false;
    const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                           CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
    const cuuint64_t extents[2] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t pitch[1] = {(cuuint64_t)(ld * element_bytes)};
    const cuuint32_t box[2] = {(cuuint32_t)(swizzle ? swizzle / element_bytes : box_columns),
                               (cuuint32_t)box_rows};
    const cuuint32_t every[2] = {1, 1};
    const CUresult status =
        function(map, type, 2, (void *)base, extents, pitch, box, every,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzles[swizzle == 128 ? 3 : swizzle / 32],
                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        fprintf(stderr, "DeepGEMM: cuTensorMapEncodeTiled: error %d\n", (int)status);
    return status == CUDA_SUCCESS;
}

static const void *function_of(const struct deepgemm_kernel *kernel) {
    return chosen.group_of_row ? kernel->contiguous : kernel->function;
}

static int smem_bytes(const struct deepgemm_kernel *kernel, int k) {
    return deepgemm_fixed_bytes(kernel->tile_m, kernel->tile_n, k, is_e4m3()) +
           kernel->stages * deepgemm_stage_bytes(kernel->tile_m, kernel->tile_n, is_e4m3());
}

static size_t scale_rows_of_b(const struct gemm_problem *p) {
    return (size_t)ceil_div(p->n, SCALE_BLOCK) * (size_t)chosen.groups;
}

/* B's scales of a problem, without padding. */
static float *scales_of_b(const struct gemm_problem *p) {
    const size_t each = scale_rows_of_b(p) * (size_t)ceil_div(p->k, SCALE_BLOCK);
    int copy = 0;
    while (copy < chosen.copies - 1 &&
           gemm_scales_of(chosen.problems[copy].matrix).b != gemm_scales_of(p->matrix).b)
        ++copy;
    return chosen.scales + (size_t)copy * each;
}

/* `self->state` is the kernel. */
static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const struct deepgemm_kernel *const kernel = self->state;
    const bool e4m3 = is_e4m3();
    const CUtensorMapDataType type =
        e4m3 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const int bytes = e4m3 ? 1 : 2, tile_m = kernel->tile_m, tile_n = kernel->tile_n;
    uint32_t m = (uint32_t)p->m, n = (uint32_t)p->n, k = (uint32_t)p->k;
    CUtensorMap a, b, d, scales;
    if (!encode(&a, type, bytes, p->a, p->m, p->k, p->lda, tile_m, kernel->tile_k, 128) ||
        !encode(&b, type, bytes, p->b, p->n * chosen.groups, p->k, p->ldb, tile_n, kernel->tile_k,
                128) ||
        !encode(&d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p->d, p->m, p->n, p->ldd, tile_m, tile_n,
                deepgemm_swizzle_d(tile_n)))
        return GEMM_LAUNCH_FAILED;
    /* A's scales lie as the kernel wants them: a row of m for each block of k. */
    if (e4m3 && !encode(&scales, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, gemm_scales_of(p->matrix).a,
                        ceil_div(p->k, SCALE_BLOCK), deepgemm_round_up(p->m, 4),
                        gemm_scales_of(p->matrix).pitch_a, 1, tile_m, 0))
        return GEMM_LAUNCH_FAILED;
    const int *grouped = chosen.group_of_row;
    float *scales_b = e4m3 ? scales_of_b(p) : NULL;
    void *arguments_bf16[] = {&grouped, &m, &n, &k, &a, &b, &d};
    void *arguments_e4m3[] = {&scales_b, &grouped, &m, &n, &k, &a, &b, &d, &scales};
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension};
    cluster.val.clusterDim.x = kernel->shared == SHARES_NOTHING ? 1 : 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    const cudaLaunchConfig_t launch = {.gridDim = {DEEPGEMM_SMS, 1, 1},
                                       .blockDim = {tile_m <= 64 ? 256 : 384, 1, 1},
                                       .dynamicSmemBytes = (size_t)smem_bytes(kernel, p->k),
                                       .stream = (cudaStream_t)stream,
                                       .attrs = &cluster,
                                       .numAttrs = kernel->shared != SHARES_NOTHING};
    return cuda_ok(cudaLaunchKernelExC(&launch, function_of(kernel),
                                       e4m3 ? arguments_e4m3 : arguments_bf16),
                   "DeepGEMM: launching")
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

/* ---- choosing one ---- */

/* May this kernel compute the problem, by DeepGEMM's rules? Where there is one for this very n and
 * k (`exact`), the general ones are not tried. */
static bool fits(const struct deepgemm_kernel *kernel, const struct gemm_problem *p, bool exact) {
    const int tiles = ceil_div(p->m, kernel->tile_m) * ceil_div(p->n, kernel->tile_n);
    return kernel->n == (exact ? p->n : 0) && kernel->k == (exact ? p->k : 0) &&
           function_of(kernel) && smem_bytes(kernel, p->k) <= DEEPGEMM_SMEM &&
           (kernel->tile_m >= 64 || p->m <= kernel->tile_m) &&
           (kernel->shared == SHARES_NOTHING || tiles > DEEPGEMM_SMS);
}

/* Lets the kernel have the shared memory that it needs for this k. False after a message. */
static bool allow_memory(const struct deepgemm_kernel *kernel, int k) {
    return cuda_ok(cudaFuncSetAttribute(function_of(kernel),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        smem_bytes(kernel, k)),
                   "DeepGEMM: setting the shared memory");
}

/* Takes the padding out of B's scales. Nothing is timed yet. False after a message. */
static bool pack_scales(const struct gemm_problem *problems, int copies) {
    if (!is_e4m3()) return true;
    const size_t rows = scale_rows_of_b(problems);
    const size_t row_bytes = sizeof(float) * (size_t)ceil_div(problems->k, SCALE_BLOCK);
    if (!cuda_ok(cudaMalloc((void **)&chosen.scales, rows * row_bytes * (size_t)copies),
                 "DeepGEMM: allocating scales"))
        return false;
    for (int i = 0; i < copies; ++i)
        if (!cuda_ok(cudaMemcpy2D(
                         scales_of_b(&problems[i]), row_bytes, gemm_scales_of(problems[i].matrix).b,
                         sizeof(float) * (size_t)gemm_scales_of(problems[i].matrix).pitch_b,
                         row_bytes, rows, cudaMemcpyDeviceToDevice),
                     "DeepGEMM: copying scales"))
            return false;
    return true;
}

static struct algorithm algorithm_of(const struct deepgemm_kernel *kernel) {
    return (struct algorithm){.name = kernel->n ? "n and k constant" : "n and k arguments",
                              .tile_m = kernel->tile_m,
                              .tile_n = kernel->tile_n,
                              .tile_k = kernel->tile_k,
                              .stages = kernel->stages,
                              .cluster_m = kernel->shared == SHARES_B ? 2 : 1,
                              .cluster_n = kernel->shared == SHARES_A ? 2 : 1,
                              .splits = 1,
                              .reduction = "none"};
}

/* The kernels that may compute the problem: those for its very n and k, or the general ones.
 * Returns how many; `candidates` has room for MOST_CANDIDATES. */
static int find_candidates(const struct gemm_problem *p, struct contender *candidates) {
    const struct deepgemm_table *const *const tables = is_e4m3() ? e4m3_tables : bf16_tables;
    int found = 0;
    bool exact = false;
    for (int t = 0; t < TABLES; ++t)
        exact |= tables[t]->kernels->n == p->n && tables[t]->kernels->k == p->k;
    for (int t = 0; t < TABLES; ++t)
        for (int i = 0; i < tables[t]->count && found < MOST_CANDIDATES; ++i) {
            const struct deepgemm_kernel *const kernel = &tables[t]->kernels[i];
            if (fits(kernel, p, exact) && allow_memory(kernel, p->k))
                candidates[found++] = (struct contender){.name = "deepgemm",
                                                         .result = RESULT_PRODUCT,
                                                         .enqueue = enqueue,
                                                         .state = (void *)kernel,
                                                         .algorithm = algorithm_of(kernel)};
        }
    return found;
}

bool deepgemm_contiguous_contender(const struct gemm_problem *problems, int count, int groups,
                                   const int *group_of_row, struct contender *out) {
    struct contender candidates[MOST_CANDIDATES];
    if (gpu_state.sm_count != DEEPGEMM_SMS) {
        fprintf(stderr, "DeepGEMM: compiled for %d SMs, this GPU has %d\n", DEEPGEMM_SMS,
                gpu_state.sm_count);
        return false;
    }
    if (problems->n % 8) { /* its own assertion in e4m3; in bf16 results are wrong */
        fprintf(stderr, "DeepGEMM: n = %d is no multiple of 8\n", problems->n);
        return false;
    }
    deepgemm_close();
    chosen.problems = problems;
    chosen.copies = count;
    chosen.groups = groups;
    chosen.group_of_row = group_of_row;
    if (!pack_scales(problems, count)) return false;
    const int found = find_candidates(problems, candidates);
    const int winner = found ? fastest_candidate(candidates, found, problems) : -1;
    if (winner < 0) {
        fprintf(stderr, "DeepGEMM: no kernel for %d x %d x %d\n", problems->m, problems->n,
                problems->k);
        return false;
    }
    *out = candidates[winner];
    return true;
}

bool deepgemm_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    return deepgemm_contiguous_contender(problems, count, 1, NULL, out);
}

void deepgemm_close(void) {
    if (chosen.scales) cudaFree(chosen.scales);
    chosen.scales = NULL;
}
