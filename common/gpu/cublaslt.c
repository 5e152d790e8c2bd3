/*
 * cublaslt.c: the best that cuBLASLt has for a problem, found by trying what its heuristics
 * propose.
 *
 * The operands are turned around as in cublas.c. cuBLAS Library, "Using the cuBLASLt API":
 * cublasLtMatmul, cublasLtMatmulAlgoGetHeuristic.
 *
 * Of e4m3 there are three: with the scales of gemm.h, whose layouts are the library's ("128-element
 * 1D and 128x128 2D block scaling"; CUDA 12.9 on); with the first scale of each operand for all of
 * it; and the same with fast accumulation, which leaves out the promotion of sums to fp32.
 */
#include <cublasLt.h>
#include <stdio.h>

#include "gemm_types.h"
#include "gpu/baselines.h"
#include "gpu/cublaslt_algorithm.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

/* One way to multiply: for operands of 16 bits, with parts of k that are added in fp32, or may be
 * rounded to D's type first; for e4m3, by its scales. */
enum mode { FULL, REDUCED, BLOCKS, TENSOR, TENSOR_FAST, MODES };
static const struct {
    const char *name;
    enum contender_result result;
} modes[MODES] = {{"cublaslt-best", RESULT_PRODUCT},
                  {"cublaslt-reduced", RESULT_ROUNDED},
                  {"cublaslt-blocks", RESULT_PRODUCT},
                  {"cublaslt-tensor", RESULT_ONE_SCALE},
                  {"cublaslt-fast", RESULT_ONE_SCALE}};

/* It, described for a problem. */
struct setup {
    enum mode mode;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, d; /* row-major A, B, D as the library sees them */
    cublasLtMatmulAlgo_t algorithm;
};

static struct {
    cublasLtHandle_t handle;
    void *workspace;
    struct setup setups[MODES];
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

/* Where the scales are; the library's first operand is B. Differs from one buffer to the next. */
static bool set_scales(struct setup *s, const struct gemm_problem *p) {
    return s->mode < BLOCKS ||
           (set(s, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &p->scales.b, sizeof p->scales.b) &&
            set(s, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &p->scales.a, sizeof p->scales.a));
}

/* `self->state` is the setup. */
static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const float one = 1.0f, zero = 0.0f;
    struct setup *const s = self->state;
    if (!set_scales(s, p) ||
        !lt_ok(cublasLtMatmul(lt.handle, s->operation, &one, p->b, s->b, p->a, s->a, &zero, p->d,
                              s->d, p->d, s->d, &s->algorithm, lt.workspace, LIBRARY_WORKSPACE,
                              (cudaStream_t)stream),
               "cublasLtMatmul"))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

static void destroy_description(struct setup *s) {
    if (s->operation) cublasLtMatmulDescDestroy(s->operation);
    if (s->a) cublasLtMatrixLayoutDestroy(s->a);
    if (s->b) cublasLtMatrixLayoutDestroy(s->b);
    if (s->d) cublasLtMatrixLayoutDestroy(s->d);
    s->operation = NULL;
    s->a = s->b = s->d = NULL;
}

/* How scales are meant. False also where the library is too old for it. */
static bool describe_scaling(struct setup *s, const struct gemm_problem *p) {
    const int8_t fast = s->mode == TENSOR_FAST;
    if (s->mode < BLOCKS) return true;
    if (!set_scales(s, p) || !set(s, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast))
        return false;
    if (s->mode != BLOCKS) return true;
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
    destroy_description(s);
    return lt_ok(cublasLtMatmulDescCreate(&s->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "describing the operation") &&
           set(s, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed) &&
           describe_scaling(s, p) &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->b, type, k, n, p->ldb), "describing B") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->a, type, k, m, p->lda), "describing A") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->d, output, n, m, p->ldd), "describing D");
}

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
    const uint32_t reductions = s->mode == REDUCED ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                   : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const size_t workspace = LIBRARY_WORKSPACE;
    const uint32_t a = alignment_of(p->a), b = alignment_of(p->b), d = alignment_of(p->d);
    int found = 0;
    if (lt_ok(cublasLtMatmulPreferenceCreate(&preference), "creating a preference") &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
               sizeof workspace) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
               sizeof reductions) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &b, sizeof b) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &a, sizeof a) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &d, sizeof d) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d) &&
        !lt_ok(cublasLtMatmulAlgoGetHeuristic(lt.handle, s->operation, s->b, s->a, s->d, s->d,
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

/* The fastest of the proposals. False after a message. */
static bool contender(enum mode mode, const struct gemm_problem *problem, struct contender *out) {
    struct setup *const s = &lt.setups[mode];
    cublasLtMatmulHeuristicResult_t proposals[MOST_CANDIDATES];
    struct setup tried[MOST_CANDIDATES];
    struct contender candidates[MOST_CANDIDATES];
    s->mode = mode;
    if (!open_library() || !describe(s, problem)) return false;
    const int count = propose(s, problem, proposals);
    for (int i = 0; i < count; ++i) {
        tried[i] = *s; /* the descriptions remain the setup's */
        tried[i].algorithm = proposals[i].algo;
        candidates[i] = (struct contender){.name = modes[mode].name,
                                           .result = modes[mode].result,
                                           .enqueue = enqueue,
                                           .state = &tried[i]};
    }
    const int winner = count ? fastest_candidate(candidates, count, problem) : -1;
    if (winner < 0) {
        fprintf(stderr, "cuBLASLt: no algorithm for %d x %d x %d (%s)\n", problem->m, problem->n,
                problem->k, modes[mode].name);
        return false;
    }
    s->algorithm = proposals[winner].algo;
    *out = candidates[winner];
    out->state = s;
    out->algorithm = cublaslt_algorithm(&s->algorithm);
    return true;
}

bool cublaslt_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return contender(FULL, problems, out);
}

bool cublaslt_reduced_contender(const struct gemm_problem *problems, int count,
                                struct contender *out) {
    (void)count;
    return contender(REDUCED, problems, out);
}

bool cublaslt_blocks_contender(const struct gemm_problem *problems, int count,
                               struct contender *out) {
    (void)count;
    return contender(BLOCKS, problems, out);
}

bool cublaslt_tensor_contender(const struct gemm_problem *problems, int count,
                               struct contender *out) {
    (void)count;
    return contender(TENSOR, problems, out);
}

bool cublaslt_fast_contender(const struct gemm_problem *problems, int count,
                             struct contender *out) {
    (void)count;
    return contender(TENSOR_FAST, problems, out);
}

void cublaslt_close(void) {
    for (int i = 0; i < MODES; ++i)
        destroy_description(&lt.setups[i]);
    if (lt.handle) cublasLtDestroy(lt.handle);
    if (lt.workspace) cudaFree(lt.workspace);
    lt.handle = NULL;
    lt.workspace = NULL;
}
