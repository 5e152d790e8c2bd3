/*
 * cublaslt_call.c: described problems, the library's proposals, and the fastest of them. cuBLAS
 * Library, "Using the cuBLASLt API": cublasLtMatmul, cublasLtMatmulAlgoGetHeuristic.
 */
#include "gpu/cublaslt_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "gemm_types.h"
#include "gpu/baselines.h"
#include "gpu/cublaslt_algorithm.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"
#include "scaled/scales.h"

/* A way, described for a problem. */
struct setup {
    const struct cublaslt_way *way;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c, d; /* row-major A, B, C, D as the library sees them */
    cublasLtMatmulAlgo_t algorithm;
};

static struct {
    cublasLtHandle_t handle;
    void *workspace;
    struct setup setups[CUBLASLT_WAYS]; /* those with a way are in use */
} lt;

static bool lt_ok(cublasStatus_t status, const char *attempt) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    fprintf(stderr, "cuBLASLt: %s: %s\n", attempt, cublasLtGetStatusString(status));
    return false;
}

static bool set(struct setup *s, cublasLtMatmulDescAttributes_t attribute, const void *value,
                size_t bytes) {
    return lt_ok(cublasLtMatmulDescSetAttribute(s->operation, attribute, value, bytes),
                 "describing the operation");
}

/* ---- one call ---- */

/* Where the scales are, the library's first operand being B, and where the bias is. Both differ
 * from one buffer to the next. */
static bool set_pointers(struct setup *s, const struct gemm_problem *p) {
    const int bias = s->way->bias;
    const struct gemm_scales scales = gemm_scales_of(p->matrix);
    return (s->way->scaling == SCALING_NONE ||
            (set(s, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scales.b, sizeof scales.b) &&
             set(s, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scales.a, sizeof scales.a))) &&
           (bias == CUBLASLT_NO_MATRIX ||
            set(s, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->matrix[bias].memory,
                sizeof p->matrix[bias].memory));
}

static bool has_c(const struct setup *s) { return s->way->c != CUBLASLT_NO_MATRIX; }

static const void *c_of(const struct setup *s, const struct gemm_problem *p) {
    return has_c(s) ? p->matrix[s->way->c].memory : p->d;
}

/* `self->state` is the setup. */
static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const float one = 1.0f, zero = 0.0f;
    struct setup *const s = self->state;
    if (!set_pointers(s, p) ||
        !lt_ok(cublasLtMatmul(lt.handle, s->operation, &one, p->b, s->b, p->a, s->a,
                              has_c(s) ? &one : &zero, c_of(s, p), s->c, p->d, s->d, &s->algorithm,
                              lt.workspace, LIBRARY_WORKSPACE, (cudaStream_t)stream),
               "cublasLtMatmul"))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

/* ---- the description ---- */

static void destroy(struct setup *s) {
    if (s->operation) cublasLtMatmulDescDestroy(s->operation);
    if (s->a) cublasLtMatrixLayoutDestroy(s->a);
    if (s->b) cublasLtMatrixLayoutDestroy(s->b);
    if (s->c) cublasLtMatrixLayoutDestroy(s->c);
    if (s->d) cublasLtMatrixLayoutDestroy(s->d);
    *s = (struct setup){.way = NULL};
}

/* How scales are meant. False also where the library is too old for it. */
static bool describe_scaling(struct setup *s) {
    const int8_t fast = s->way->scaling == SCALING_TENSOR_FAST;
    if (s->way->scaling == SCALING_NONE) return true;
    if (!set(s, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast)) return false;
    if (s->way->scaling != SCALING_BLOCKS) return true;
#if CUBLAS_VERSION >= 120900
    const int32_t a = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    const int32_t b = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    return set(s, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &b, sizeof b) &&
           set(s, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &a, sizeof a);
#else
    return false;
#endif
}

static cudaDataType_t library_type(enum gemm_type type) {
    return type == GEMM_E4M3 ? CUDA_R_8F_E4M3 : type == GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

static bool describe(struct setup *s, const struct gemm_problem *p) {
    const cudaDataType_t type = library_type(gpu_state.type);
    const cudaDataType_t output = library_type(gemm_output_type(gpu_state.type));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    const int64_t ldc = has_c(s) ? p->matrix[s->way->c].ld : p->ldd;
    return lt_ok(cublasLtMatmulDescCreate(&s->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "describing the operation") &&
           set(s, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed) &&
           set(s, CUBLASLT_MATMUL_DESC_EPILOGUE, &s->way->epilogue, sizeof s->way->epilogue) &&
           set_pointers(s, p) && describe_scaling(s) &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->b, type, k, n, p->ldb), "describing B") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->a, type, k, m, p->lda), "describing A") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->c, output, n, m, ldc), "describing C") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->d, output, n, m, p->ldd), "describing D");
}

