#include "scaled/formats.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "harness/allocate.h"
#include "harness/parallel.h"
#include "scaled/w4_block.h"

static bool is_whole(const struct operands *o) {
    return o->input == INPUT_INTEGER || o->input == INPUT_ZEROS;
}

static bool is_of_tensors(const struct operands *o) {
    return strcmp(o->format->scales, "tensor") == 0;
}

static int blocks_of(int extent) { return ceil_div(extent, SCALE_BLOCK); }

/* Rows of a matrix that share their scales: one of A, a block of B; of w4a8 always one. */
static int rows_of_group(const struct operands *o, char matrix) {
    return matrix == 'A' || has_weights(o) ? 1 : SCALE_BLOCK;
}

static bool is_weights(const struct operands *o, char matrix) {
    return has_weights(o) && matrix == 'B';
}

/* Elements of k that share their scale. */
static int columns_of_group(const struct operands *o, char matrix) {
    return has_weights(o) && matrix == 'A' ? o->k : SCALE_BLOCK;
}

static int rows_of(const struct operands *o, char matrix) { return matrix == 'A' ? o->m : o->n; }

static float *scale_at(const struct operands *o, char matrix, int group, int block) {
    const struct scaled_operands *const of = scaled_of(o);
    return matrix == 'A' ? &of->scale_a[(int64_t)block * of->scale_a_pitch + group]
                         : &of->scale_b[(int64_t)group * of->scale_b_pitch + block];
}

float scale_of(const struct operands *o, char matrix, int row, int block) {
    return *scale_at(o, matrix, row / rows_of_group(o, matrix),
                     block * SCALE_BLOCK / columns_of_group(o, matrix));
}

static uint64_t block_hash(const struct operands *o, char matrix, int group, int block) {
    return input_hash(o->seed + (uint64_t)(unsigned char)matrix,
                      (uint64_t)(unsigned)group << 32 | (unsigned)block);
}

static const char rows_of_operands[] = "rows of the operands"; /* in a message */

void real_row(const struct operands *o, char matrix, int row, float *values) {
    uint16_t *elements = allocate((size_t)o->k, sizeof *elements, rows_of_operands);
    input_fill_row(&scaled_of(o)->source, matrix, row, elements, o->k);
    float size = 1;
    for (int i = 0; i < o->k; ++i) {
        if (i % SCALE_BLOCK == 0 && !is_whole(o)) {
            const int group = row / rows_of_group(o, matrix);
            size = ldexpf(1, (int)(block_hash(o, matrix, group, i / SCALE_BLOCK) % 5) - 2);
        }
        values[i] = size * bf16_to_float(elements[i]);
        if (is_weights(o, matrix) && is_whole(o))
            values[i] = fmaxf(-W4_GREATEST, fminf(W4_GREATEST, values[i]));
    }
    free(elements);
}

struct quantizing {
    const struct operands *operands;
    char matrix;
    float greatest; /* of the matrix; 0: each block for itself */
    pthread_mutex_t mutex;
};

static float greatest_of(const float *values, int count, float greatest) {
    for (int i = 0; i < count; ++i)
        greatest = fmaxf(greatest, fabsf(values[i]));
    return greatest;
}

static void find_greatest(void *context, int64_t begin, int64_t end) {
    struct quantizing *q = context;
    const int k = q->operands->k;
    float *values = allocate((size_t)k, sizeof *values, rows_of_operands), greatest = 0;
    for (int64_t row = begin; row < end; ++row) {
        real_row(q->operands, q->matrix, (int)row, values);
        greatest = greatest_of(values, k, greatest);
    }
    free(values);
    pthread_mutex_lock(&q->mutex);
    q->greatest = fmaxf(q->greatest, greatest);
    pthread_mutex_unlock(&q->mutex);
}

/* The scale of a block of `rows` rows. */
static float choose_scale(const struct quantizing *q, int group, int block, const float *values,
                          int rows, int columns) {
    const struct operands *o = q->operands;
    if (is_whole(o) && is_of_tensors(o)) return q->matrix == 'A' ? 2 : 0.5f;
    if (is_whole(o)) return (float)(1 + (block_hash(o, q->matrix, group, block) >> 32) % 2);
    float greatest = q->greatest;
    if (is_weights(o, q->matrix)) return bf16_to_float(w4_scale(values, columns));
    for (int row = 0; row < rows && !is_of_tensors(o); ++row)
        greatest = greatest_of(values + (int64_t)row * o->k, columns, greatest);
    return greatest > 0 ? greatest / E4M3_GREATEST : 1;
}

