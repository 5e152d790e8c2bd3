/*
 * harness_rival_weights.c: the weights that CUTLASS's kernels get, looked up as these look them up,
 * are the harness's weights times their scales, rounded to e4m3. What lies beyond n and k is zero.
 */
#include <math.h>
#include <stdlib.h>

#include "gpu/rivals/cutlass_codes.h"
#include "scaled/formats.h"
#include "tests/harness/harness_command.h"

enum { PITCH = 512, CHANNELS = 256 };

/* Magnitudes from the table of negative multiples; with the other sign, its first entry is 0. */
static float looked_up(const uint8_t *codes, const uint8_t *tables, int channel, int k) {
    const int code = codes[(channel * PITCH + k) / 2] >> k % 2 * 4 & 15, entry = code & 7;
    const uint8_t *const table = tables + (k / W4_BLOCK * CHANNELS + channel) * CUTLASS_MULTIPLES;
    if (code & 8) return e4m3_to_float(table[entry]);
    return entry ? -e4m3_to_float(table[entry]) : 0;
}

static void check(enum input_kind input, int n, int k) {
    struct operands o;
    uint8_t *const codes = calloc(CHANNELS * PITCH / 2, 1);
    uint8_t *const tables = calloc(CHANNELS * PITCH / W4_BLOCK * CUTLASS_MULTIPLES, 1);
    expect(operands_make(&o, &weights_format, 1, n, k, GEMM_W4A8, input, 9,
                         weights_format.integer_limit(k, GEMM_W4A8)),
           "no memory");
    if (!codes || !tables) abort();
    cutlass_convert((uint8_t *)o.b, n, k, codes, PITCH, tables, CHANNELS);
    int wrong = 0, rounded = 0;
    for (int channel = 0; channel < CHANNELS; ++channel)
        for (int i = 0; i < PITCH; ++i) {
            const bool inside = channel < n && i < k;
            const float product = inside ? (float)scaled_of(&o)->weights[channel * k + i] *
                                               scale_of(&o, 'B', channel, i / SCALE_BLOCK)
                                         : 0;
            const float found = looked_up(codes, tables, channel, i);
            wrong += found != e4m3_to_float(float_to_e4m3(product));
            rounded += found != product;
        }
    expect(wrong == 0, "%s, %d x %d: %d weights are wrong", input_names[input], n, k, wrong);
    expect((rounded > 0) == (input == INPUT_NORMAL), "%s: %d weights are rounded",
           input_names[input], rounded);
    operands_free(&o);
    free(codes);
    free(tables);
}

int main(void) {
    check(INPUT_NORMAL, 200, 333);
    check(INPUT_NORMAL, 256, 512);
    check(INPUT_INTEGER, 130, 128);
    check(INPUT_ZEROS, 1, 1);
    return expectations_met();
}
