/*
 * error.c: how the error of a sum grows with the number of its products.
 */
#include "tools/arithmetic/error.h"

#include <math.h>
#include <string.h>

#include "splitmix64.h"

enum { COLUMNS = 32, SUMS = TILE_M * COLUMNS, KINDS = 3, E4M3_KIND = 2, PROMOTED = 128 };

const int error_lengths[ERROR_LENGTHS] = {256, 1024, 4096, 16384, 65536};
const char *const error_sums[ERROR_SUMS] = {"bf16", "fp16", "e4m3", "e4m3, promoted"};
const char *const error_inputs[ERROR_INPUTS] = {"normal", "uniform in [0, 1)"};
static const int formats[KINDS] = {1, 0, 2}; /* of arithmetic_types */

/* Sums in one type. Elements are collected until they fill a tile. */
struct long_sum {
    struct tile tile; /* c: the sums so far */
    int step;         /* instructions that its elements are there for */
    double exact[SUMS];
};

static struct long_sum sums[KINDS];
static float promoted[SUMS];

/* In [0, 1). */
static double uniform(uint64_t *state) { return (double)(splitmix64(state) >> 11) * 0x1p-53; }

static double draw(uint64_t *state, bool positive) {
    if (positive) return uniform(state);
    double sum = -6; /* nearly normal */
    for (int i = 0; i < 12; ++i)
        sum += uniform(state);
    return sum;
}

/* The elements of one instruction. */
static void fill(uint8_t *rows, int count, const struct arithmetic_type *type, int step,
                 bool positive, uint64_t *state) {
    for (int at = 0; at < step_k(type); ++at)
        for (int i = 0; i < count; ++i)
            put_element(rows + i * STEP_BYTES * MOST_STEPS, step * step_k(type) + at, type->a.bytes,
                        encode_value(&type->a, draw(state, positive)));
}

static void add_exact(struct long_sum *sum, const struct arithmetic_type *type) {
    for (int k = 0; k < step_k(type) * MOST_STEPS; ++k) {
        double right[COLUMNS];
        for (int j = 0; j < COLUMNS; ++j)
            right[j] = decode_value(
                &type->b, get_element(sum->tile.b + j * STEP_BYTES * MOST_STEPS, k, type->b.bytes));
        for (int i = 0; i < TILE_M; ++i) {
            const double left = decode_value(
                &type->a, get_element(sum->tile.a + i * STEP_BYTES * MOST_STEPS, k, type->a.bytes));
            for (int j = 0; j < COLUMNS; ++j)
                sum->exact[i * COLUMNS + j] += left * right[j];
        }
    }
}

/* The 128 products of a whole tile, from zero, added to the promoted sums in fp32. */
static bool promote(int which, const struct tile *tile, tile_multiply *multiply) {
    static struct tile alone;
    static uint32_t part[SUMS];
    alone = *tile;
    memset(alone.c, 0, sizeof alone.c);
    if (!multiply(which, &alone, part)) return false;
    for (int i = 0; i < SUMS; ++i) {
        float value;
        memcpy(&value, &part[i], sizeof value);
        promoted[i] += value;
    }
    return true;
}

/* Adds the products of another instruction. */
static bool extend(struct long_sum *sum, int kind, bool positive, uint64_t *state,
                   tile_multiply *multiply) {
    const int which = formats[kind];
    const struct arithmetic_type *const type = &arithmetic_types[which];
    fill(sum->tile.a, TILE_M, type, sum->step, positive, state);
    fill(sum->tile.b, COLUMNS, type, sum->step, positive, state);
    if (++sum->step < MOST_STEPS) return true;
    sum->step = 0;
    add_exact(sum, type);
    if (kind == E4M3_KIND && !promote(which, &sum->tile, multiply)) return false;
    static uint32_t results[SUMS];
    if (!multiply(which, &sum->tile, results)) return false;
    memcpy(sum->tile.c, results, sizeof results);
    return true;
}