static void quantize_groups(void *context, int64_t begin, int64_t end) {
    const struct quantizing *q = context;
    const struct operands *o = q->operands;
    const int most = rows_of_group(o, q->matrix), all = rows_of(o, q->matrix);
    const int wide = columns_of_group(o, q->matrix);
    const int64_t ld = q->matrix == 'A' ? o->lda : o->ldb;
    uint8_t *const elements = (uint8_t *)(q->matrix == 'A' ? o->a : o->b);
    float *values = allocate((size_t)most * (size_t)o->k, sizeof *values, rows_of_operands);
    for (int group = (int)begin; group < end; ++group) {
        const int first = group * most, rows = all - first < most ? all - first : most;
        for (int row = 0; row < rows; ++row)
            real_row(o, q->matrix, first + row, values + (int64_t)row * o->k);
        for (int block = 0; block < ceil_div(o->k, wide); ++block) {
            const int k0 = block * wide;
            const int columns = o->k - k0 < wide ? o->k - k0 : wide;
            const float scale = choose_scale(q, group, block, values + k0, rows, columns);
            *scale_at(o, q->matrix, group, block) = scale;
            for (int row = 0; row < rows; ++row)
                for (int i = k0; i < k0 + columns; ++i) {
                    const float value = values[(int64_t)row * o->k + i];
                    elements[(first + row) * ld + i] =
                        float_to_e4m3(is_whole(o) ? value : value / scale);
                }
        }
        for (int row = first; row < first + rows; ++row)
            for (int64_t i = o->k; i < ld; ++i)
                elements[row * ld + i] = (uint8_t)padding_of(GEMM_E4M3);
    }
    free(values);
}

/* The blocks of 128 channels each, from begin to end. */
static void quantize_blocks(void *context, int64_t begin, int64_t end) {
    const struct quantizing *q = context;
    const struct operands *o = q->operands;
    const int last = (int)end * W4_BLOCK < o->n ? (int)end * W4_BLOCK : o->n;
    float *values = allocate((size_t)o->k, sizeof *values, rows_of_operands);
    for (int channel = (int)begin * W4_BLOCK; channel < last; ++channel) {
        real_row(o, 'B', channel, values);
        for (int block = 0; block < blocks_of(o->k); ++block) {
            const int k0 = block * W4_BLOCK;
            const int columns = o->k - k0 < W4_BLOCK ? o->k - k0 : W4_BLOCK;
            uint8_t *const to = w4_block_of((uint8_t *)o->b, blocks_of(o->k), channel, block);
            const float scale = choose_scale(q, channel, block, values + k0, 1, columns);
            *scale_at(o, 'B', channel, block) = scale;
            w4_put_scale(to, channel, float_to_bf16(scale));
            for (int i = k0; i < k0 + columns; ++i) {
                const int weight = w4_weight(values[i], is_whole(o) ? 1 : scale);
                scaled_of(o)->weights[(int64_t)channel * o->k + i] = (int8_t)weight;
                w4_put(to, channel, i, weight);
            }
        }
    }
    free(values);
}

static void quantize(const struct operands *o, char matrix) {
    struct quantizing q = {o, matrix, 0, PTHREAD_MUTEX_INITIALIZER};
    const int rows = rows_of(o, matrix), groups = ceil_div(rows, rows_of_group(o, matrix));
    const double work = 4.0 * rows * o->k;
    if (is_of_tensors(o)) parallel_ranges(rows, work, find_greatest, &q);
    if (is_weights(o, matrix))
        parallel_ranges(blocks_of(rows), work, quantize_blocks, &q);
    else
        parallel_ranges(groups, work, quantize_groups, &q);
}

static float *make_scales(int rows, int pitch) {
    const size_t count = (size_t)rows * (size_t)pitch;
    const uint32_t half = padding_of(GEMM_FP32);
    float *scales = malloc(count * sizeof *scales);
    for (size_t i = 0; scales && i < count; ++i)
        scales[i] = bits_float(half << 16 | half);
    return scales;
}

bool quantize_operands(struct operands *o, int limit) {
    struct scaled_operands *const of = calloc(1, sizeof *of);
    if (!of) return false;
    o->of_format = of;
    input_prepare(&of->source, o->input, GEMM_BF16, limit, o->seed);
    of->scale_a_pitch = (o->m + 3) / 4 * 4;
    of->scale_b_pitch = (blocks_of(o->k) + 3) / 4 * 4;
    o->a = malloc((size_t)operand_bytes(o, 'A'));
    o->b = calloc((size_t)operand_bytes(o, 'B'), 1);
    of->scale_a = make_scales(has_weights(o) ? 1 : blocks_of(o->k), of->scale_a_pitch);
    of->scale_b = make_scales(has_weights(o) ? o->n : blocks_of(o->n), of->scale_b_pitch);
    if (has_weights(o)) of->weights = malloc((size_t)o->n * (size_t)o->k);
    if (!o->a || !o->b || !of->scale_a || !of->scale_b || (has_weights(o) && !of->weights))
        return false;
    quantize(o, 'A');
    quantize(o, 'B');
    return true;
}
