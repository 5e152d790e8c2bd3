/* inspect_error.c: it multiplies with the simulator's Tensor Core. */
#include "tools/inspect/inspect_error.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "element_codec.h"
#include "sim/models/tensor_core.h"
#include "splitmix64.h"
#include "tools/inspect/error_figure.h"

enum { ROWS = WGMMA_M, COLUMNS = 32, SUMS = ROWS * COLUMNS, KINDS = 3, PROMOTED = 128 };

const int error_lengths[ERROR_LENGTHS] = {256, 1024, 4096, 16384, 65536};
const char *const error_sums[ERROR_SUMS] = {"bf16", "fp16", "e4m3", "e4m3, promoted"};
const char *const error_inputs[ERROR_INPUTS] = {"normal", "uniform in [0, 1)"};
static const enum tensor_type types[KINDS] = {TENSOR_BF16, TENSOR_FP16, TENSOR_E4M3};

/* Sums in one type: [row][column]. */
struct long_sum {
    float sum[SUMS];
    double exact[SUMS];
};

static struct long_sum sums[KINDS];
/* In e4m3: those of the last products, at most PROMOTED, and those of all before. */
static float part[SUMS], promoted[SUMS];

/* In [0, 1). */
static double uniform(uint64_t *state) { return (double)(splitmix64(state) >> 11) * 0x1p-53; }

static double draw(uint64_t *state, bool positive) {
    if (positive) return uniform(state);
    double sum = -6; /* nearly normal */
    for (int i = 0; i < 12; ++i)
        sum += uniform(state);
    return sum;
}

/* A number within the type's range as an element, cut toward zero. */
static uint16_t element(enum tensor_type type, double value) {
    const struct tensor_format *const f = &tensor_formats[type];
    if (value == 0) return 0;
    int above;
    const double significand = frexp(fabs(value), &above) * 2;
    const int sign = value < 0 ? 1 << (f->exponent_bits + f->mantissa_bits) : 0;
    const int field = above - 1 + f->bias;
    const int mantissa = (int)((significand - 1) * (1 << f->mantissa_bits));
    if (field > 0) return (uint16_t)(sign | field << f->mantissa_bits | mantissa);
    const int below = 1 - field; /* subnormal */
    return (uint16_t)(sign |
                      (below > f->mantissa_bits ? 0 : (mantissa | 1 << f->mantissa_bits) >> below));
}

static void fill(struct wgmma_operand *operand, int count, enum tensor_type type, bool positive,
                 uint64_t *state) {
    for (int k = 0; k < tensor_k(type); ++k)
        for (int i = 0; i < count; ++i)
            operand->bits[k][i] = element(type, draw(state, positive));
}

static void add_exact(double *exact, const struct wgmma_operand *a, const struct wgmma_operand *b,
                      enum tensor_type type) {
    for (int k = 0; k < tensor_k(type); ++k) {
        double right[COLUMNS];
        for (int j = 0; j < COLUMNS; ++j)
            right[j] = tensor_element(type, b->bits[k][j]).value;
        for (int i = 0; i < ROWS; ++i) {
            const double left = tensor_element(type, a->bits[k][i]).value;
            for (int j = 0; j < COLUMNS; ++j)
                exact[i * COLUMNS + j] += left * right[j];
        }
    }
}

/* Adds the products of one instruction, which end at k. */
static void extend(int kind, int k, bool positive, uint64_t *state) {
    static struct wgmma_operand a, b;
    const enum tensor_type type = types[kind];
    fill(&a, ROWS, type, positive, state);
    fill(&b, COLUMNS, type, positive, state);
    add_exact(sums[kind].exact, &a, &b, type);
    struct tensor_shape shape = {ROWS, COLUMNS, type, type, true};
    tensor_core_multiply(sums[kind].sum, &a, &b, shape);
    if (type != TENSOR_E4M3) return;
    shape.accumulate = (k - tensor_k(type)) % PROMOTED != 0;
    tensor_core_multiply(part, &a, &b, shape);
    for (int i = 0; i < SUMS && k % PROMOTED == 0; ++i)
        promoted[i] += part[i];
}

static struct sum_error error_of(const float *got, const double *exact) {
    double power = 0, error = 0, short_by = 0;
    for (int i = 0; i < SUMS; ++i) {
        const double difference = (double)got[i] - exact[i];
        power += exact[i] * exact[i];
        error += difference * difference;
        short_by -= exact[i] < 0 ? -difference : difference;
    }
    const double size = sqrt(power / SUMS);
    return (struct sum_error){100 * sqrt(error / SUMS) / size, 100 * short_by / SUMS / size};
}

static uint64_t continue_hash(uint64_t hash, const float *got) {
    for (int i = 0; i < SUMS; ++i) {
        hash = (hash ^ float_bits(got[i])) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void evaluate(struct sum_error *errors, uint64_t *hash) {
    for (int i = 0; i < ERROR_SUMS; ++i) {
        const struct long_sum *const sum = &sums[i < KINDS ? i : KINDS - 1];
        const float *const got = i < KINDS ? sum->sum : promoted;
        errors[i] = error_of(got, sum->exact);
        *hash = continue_hash(*hash, got);
    }
}

static void compute_errors(struct error_table *table) {
    table->hash = 0xcbf29ce484222325u;
    for (int input = 0; input < ERROR_INPUTS; ++input) {
        uint64_t state = 1;
        memset(sums, 0, sizeof sums);
        memset(promoted, 0, sizeof promoted);
        for (int k = TENSOR_MAX_K, length = 0; length < ERROR_LENGTHS; k += TENSOR_MAX_K) {
            for (int kind = 0; kind < KINDS; ++kind)
                for (int at = 0; at < TENSOR_MAX_K; at += tensor_k(types[kind]))
                    extend(kind, k, input == 1, &state);
            if (k == error_lengths[length]) evaluate(table->of[input][length++], &table->hash);
        }
    }
}

/* ---- as text ---- */

static void print_errors(const struct error_table *table, FILE *out) {
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

/* What print_errors() printed, behind a first line that names the GPU. */
static bool read_errors(struct error_table *table, char *gpu, size_t size, FILE *in) {
    char line[1024];
    int rows = 0;
    const char *const name = fgets(line, sizeof line, in) ? strstr(line, "\"gpu\": \"") : NULL;
    if (!name) return false;
    snprintf(gpu, size, "%.*s", (int)strcspn(name + 8, "\""), name + 8);
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

static int cannot(const char *what, const char *path, const char *reason) {
    fprintf(stderr, "error: inspect: cannot %s %s: %s\n", what, path, reason);
    return 1;
}

int inspect_error(FILE *out, const char *record, const char *figure) {
    static struct error_table simulated, measured;
    char gpu[64];
    compute_errors(&simulated);
    if (record) {
        FILE *const in = fopen(record, "r");
        if (!in) return cannot("read", record, strerror(errno));
        const bool complete = read_errors(&measured, gpu, sizeof gpu, in);
        fclose(in);
        if (!complete) return cannot("read", record, "no record of errors, or a damaged one");
        if (measured.hash != simulated.hash) {
            fprintf(stderr, "error: inspect: sums %016llx, recorded %016llx\n",
                    (unsigned long long)simulated.hash, (unsigned long long)measured.hash);
            return 1;
        }
    }
    if (!figure)
        print_errors(&simulated, out);
    else if (!write_error_figure(figure, &simulated, record ? &measured : NULL, gpu))
        return cannot("write", figure, strerror(errno));
    return 0;
}
