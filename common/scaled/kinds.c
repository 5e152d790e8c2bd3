/*
 * kinds.c: the product of e4m3 operands, and that with 4-bit weights, as kinds of problem: for
 * chapters 11 and 12 and the library's w4a8_gemm.
 */
#include "scaled/formats.h"

/* If one of the kernels knows no others, one scale for all of A and one for all of B. */
static const struct operand_format *
e4m3_format(enum gemm_type type, const struct gemm_kernel *const *kernels, int count) {
    bool tensor_scales = false;
    (void)type;
    for (int i = 0; i < count; ++i) {
        const struct scaled_kernel *const scaled = kernels[i]->of_kind;
        tensor_scales |= scaled && scaled->tensor_scales;
    }
    return tensor_scales ? &tensors_format : &blocks_format;
}

static const struct operand_format *read_e4m3_as(const struct operands *o,
                                                 enum contender_result result) {
    const bool same = result == RESULT_PRODUCT || result == RESULT_ROUNDED ||
                      (result == RESULT_ONE_SCALE && o->format == &tensors_format);
    return same ? o->format : NULL;
}

const struct problem_kind scaled_kind = {.formula = "D = A * B",
                                         .format = e4m3_format,
                                         .read_as = read_e4m3_as,
                                         .matrices = scaled_matrices,
                                         .fill = scaled_fill,
                                         .reference = product_reference,
                                         .baselines = backend_baselines,
                                         .library = "cublas"};

static const struct operand_format *
w4a8_format(enum gemm_type type, const struct gemm_kernel *const *kernels, int count) {
    (void)type, (void)kernels, (void)count;
    return &weights_format;
}

static const struct operand_format *read_w4a8_as(const struct operands *o,
                                                 enum contender_result result) {
    const bool same = result == RESULT_PRODUCT || result == RESULT_ROUNDED;
    return same ? o->format : result == RESULT_E4M3_WEIGHTS ? &e4m3_weights_format : NULL;
}

const struct problem_kind w4a8_kind = {.formula = "D = A * B",
                                       .format = w4a8_format,
                                       .read_as = read_w4a8_as,
                                       .matrices = scaled_matrices,
                                       .fill = scaled_fill,
                                       .reference = product_reference,
                                       .baselines = backend_baselines,
                                       .library = "cublas"};
