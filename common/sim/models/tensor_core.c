/* tensor_core.c: 64 x N x 16 or 32, in loops that a compiler vectorizes. */
#include "sim/models/tensor_core.h"

#include <string.h>

#include "sim/models/element_values.h"

void wgmma_operand_chunk(struct wgmma_operand *operand, bool mn_major, int line, int chunk,
                         const void *bytes, enum gemm_type type) {
    if (type == GEMM_E4M3) {
        const uint8_t *const e = bytes;
        for (int i = 0; i < 16; ++i)
            operand->value[16 * chunk + i][line] = e4m3_value(e[i]);
        return;
    }
    const bool bf16 = type == GEMM_BF16;
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
                         const struct wgmma_operand *b, int n, int depth, bool accumulate) {
    for (int j = 0; j < n; j += 8) {
        vector low = {0}, high = {0};
        if (accumulate) {
            low = *(const vector *)(d + j);
            high = *(const vector *)(d + j + 4);
        }
        for (int k = 0; k < depth; ++k) {
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
                    enum gemm_type type, bool accumulate) {
    for (int row = 0; row < WGMMA_M; ++row)
        multiply_row(d + row * n, a, row, b, n, wgmma_k(type), accumulate);
}
