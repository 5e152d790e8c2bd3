/*
 * tensor_other.c: products of tf32, which is fp32 without its lower 13 bits; of bytes that are
 * whole numbers, whose sums are exact modulo 2^32; and sums that are kept as fp16.
 */
#include <math.h>
#include <string.h>

#include "sim/models/tensor_core.h"

static struct tensor_term tf32_at(const struct wgmma_operand *operand, int k, int line) {
    const uint32_t looked_at =
        ((uint32_t)operand->bits[k][line] << 16 | operand->bits[8 + k][line]) & 0xffffe000u;
    return tensor_accumulator(looked_at);
}

static uint32_t sum_of_tf32(const struct tensor_term *left, const struct wgmma_operand *b,
                            int column, uint32_t before) {
    struct tensor_term terms[TENSOR_MAX_K + 1];
    const int k = tensor_k(TENSOR_TF32);
    for (int i = 0; i < k; ++i) {
        const struct tensor_term right = tf32_at(b, i, column);
        terms[i] =
            (struct tensor_term){left[i].value * right.value, left[i].exponent + right.exponent};
    }
    terms[k] = tensor_accumulator(before);
    return tensor_sum(terms, k + 1, tensor_precision(TENSOR_TF32));
}

static int32_t whole(uint16_t bits, enum tensor_type type) {
    return type == TENSOR_S8 ? (int8_t)bits : (int32_t)(uint8_t)bits;
}

void tensor_other_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                           struct tensor_shape shape) {
    const int k = tensor_k(shape.a);
    for (int row = 0; row < shape.m; ++row, d += shape.n) {
        struct tensor_term left[TENSOR_MAX_K];
        for (int i = 0; i < k && shape.a == TENSOR_TF32; ++i)
            left[i] = tf32_at(a, i, row);
        for (int column = 0; column < shape.n; ++column) {
            uint32_t sum = 0;
            if (shape.accumulate) memcpy(&sum, d + column, sizeof sum);
            if (shape.a == TENSOR_TF32)
                sum = sum_of_tf32(left, b, column, sum);
            else
                for (int i = 0; i < k; ++i)
                    sum += (uint32_t)(whole(a->bits[i][row], shape.a) *
                                      whole(b->bits[i][column], shape.b));
            memcpy(d + column, &sum, sizeof sum);
        }
    }
}

void tensor_half_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                          struct tensor_shape shape) {
    const int k = tensor_k(shape.a);
    for (int i = 0; i < shape.m * shape.n; ++i) {
        struct tensor_term terms[TENSOR_MAX_K + 1];
        uint32_t bits = 0;
        for (int j = 0; j < k; ++j)
            terms[j] =
                tensor_product(shape.a, a->bits[j][i / shape.n], shape.b, b->bits[j][i % shape.n]);
        if (shape.accumulate) memcpy(&bits, d + i, sizeof bits);
        terms[k] = tensor_accumulator(bits);
        if (terms[k].exponent < TENSOR_HALF_EXPONENT) terms[k].exponent = TENSOR_HALF_EXPONENT;
        bits = tensor_sum_half(terms, k + 1, tensor_precision(shape.a));
        memcpy(d + i, &bits, sizeof bits);
    }
}

void tensor_saturated_multiply(float *d, const struct wgmma_operand *a,
                               const struct wgmma_operand *b, struct tensor_shape shape) {
    for (int i = 0; i < shape.m * shape.n; ++i) {
        int32_t before = 0;
        if (shape.accumulate) memcpy(&before, d + i, sizeof before);
        int64_t sum = before;
        for (int j = 0; j < tensor_k(shape.a); ++j)
            sum +=
                whole(a->bits[j][i / shape.n], shape.a) * whole(b->bits[j][i % shape.n], shape.b);
        const int32_t kept = sum > INT32_MAX   ? INT32_MAX
                             : sum < INT32_MIN ? INT32_MIN
                                               : (int32_t)sum;
        memcpy(d + i, &kept, sizeof kept);
    }
}
