/* tensor_core.c: 64 x N x 16, in loops that a compiler vectorizes. */
#include "sim/models/tensor_core.h"

#include <string.h>

static float float_of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* An fp16 read as fp32 exponent and mantissa is too small by 2^112; multiplying by that is exact,
 * subnormals included. The largest exponent means infinity or NaN in either format. */
float element_value(uint16_t bits, bool bf16) {
    if (bf16) return float_of_bits((uint32_t)bits << 16);
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return float_of_bits(sign | 0x7f800000 | magnitude << 13);
    const float f = float_of_bits(magnitude << 13) * 0x1p112f;
    return sign ? -f : f;
}

void wgmma_operand_chunk(struct wgmma_operand *operand, bool mn_major, int line, int chunk,
                         const void *bytes, bool bf16) {
    uint16_t bits[8];
    memcpy(bits, bytes, sizeof bits);
    if (mn_major)
        for (int i = 0; i < 8; ++i)
            operand->value[line][8 * chunk + i] = element_value(bits[i], bf16);
    else
        for (int i = 0; i < 8; ++i)
            operand->value[8 * chunk + i][line] = element_value(bits[i], bf16);
}

/* Eight columns at a time: their accumulators stay in registers while k runs. Vector types of GCC
 * and Clang. */
typedef float vector __attribute__((vector_size(16), aligned(4)));

static void multiply_row(float *d, const struct wgmma_operand *a, int row,
                         const struct wgmma_operand *b, int n, bool accumulate) {
    for (int j = 0; j < n; j += 8) {
        vector low = {0}, high = {0};
        if (accumulate) {
            low = *(const vector *)(d + j);
            high = *(const vector *)(d + j + 4);
        }
        for (int k = 0; k < WGMMA_K; ++k) {
            const float scalar = a->value[k][row];
            const vector broadcast = {scalar, scalar, scalar, scalar};
            low += broadcast * *(const vector *)(b->value[k] + j);
            high += broadcast * *(const vector *)(b->value[k] + j + 4);
        }
        *(vector *)(d + j) = low;
        *(vector *)(d + j + 4) = high;
    }
}

void wgmma_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b, int n,
                    bool accumulate) {
    for (int row = 0; row < WGMMA_M; ++row)
        multiply_row(d + row * n, a, row, b, n, accumulate);
}
