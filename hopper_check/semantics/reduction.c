/* reduction.c: PTX ISA, "Parallel Synchronization and Communication Instructions": atom, red. */
#include "semantics/reduction.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "program/decoder.h"
#include "semantics/floating.h"

int take_function(struct decoder *d) {
    static const char *const names[] = {"add", "min", "max",  "and", "or", "xor",
                                        "inc", "dec", "exch", "cas", NULL};
    return take_one_of(d, names);
}

int take_reduction_type(struct decoder *d) {
    static const char *const names[] = {"u32",   "s32",    "b32", "u64",  "s64",
                                        "b64",   "f32",    "f64", "f16",  "bf16",
                                        "f16x2", "bf16x2", "b16", "b128", NULL};
    return take_one_of(d, names);
}

size_t reduction_bytes(enum reduction_type type) {
    static const unsigned char bytes[] = {4, 4, 4, 8, 8, 8, 4, 8, 2, 2, 4, 4, 2, 16};
    return bytes[type];
}

static uint64_t of_integers(const struct reduction *c, uint64_t a, uint64_t b) {
    const bool narrow = reduction_bytes(c->type) == 4;
    const bool is_signed = c->type == S32 || c->type == S64;
    const bool less = !is_signed ? a < b
                      : narrow   ? (int32_t)a < (int32_t)b
                                 : (int64_t)a < (int64_t)b;
    switch (c->function) {
    case ADD:
        return a + b;
    case MIN:
        return less ? a : b;
    case MAX:
        return less ? b : a;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case INC:
        return a >= b ? 0 : a + 1;
    case DEC:
        return a == 0 || a > b ? b : a - 1;
    case EXCH:
        return b;
    default:
        if (a == b) memcpy(&a, c->other, reduction_bytes(c->type));
        return a;
    }
}

static uint64_t of_f32(uint64_t a, uint64_t b) {
    const uint32_t bits[2] = {(uint32_t)a, (uint32_t)b};
    uint32_t result;
    float x, y;
    memcpy(&x, &bits[0], sizeof x);
    memcpy(&y, &bits[1], sizeof y);
    x += y;
    memcpy(&result, &x, sizeof result);
    return isnan(x) ? 0x7fffffff : result;
}

static uint64_t of_f64(uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint64_t of_halves(const struct reduction *c, uint64_t a, uint64_t b) {
    const bool bf16 = c->type == BF16 || c->type == BF16X2;
    uint64_t result = 0;
    for (int at = 0; at < 8 * (int)reduction_bytes(c->type); at += 16) {
        const uint16_t x = (uint16_t)(a >> at), y = (uint16_t)(b >> at);
        const uint16_t value = c->function == ADD ? half_sum(x, y, bf16)
                                                  : half_extreme(x, y, bf16, c->function == MAX);
        result |= (uint64_t)value << at;
    }
    return result;
}

/* EXCH and CAS alone. */
static void of_128_bits(const struct reduction *c, const void *before, void *after) {
    const bool found = !memcmp(before, c->operand, REDUCTION_MOST_BYTES);
    const void *const value = c->function == EXCH ? c->operand : found ? c->other : before;
    memmove(after, value, REDUCTION_MOST_BYTES);
}

void reduction_apply(const void *before, void *after, const void *object) {
    const struct reduction *const c = object;
    const size_t bytes = reduction_bytes(c->type);
    uint64_t a = 0, b = 0;
    if (c->type == B128) {
        of_128_bits(c, before, after);
        return;
    }
    memcpy(&a, before, bytes);
    memcpy(&b, c->operand, bytes);
    switch (c->type) {
    case F32:
        a = of_f32(a, b);
        break;
    case F64:
        a = of_f64(a, b);
        break;
    case F16:
    case BF16:
    case F16X2:
    case BF16X2:
        a = of_halves(c, a, b);
        break;
    default:
        a = of_integers(c, a, b);
    }
    memcpy(after, &a, bytes);
}

bool reduction_exists(enum reduction_function f, enum reduction_type t) {
    switch (t) {
    case F32:
    case F64:
        return f == ADD;
    case F16:
    case BF16:
    case F16X2:
    case BF16X2:
        return f == ADD || f == MIN || f == MAX;
    case B16:
        return f == CAS;
    case B128:
        return f == EXCH || f == CAS;
    case B32:
    case B64:
        return f >= AND && f != INC && f != DEC;
    case S32:
    case S64:
        return f <= MAX;
    default:
        return true;
    }
}
