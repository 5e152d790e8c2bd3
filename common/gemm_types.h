/*
 * gemm_types.h: what an enum gemm_type says of the elements.
 */
#ifndef GEMM_TYPES_H
#define GEMM_TYPES_H

#include "gemm.h"

/* Do operands of this type have scales? */
static inline bool gemm_type_is_scaled(enum gemm_type type) {
    return type == GEMM_E4M3 || type == GEMM_W4A8;
}

/* The elements of D, if the operands are of this type. */
static inline enum gemm_type gemm_output_type(enum gemm_type type) {
    return gemm_type_is_scaled(type) ? GEMM_BF16 : type;
}

/* Bytes of an element; 0 for GEMM_W4A8, which is no type of an element. */
static inline int gemm_type_bytes(enum gemm_type type) {
    return type == GEMM_W4A8 ? 0 : type == GEMM_E4M3 ? 1 : type == GEMM_FP32 ? 4 : 2;
}

#endif