static struct sum_error error_of(const uint32_t *got, const double *exact) {
    double power = 0, error = 0, short_by = 0;
    for (int i = 0; i < SUMS; ++i) {
        float value;
        memcpy(&value, &got[i], sizeof value);
        const double difference = value - exact[i];
        power += exact[i] * exact[i];
        error += difference * difference;
        short_by -= exact[i] < 0 ? -difference : difference;
    }
    const double size = sqrt(power / SUMS);
    return (struct sum_error){100 * sqrt(error / SUMS) / size, 100 * short_by / SUMS / size};
}

static void evaluate(struct sum_error *errors, uint64_t *hash) {
    for (int i = 0; i < ERROR_SUMS; ++i) {
        static uint32_t bits[SUMS];
        const struct long_sum *const sum = &sums[i < KINDS ? i : E4M3_KIND];
        memcpy(bits, i < KINDS ? (const void *)sum->tile.c : promoted, sizeof bits);
        errors[i] = error_of(bits, sum->exact);
        *hash = hash_words(*hash, bits, SUMS);
    }
}

bool measure_errors(struct error_table *table, tile_multiply *multiply) {
    table->hash = HASH_START;
    for (int input = 0; input < ERROR_INPUTS; ++input) {
        uint64_t state = 1;
        memset(sums, 0, sizeof sums);
        memset(promoted, 0, sizeof promoted);
        for (int i = 0; i < KINDS; ++i)
            sums[i].tile.shape = (struct tile_shape){COLUMNS, MOST_STEPS, true};
        for (int k = 32, length = 0; length < ERROR_LENGTHS; k += 32) {
            for (int i = 0; i < KINDS; ++i)
                for (int at = 0; at < 32; at += step_k(&arithmetic_types[formats[i]]))
                    if (!extend(&sums[i], i, input == 1, &state, multiply)) return false;
            if (k == error_lengths[length]) evaluate(table->of[input][length++], &table->hash);
        }
    }
    return true;
}

/* ---- as text ---- */

void print_errors(const struct error_table *table, FILE *out) {
    for (int input = 0; input < ERROR_INPUTS; ++input) {
        fprintf(out, "%s%s\n%7s", input ? "\n" : "", error_inputs[input], "k");
        for (int i = 0; i < ERROR_SUMS; ++i)
            fprintf(out, " %21s", error_sums[i]);
        fprintf(out, "\n%7s", "");
        for (int i = 0; i < ERROR_SUMS; ++i)
            fprintf(out, " %10s %10s", "rms %", "short %");
        fputc('\n', out);
        for (int length = 0; length < ERROR_LENGTHS; ++length) {
            fprintf(out, "%7d", error_lengths[length]);
            for (int i = 0; i < ERROR_SUMS; ++i)
                fprintf(out, " %10.2g %10.2g", table->of[input][length][i].rms,
                        table->of[input][length][i].short_by);
            fputc('\n', out);
        }
    }
    fprintf(out, "\nall sums, bit by bit: %016llx\n", (unsigned long long)table->hash);
}

bool read_errors(struct error_table *table, FILE *in) {
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, in)) {
        unsigned long long hash;
        if (sscanf(line, "all sums, bit by bit: %llx", &hash) == 1) {
            table->hash = hash;
            return rows == ERROR_INPUTS * ERROR_LENGTHS;
        }
        int k, taken;
        if (sscanf(line, "%d%n", &k, &taken) != 1 || rows >= ERROR_INPUTS * ERROR_LENGTHS ||
            k != error_lengths[rows % ERROR_LENGTHS])
            continue;
        const char *rest = line + taken;
        struct sum_error *const to = table->of[rows / ERROR_LENGTHS][rows % ERROR_LENGTHS];
        ++rows;
        for (int i = 0; i < ERROR_SUMS; ++i) {
            if (sscanf(rest, "%lf %lf%n", &to[i].rms, &to[i].short_by, &taken) != 2) return false;
            rest += taken;
        }
    }
    return false;
}
