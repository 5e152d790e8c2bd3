/*
 * cublaslt.c: the best that cuBLASLt has for a problem, found by trying what its heuristics
 * propose.
 *
 * The operands are turned around as in cublas.c. cuBLAS Library, "Using the cuBLASLt API":
 * cublasLtMatmul, cublasLtMatmulAlgoGetHeuristic.
 */
#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

enum {
    CANDIDATES = 32, /* heuristics asked for */
    ROUNDS = 3,      /* in which each is timed; the median counts */
};
static const double WORK_MS = 3.0;   /* of one candidate in one round */
static const double PAUSE_S = 0.02;  /* before it, so that no candidate inherits a hot GPU */
static const double HOPELESS = 1.25; /* times the best of the first round: not timed again */

static struct {
    cublasLtHandle_t handle;
    void *workspace;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, d; /* row-major A, B, D as the library sees them */
    cublasLtMatmulAlgo_t best;
} lt;

static bool lt_ok(cublasStatus_t status, const char *attempt) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    fprintf(stderr, "cuBLASLt: %s: %s\n", attempt, cublasLtGetStatusString(status));
    return false;
}

/* `self->state` is the algorithm. */
static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const float one = 1.0f, zero = 0.0f;
    if (!lt_ok(cublasLtMatmul(lt.handle, lt.operation, &one, p->b, lt.b, p->a, lt.a, &zero, p->d,
                              lt.d, p->d, lt.d, self->state, lt.workspace, LIBRARY_WORKSPACE,
                              (cudaStream_t)stream),
               "cublasLtMatmul"))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

static void destroy_description(void) {
    if (lt.operation) cublasLtMatmulDescDestroy(lt.operation);
    if (lt.a) cublasLtMatrixLayoutDestroy(lt.a);
    if (lt.b) cublasLtMatrixLayoutDestroy(lt.b);
    if (lt.d) cublasLtMatrixLayoutDestroy(lt.d);
    lt.operation = NULL;
    lt.a = lt.b = lt.d = NULL;
}

static bool describe(const struct gemm_problem *p) {
    const cudaDataType_t type = gpu_state.type == GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    destroy_description();
    return lt_ok(cublasLtMatmulDescCreate(&lt.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "describing the operation") &&
           lt_ok(cublasLtMatmulDescSetAttribute(lt.operation, CUBLASLT_MATMUL_DESC_TRANSA,
                                                &transposed, sizeof transposed),
                 "describing the operation") &&
           lt_ok(cublasLtMatrixLayoutCreate(&lt.b, type, k, n, p->ldb), "describing B") &&
           lt_ok(cublasLtMatrixLayoutCreate(&lt.a, type, k, m, p->lda), "describing A") &&
           lt_ok(cublasLtMatrixLayoutCreate(&lt.d, type, n, m, p->ldd), "describing D");
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
static int propose(const struct gemm_problem *p,
                   cublasLtMatmulHeuristicResult_t proposals[CANDIDATES]) {
    cublasLtMatmulPreference_t preference = NULL;
    const size_t workspace = LIBRARY_WORKSPACE;
    const uint32_t a = alignment_of(p->a), b = alignment_of(p->b), d = alignment_of(p->d);
    int found = 0;
    if (lt_ok(cublasLtMatmulPreferenceCreate(&preference), "creating a preference") &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
               sizeof workspace) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &b, sizeof b) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &a, sizeof a) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &d, sizeof d) &&
        prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d) &&
        !lt_ok(cublasLtMatmulAlgoGetHeuristic(lt.handle, lt.operation, lt.b, lt.a, lt.d, lt.d,
                                              preference, CANDIDATES, proposals, &found),
               "asking for heuristics"))
        found = 0;
    if (preference) cublasLtMatmulPreferenceDestroy(preference);
    return found;
}

/* Milliseconds of one multiplication by this algorithm, in a short batch; negative if it does not
 * run. */
static double time_one(const struct gemm_problem *problem, cublasLtMatmulAlgo_t *algorithm) {
    const struct contender candidate = {
        .name = "cublaslt candidate", .computes = true, .enqueue = enqueue, .state = algorithm};
    struct batch batch;
    double cycles;
    /* Once outside of a capture, where a kernel may not be loaded. */
    if (backend_run(&candidate, problem, &cycles) != RUN_OK) return -1.0;
    backend_pause(PAUSE_S);
    if (!backend_time(&candidate, problem, 1, 1, &batch)) return -1.0;
    const double estimate = batch.ms / batch.launches;
    const int launches = estimate * 2 < WORK_MS ? (int)(WORK_MS / estimate) : 2;
    if (!backend_time(&candidate, problem, 1, launches, &batch)) return -1.0;
    return batch.ms / batch.launches;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times the proposals in rounds, each round in another order. Returns the index of the fastest, or
 * -1. */
static int rank(const struct gemm_problem *problem, cublasLtMatmulHeuristicResult_t *proposals,
                int count) {
    double ms[CANDIDATES][ROUNDS];
    bool out[CANDIDATES] = {false};
    for (int round = 0; round < ROUNDS; ++round) {
        /* Every stride prime to the count visits all candidates; it and the start differ between
         * the rounds. */
        static const int strides[ROUNDS] = {1, 31, 7};
        const int stride = count % strides[round] ? strides[round] : 1;
        for (int i = 0; i < count; ++i) {
            const int c = (round * 11 + i * stride) % count;
            if (out[c]) continue;
            ms[c][round] = time_one(problem, &proposals[c].algo);
            out[c] = ms[c][round] <= 0.0;
        }
        double best = 0.0;
        for (int c = 0; c < count; ++c)
            if (!out[c] && (best == 0.0 || ms[c][round] < best)) best = ms[c][round];
        for (int c = 0; c < count && round == 0; ++c)
            if (!out[c] && ms[c][round] > HOPELESS * best) out[c] = true;
    }
    int winner = -1;
    for (int c = 0; c < count; ++c) {
        if (out[c]) continue;
        qsort(ms[c], ROUNDS, sizeof ms[c][0], by_value);
        if (winner < 0 || ms[c][ROUNDS / 2] < ms[winner][ROUNDS / 2]) winner = c;
    }
    return winner;
}

bool cublaslt_contender(const struct gemm_problem *problem, struct contender *out) {
    if (!lt.handle) {
        if (!lt_ok(cublasLtCreate(&lt.handle), "creating a handle")) return false;
        if (!cuda_ok(cudaMalloc(&lt.workspace, LIBRARY_WORKSPACE),
                     "allocating cuBLASLt's workspace")) {
            cublaslt_close();
            return false;
        }
    }
    if (!describe(problem)) return false;
    cublasLtMatmulHeuristicResult_t proposals[CANDIDATES];
    const int count = propose(problem, proposals);
    const int winner = count ? rank(problem, proposals, count) : -1;
    if (winner < 0) {
        fprintf(stderr, "cuBLASLt: no algorithm for %d x %d x %d\n", problem->m, problem->n,
                problem->k);
        return false;
    }
    lt.best = proposals[winner].algo;
    *out = (struct contender){
        .name = "cublaslt-best", .computes = true, .enqueue = enqueue, .state = &lt.best};
    return true;
}

void cublaslt_close(void) {
    destroy_description();
    if (lt.handle) cublasLtDestroy(lt.handle);
    if (lt.workspace) cudaFree(lt.workspace);
    lt.handle = NULL;
    lt.workspace = NULL;
}
