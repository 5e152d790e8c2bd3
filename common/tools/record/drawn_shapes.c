/* drawn_shapes.c: shapes drawn by a seed. */
#include "tools/record/drawn_shapes.h"

#include <math.h>

#include "splitmix64.h"

/* From 0 to 1, without 1. */
static double uniform(uint64_t *state) {
    return (double)(splitmix64(state) >> 11) / 9007199254740992.0;
}

/* From `least` to `most`; its logarithm is uniform. */
static int log_uniform(uint64_t *state, int least, int most) {
    const double value = least * exp(uniform(state) * log((most + 1.0) / least));
    return value < most ? (int)value : most;
}

/* The multiple of `unit` below a value, but not zero; if `odd`, none of 64. */
static int rounded(int value, int unit, bool odd) {
    int multiple = value / unit * unit;
    if (multiple < unit) multiple = unit;
    if (odd && multiple % 64 == 0) multiple += unit;
    return multiple;
}

struct problem_size drawn_shape(uint64_t seed, int index) {
    static const double most_operations = 4e12;
    uint64_t state = seed * 1000003 + (uint64_t)index;
    state = splitmix64(&state);
    const int kind = (int)(splitmix64(&state) % 15); /* 0 to 2: not aligned; 3 to 6: not to lines */
    struct problem_size size;
    do {
        size.m = log_uniform(&state, 8, 16384);
        size.n = log_uniform(&state, 8, 16384);
        size.k = log_uniform(&state, 64, 32768);
        if (kind >= 3) {
            const int unit = kind < 7 ? 8 : 64;
            size.n = rounded(size.n, unit, kind < 7);
            size.k = rounded(size.k, unit, kind < 7);
        }
    } while (2.0 * size.m * size.n * size.k > most_operations || size.n > 16384 || size.k > 32768);
    return size;
}
