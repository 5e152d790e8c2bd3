/*
 * ceiling.c: the ceilings as contenders: as many FLOPs as the problem has, and nothing else; or the
 * reading of 4-bit weights, and nothing else.
 */
#include "gpu/ceiling.h"

#include <math.h>
#include <stdlib.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"
#include "gpu/read_only.h"
#include "scaled/w4_block.h"

static float *operands; /* in global memory: normal(0, 1), followed by what the kernels write */

/* A fixed sequence of numbers in (0, 1]: the upper bits of a 64-bit linear congruence. */
static double next_uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)((*state >> 33) + 1) / (double)(UINT64_C(1) << 31);
}

static bool upload_operands(void) {
    const size_t bytes = sizeof(float) * CEILING_OPERANDS;
    float *values = malloc(bytes);
    uint64_t state = 1;
    if (!values) return false;
    for (int i = 0; i < CEILING_OPERANDS;
         ++i) { /* Box and Muller's transformation of two uniforms */
        const double radius = sqrt(-2.0 * log(next_uniform(&state)));
        values[i] = (float)(radius * cos(6.283185307179586 * next_uniform(&state)));
    }
    const size_t sums = sizeof(float) * CEILING_SUMS * (size_t)gpu_state.sm_count;
    const bool good = cuda_ok(cudaMalloc((void **)&operands, bytes + sums),
                              "allocating the ceiling's operands") &&
                      backend_copy_in(operands, values, bytes);
    free(values);
    if (!good) ceiling_close();
    return good;
}

/* Steps per CTA for at least the problem's FLOPs. */
static int steps_of(const struct gemm_problem *problem, double flops_per_step) {
    const double flops = 2.0 * problem->m * problem->n * problem->k;
    return (int)ceil(flops / (flops_per_step * gpu_state.sm_count));
}

typedef cudaError_t ceiling_function(const float *, float *, int, int, cudaStream_t);

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                ceiling_function *ceiling, double flops_per_step, void *stream) {
    const cudaError_t status =
        ceiling(operands, operands + CEILING_OPERANDS, steps_of(problem, flops_per_step),
                gpu_state.sm_count, (cudaStream_t)stream);
    return cuda_ok(status, self->name) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static enum gemm_status enqueue_wgmma(const struct contender *self,
                                      const struct gemm_problem *problem, void *stream) {
    ceiling_function *const kernel =
        gpu_state.type == GEMM_BF16 ? ceiling_wgmma_bf16 : ceiling_wgmma_fp16;
    return enqueue(self, problem, kernel, CEILING_WGMMA_STEP, stream);
}

static enum gemm_status enqueue_mma(const struct contender *self,
                                    const struct gemm_problem *problem, void *stream) {
    ceiling_function *const kernel =
        gpu_state.type == GEMM_BF16 ? ceiling_mma_bf16 : ceiling_mma_fp16;
    return enqueue(self, problem, kernel, CEILING_MMA_STEP, stream);
}

static bool contender(const struct gemm_problem *problem, bool wgmma, struct contender *out) {
    if (!operands && !upload_operands()) return false;
    const double per_step = wgmma ? CEILING_WGMMA_STEP : CEILING_MMA_STEP;
    *out = (struct contender){.name = wgmma ? "wgmma-only" : "mma-only",
                              .result = RESULT_NONE,
                              .enqueue = wgmma ? enqueue_wgmma : enqueue_mma,
                              .flops = steps_of(problem, per_step) * per_step * gpu_state.sm_count};
    return true;
}

bool wgmma_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return contender(problems, true, out);
}

bool mma_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return contender(problems, false, out);
}

static enum gemm_status enqueue_read_with(const struct contender *self,
                                          const struct gemm_problem *p, bool early, void *stream) {
    const cudaError_t status = read_only(p->b, w4_bytes(p->n, p->k), p->d, gpu_state.sm_count,
                                         early, (cudaStream_t)stream);
    return cuda_ok(status, self->name) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static enum gemm_status enqueue_read(const struct contender *self, const struct gemm_problem *p,
                                     void *stream) {
    return enqueue_read_with(self, p, false, stream);
}

static enum gemm_status enqueue_read_ahead(const struct contender *self,
                                           const struct gemm_problem *p, void *stream) {
    return enqueue_read_with(self, p, true, stream);
}

static bool reader(const struct gemm_problem *problem, bool ahead, struct contender *out) {
    *out = (struct contender){.name = ahead ? "read-only-ahead" : "read-only",
                              .result = RESULT_NONE,
                              .enqueue = ahead ? enqueue_read_ahead : enqueue_read,
                              .flops = 2.0 * problem->m * problem->n * problem->k};
    return true;
}

bool read_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return reader(problems, false, out);
}

bool read_ahead_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return reader(problems, true, out);
}

void ceiling_close(void) {
    if (operands) cudaFree(operands);
    operands = NULL;
}
