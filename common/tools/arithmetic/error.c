/*
 * error.c: sums of k products, as the simulator's Tensor Core adds them.
 *
 * Only the error of adding is counted: the exact sum is that of the elements as they are.
 */
#include "tools/arithmetic/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/models/tensor_core.h"
#include "splitmix64.h"
#include "tools/arithmetic/tiles.h"

enum { COLUMNS = 32, SUMS = WGMMA_M * COLUMNS, PROMOTED = 128 };

static const struct {
    enum tensor_type type;
    int format; /* of arithmetic_types */
} kinds[] = {{TENSOR_BF16, 1}, {TENSOR_FP16, 0}, {TENSOR_E4M3, 2}};
enum { KINDS = 3 };

/* In [0, 1). */
static double uniform(uint64_t *state) { return (double)(splitmix64(state) >> 11) * 0x1p-53; }

static double draw(uint64_t *state, bool positive) {
    if (positive) return uniform(state);
    double sum = -6; /* nearly normal */
    for (int i = 0; i < 12; ++i)
        sum += uniform(state);
    return sum;
}

static void fill(struct wgmma_operand *operand, const struct element_format *f, int k, int extent,
                 bool positive, uint64_t *state) {
    for (int at = 0; at < k; ++at)
        for (int i = 0; i < extent; ++i)
            operand->bits[at][i] = encode_value(f, draw(state, positive));
}

static void add_exact(double *sums, const struct wgmma_operand *a, const struct wgmma_operand *b,
                      enum tensor_type type) {
    for (int k = 0; k < tensor_k(type); ++k) {
        double right[COLUMNS];
        for (int j = 0; j < COLUMNS; ++j)
            right[j] = tensor_element(type, b->bits[k][j]).value;
        for (int i = 0; i < WGMMA_M; ++i) {
            const double left = tensor_element(type, a->bits[k][i]).value;
            for (int j = 0; j < COLUMNS; ++j)
                sums[i * COLUMNS + j] += left * right[j];
        }
    }
}

/* In per cent of the exact sums' root mean square: that of the errors, and the mean of the errors
 * toward zero. */
static void put_error(const float *got, const double *exact) {
    double power = 0, error = 0, short_by = 0;
    for (int i = 0; i < SUMS; ++i) {
        const double difference = got[i] - exact[i];
        power += exact[i] * exact[i];
        error += difference * difference;
        short_by -= exact[i] < 0 ? -difference : difference;
    }
    const double size = sqrt(power / SUMS);
    printf(" %10.2g %10.2g", 100 * sqrt(error / SUMS) / size, 100 * short_by / SUMS / size);
}

static void print_table(bool positive) {
    static struct wgmma_operand a[KINDS], b[KINDS];
    static float sums[KINDS + 1][SUMS], part[SUMS];
    static double exact[KINDS][SUMS];
    uint64_t state = 1;
    memset(sums, 0, sizeof sums);
    memset(exact, 0, sizeof exact);
    printf("%s\n%7s %21s %21s %21s %21s\n%7s", positive ? "uniform in [0, 1)" : "normal", "k",
           "bf16", "fp16", "e4m3", "e4m3, promoted", "");
    for (int i = 0; i <= KINDS; ++i)
        printf(" %10s %10s", "rms %", "short %");
    putchar('\n');
    for (int k = 32, next = 256; k <= 65536; k += 32) {
        for (int i = 0; i < KINDS; ++i) {
            const enum tensor_type type = kinds[i].type;
            const struct element_format *const f = &arithmetic_types[kinds[i].format].a;
            const struct tensor_shape shape = {WGMMA_M, COLUMNS, type, type, true};
            for (int step = 0; step < 32; step += tensor_k(type)) {
                fill(&a[i], f, tensor_k(type), WGMMA_M, positive, &state);
                fill(&b[i], f, tensor_k(type), COLUMNS, positive, &state);
                add_exact(exact[i], &a[i], &b[i], type);
                tensor_core_multiply(sums[i], &a[i], &b[i], shape);
                if (type == TENSOR_E4M3) tensor_core_multiply(part, &a[i], &b[i], shape);
            }
        }
        if (k % PROMOTED == 0) {
            for (int i = 0; i < SUMS; ++i)
                sums[KINDS][i] += part[i];
            memset(part, 0, sizeof part);
        }
        if (k != next) continue;
        printf("%7d", k);
        for (int i = 0; i <= KINDS; ++i)
            put_error(sums[i], exact[i < KINDS ? i : KINDS - 1]);
        putchar('\n');
        next *= 4;
    }
}

void print_errors(void) {
    print_table(false);
    putchar('\n');
    print_table(true);
}