/* ---- the proposals ---- */

static bool prefer(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                   size_t bytes) {
    return lt_ok(cublasLtMatmulPreferenceSetAttribute(preference, attribute, value, bytes),
                 "setting a preference");
}

/* The power of two that an address is a multiple of, as far as the library cares. */
static uint32_t alignment_of(const void *pointer) {
    uint32_t alignment = 256;
    while ((uintptr_t)pointer % alignment)
        alignment /= 2;
    return alignment;
}

/* The library's proposals for what has been described. Returns how many. */
static int propose(const struct setup *s, const struct gemm_problem *p,
                   cublasLtMatmulHeuristicResult_t proposals[MOST_CANDIDATES]) {
    cublasLtMatmulPreference_t preference = NULL;
    /* How parts of k may be added. Those in place and in the output's type round them. */
    const uint32_t reductions =
        s->way->reduced ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const size_t workspace = LIBRARY_WORKSPACE;
    const uint32_t a = alignment_of(p->a), b = alignment_of(p->b), c = alignment_of(c_of(s, p));
    const uint32_t d = alignment_of(p->d);
    int found = 0;
    if (lt_ok(cublasLtMatmulPreferenceCreate(&preference), "creating a preference") &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
               sizeof workspace) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
               sizeof reductions) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &b, sizeof b) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &a, sizeof a) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d) &&
        !lt_ok(cublasLtMatmulAlgoGetHeuristic(lt.handle, s->operation, s->b, s->a, s->c, s->d,
                                              preference, MOST_CANDIDATES, proposals, &found),
               "asking for heuristics"))
        found = 0;
    if (preference) cublasLtMatmulPreferenceDestroy(preference);
    return found;
}

static bool open_library(void) {
    if (lt.handle) return true;
    if (!lt_ok(cublasLtCreate(&lt.handle), "creating a handle")) return false;
    if (cuda_ok(cudaMalloc(&lt.workspace, LIBRARY_WORKSPACE), "allocating cuBLASLt's workspace"))
        return true;
    cublaslt_close();
    return false;
}

/* The way's setup of the last time, emptied, or a free one. */
static struct setup *setup_for(const struct cublaslt_way *way) {
    struct setup *found = NULL;
    for (int i = 0; i < CUBLASLT_WAYS; ++i)
        if (lt.setups[i].way == way || (!lt.setups[i].way && !found)) found = &lt.setups[i];
    if (!found) abort(); /* CUBLASLT_WAYS are not enough */
    destroy(found);
    found->way = way;
    return found;
}

bool cublaslt_fastest(const struct cublaslt_way *way, const struct gemm_problem *problem,
                      struct contender *out) {
    cublasLtMatmulHeuristicResult_t proposals[MOST_CANDIDATES];
    struct setup tried[MOST_CANDIDATES];
    struct contender candidates[MOST_CANDIDATES];
    if (!open_library()) return false;
    struct setup *const s = setup_for(way);
    if (!describe(s, problem)) return false;
    const int count = propose(s, problem, proposals);
    for (int i = 0; i < count; ++i) {
        tried[i] = *s; /* the descriptions remain the setup's */
        tried[i].algorithm = proposals[i].algo;
        candidates[i] = contender_of(way->name, way->result, enqueue, &tried[i]);
    }
    const int winner = count ? fastest_candidate(candidates, count, problem) : -1;
    if (winner < 0) {
        fprintf(stderr, "cuBLASLt: no algorithm for %d x %d x %d (%s)\n", problem->m, problem->n,
                problem->k, way->name);
        return false;
    }
    s->algorithm = proposals[winner].algo;
    *out = contender_of(way->name, way->result, enqueue, s);
    out->algorithm = cublaslt_algorithm(&s->algorithm);
    return true;
}

void cublaslt_close(void) {
    for (int i = 0; i < CUBLASLT_WAYS; ++i)
        destroy(&lt.setups[i]);
    if (lt.handle) cublasLtDestroy(lt.handle);
    if (lt.workspace) cudaFree(lt.workspace);
    lt.handle = NULL;
    lt.workspace = NULL;
}
