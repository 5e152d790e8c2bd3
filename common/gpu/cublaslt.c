/*
 * cublaslt.c: the best that cuBLASLt has for a product: with parts of k that are added in fp32, or
 * may be rounded to D's type first; of e4m3, with each kind of scales.
 */
#include "gpu/baselines.h"
#include "gpu/cublaslt_call.h"

enum { FULL, REDUCED, BLOCKS, TENSOR, TENSOR_FAST, WAYS };
#define PRODUCT                                                                                    \
    .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .bias = CUBLASLT_NO_MATRIX, .c = CUBLASLT_NO_MATRIX
static const struct cublaslt_way ways[WAYS] = {
    [FULL] = {"cublaslt-best", RESULT_PRODUCT, PRODUCT},
    [REDUCED] = {"cublaslt-reduced", RESULT_ROUNDED, .reduced = true, PRODUCT},
    [BLOCKS] = {"cublaslt-blocks", RESULT_PRODUCT, .scaling = SCALING_BLOCKS, PRODUCT},
    [TENSOR] = {"cublaslt-tensor", RESULT_ONE_SCALE, .scaling = SCALING_TENSOR, PRODUCT},
    [TENSOR_FAST] = {"cublaslt-fast", RESULT_ONE_SCALE, .scaling = SCALING_TENSOR_FAST, PRODUCT},
};

bool cublaslt_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)count;
    return cublaslt_fastest(&ways[FULL], problems, out);
}

bool cublaslt_reduced_contender(const struct gemm_problem *problems, int count,
                                struct contender *out) {
    (void)count;
    return cublaslt_fastest(&ways[REDUCED], problems, out);
}

bool cublaslt_blocks_contender(const struct gemm_problem *problems, int count,
                               struct contender *out) {
    (void)count;
    return cublaslt_fastest(&ways[BLOCKS], problems, out);
}

bool cublaslt_tensor_contender(const struct gemm_problem *problems, int count,
                               struct contender *out) {
    (void)count;
    return cublaslt_fastest(&ways[TENSOR], problems, out);
}

bool cublaslt_fast_contender(const struct gemm_problem *problems, int count,
                             struct contender *out) {
    (void)count;
    return cublaslt_fastest(&ways[TENSOR_FAST], problems, out);
}
