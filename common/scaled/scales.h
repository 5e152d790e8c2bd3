/*
 * scales.h: operands of 8 and 4 bits, whose elements mean something only with their scales
 * (chapters 11 and 12, one kernel of 15, and the library's w4a8_gemm).
 *
 * In e4m3 problems, A and B hold 8-bit elements with scales, lda and ldb are multiples of 16, and D
 * is bf16. In w4a8 problems the same holds for A, and B holds 4-bit weights and their scales in
 * blocks (w4_block.h).
 */
#ifndef SCALED_SCALES_H
#define SCALED_SCALES_H

#include "gemm.h"

/* An element of 8 bits: sign, 4 bits of exponent, 3 of mantissa. No infinities; the greatest number
 * is 448. In these problems the pointers of gemm_problem and gemm_args to elements of A and B are
 * pointers to this type. */
typedef struct {
    uint8_t bits;
} e4m3_t;

/* What an e4m3 means: in A times the scale of its row and its block of k, in B times that of its
 * block of columns and of k. Scales are stored so that those which a tile needs for one block of k
 * lie side by side; pitches are multiples of 16 bytes, the padding is anything. In w4a8 problems a
 * row of A has one scale, whatever the block: a is [1][pitch_a], and b is NULL. */
enum { SCALE_BLOCK = 128 }; /* elements of k, and of n */
struct gemm_scales {
    const float *a;       /* [ceil(k / SCALE_BLOCK)][pitch_a], of m rows each */
    const float *b;       /* [ceil(n / SCALE_BLOCK)][pitch_b], of the blocks of k */
    int pitch_a, pitch_b; /* floats, multiples of 4 */
};

/* In gemm_problem.matrix; the second in e4m3 problems alone. */
enum { MATRIX_SCALES_A, MATRIX_SCALES_B, SCALE_MATRICES };

/* What gemm_kernel.of_kind points to; NULL: all zero. */
struct scaled_kernel {
    bool tensor_scales; /* of e4m3: takes the first scale of A and the first of B for all of them,
                         * so its problems must have no others */
};

/* The parameter of a kernel whose operands have scales. It may have one of its own that begins like
 * this one: with gemm and scales. */
struct gemm_scaled_args {
    struct gemm_args gemm;
    struct gemm_scales scales;
    struct tensor_map map_scale_a, map_scale_b; /* of kernels that load scales with the TMA */
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct problem_kind scaled_kind GEMM_KIND_IF_LINKED, w4a8_kind GEMM_KIND_IF_LINKED;

#ifdef __cplusplus
}
#endif

/* ---- for launch functions (host thread) ---- */

/* From MATRIX_SCALES_A and MATRIX_SCALES_B. */
static inline struct gemm_scales gemm_scales_of(const struct gemm_matrix *matrix) {
    struct gemm_scales scales;
    scales.a = (const float *)matrix[MATRIX_SCALES_A].memory;
    scales.b = (const float *)matrix[MATRIX_SCALES_B].memory;
    scales.pitch_a = (int)matrix[MATRIX_SCALES_A].ld;
    scales.pitch_b = (int)matrix[MATRIX_SCALES_B].ld;
    return scales;
}

/* The parameter for a problem cut into tiles of this size; the chapter adds the tensor maps. */
static inline struct gemm_scaled_args gemm_scaled_args_of(const struct gemm_problem *p, int tile_m,
                                                          int tile_n, int tile_k) {
    struct gemm_scaled_args args;
    memset(&args, 0, sizeof args);
    args.gemm = gemm_args_of(p, tile_m, tile_n, tile_k);
    args.scales = gemm_scales_of(p->matrix);
    return args;
}

#endif
