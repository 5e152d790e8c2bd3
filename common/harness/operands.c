#include "harness/operands.h"

#include <stdlib.h>

int64_t leading_dimension(int columns) { return ((int64_t)columns + 7) / 8 * 8; }

int64_t operand_leading_dimension(int columns, enum gemm_type type) {
    return gemm_type_is_scaled(type) ? ((int64_t)columns + 15) / 16 * 16
                                     : leading_dimension(columns);
}

enum pitches operand_pitches;
enum { MOST_STEPS = 4 }; /* of a drawn pitch beyond the least */

static uint64_t draw_pitches(const struct operands *o) {
    const uint64_t extents = (uint64_t)o->m << 42 ^ (uint64_t)o->n << 21 ^ (uint64_t)o->k;
    return ((o->seed ^ extents) * 0x9e3779b97f4a7c15u) >> 32;
}

/* A far one is more than 32 bits hold; what they would keep of it is no int. Of many rows it is as
 * much as the address space has room for. */
int64_t device_pitch(int rows, int64_t ld) {
    static const int64_t far = (INT64_C(3) << 31) + 1024, room = INT64_C(1) << 42; /* elements */
    if (operand_pitches != PITCHES_FAR || rows < 2) return ld;
    const int64_t pitch = far < room / rows ? far : room / rows / 128 * 128;
    return pitch > ld ? pitch : ld;
}

void operands_set_d(struct operands *o, int rows, int columns) {
    o->d_rows = rows;
    o->d_columns = columns;
    o->ldd = leading_dimension(columns);
    if (operand_pitches == PITCHES_DRAWN)
        o->ldd += (int64_t)(draw_pitches(o) / MOST_STEPS / MOST_STEPS % MOST_STEPS) * 8;
    o->device_ldd = device_pitch(rows, o->ldd);
}

static void draw_operand_pitches(struct operands *o) {
    const uint64_t drawn = draw_pitches(o);
    const int64_t step = gemm_type_is_scaled(o->type) ? 16 : 8;
    const uint64_t a = drawn % MOST_STEPS, apart = 1 + drawn / MOST_STEPS % (MOST_STEPS - 1);
    o->lda += (int64_t)a * step;
    o->ldb += (int64_t)((a + apart) % MOST_STEPS) * step;
}

void operands_set_pitches(struct operands *o) {
    o->lda = o->ldb = operand_leading_dimension(o->k, o->type);
    operands_set_d(o, o->m, o->n);
    if (operand_pitches == PITCHES_DRAWN) draw_operand_pitches(o);
    o->device_lda = device_pitch(o->m, o->lda);
    o->device_ldb = o->format->packed_bytes ? o->ldb : device_pitch(o->n, o->ldb);
}

int64_t operand_bytes(const struct operands *o, char matrix) {
    const int element = gemm_type_is_scaled(o->type) ? 1 : 2;
    if (matrix == 'B' && o->format->packed_bytes) return o->format->packed_bytes(o);
    return (matrix == 'A' ? o->m * o->lda : o->n * o->ldb) * element;
}

void operands_free(struct operands *operands) {
    free(operands->a);
    free(operands->b);
    if (operands->of_format) operands->format->free(operands);
    free(operands->decoded_a);
    free(operands->decoded_b);
    operands->a = operands->b = NULL;
    operands->of_format = NULL;
    operands->decoded_a = operands->decoded_b = NULL;
}
