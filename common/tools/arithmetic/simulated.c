/*
 * simulated.c: build/sim/arithmetic: the simulator's Tensor Core against a recorded one.
 *
 *   compact FILE         prints what docs/results keeps of a file of build/gpu/arithmetic, without
 *                        the first line
 *   check RECORD [TYPE]  computes every recorded tile, and compares
 *   reject RECORD TYPE   adds in other ways, each of which departs in one rule: the record's
 *                        designed cases must tell each from the hardware's
 *   error                prints how the error of a sum grows with k
 *   error RECORD         the same, and compares it with what build/gpu/arithmetic error printed
 *   figure RECORD FILE   draws both into FILE; if there is no RECORD, the simulated errors alone
 *
 * Exit codes: 0, 1 if a tile differs or a departure does not show, 2 for wrong usage.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/models/tensor_core.h"
#include "tools/arithmetic/departures.h"
#include "tools/arithmetic/error.h"
#include "tools/arithmetic/error_figure.h"
#include "tools/arithmetic/record.h"

enum { USAGE = 2, SHOWN = 10 };

static const struct {
    enum tensor_type a, b;
} operands[ARITHMETIC_TYPES] = {
    {TENSOR_FP16, TENSOR_FP16}, {TENSOR_BF16, TENSOR_BF16}, {TENSOR_E4M3, TENSOR_E4M3},
    {TENSOR_E5M2, TENSOR_E5M2}, {TENSOR_E4M3, TENSOR_E5M2}, {TENSOR_E5M2, TENSOR_E4M3},
    {TENSOR_FP16, TENSOR_FP16}, {TENSOR_BF16, TENSOR_BF16},
};

static struct tile tile;
static uint32_t results[TILE_M * TILE_MOST_N];
static struct type_record record;

static void load(struct wgmma_operand *operand, const uint8_t *rows, int count, int step, int k,
                 int bytes) {
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < k; ++j)
            operand->bits[j][i] =
                get_element(rows + i * STEP_BYTES * tile.shape.steps, step * k + j, bytes);
}

/* What the simulator computes. mma.sync has n = 8, and any row may be one of its sixteen. */
static void multiply(int which) {
    static struct wgmma_operand a, b;
    const struct arithmetic_type *const type = &arithmetic_types[which];
    memcpy(results, tile.c, sizeof *tile.c * TILE_M * (size_t)tile.shape.n);
    for (int step = 0; step < tile.shape.steps; ++step) {
        load(&a, tile.a, TILE_M, step, step_k(type), type->a.bytes);
        load(&b, tile.b, tile.shape.n, step, step_k(type), type->b.bytes);
        tensor_core_multiply((float *)results, &a, &b,
                             (struct tensor_shape){TILE_M, tile.shape.n, operands[which].a,
                                                   operands[which].b,
                                                   step > 0 || tile.shape.accumulate});
    }
}

static uint64_t hash_results(void) {
    return hash_words(HASH_START, results, TILE_M * (size_t)tile.shape.n);
}

static int differing;

static void compare(const char *type, const char *part, size_t index, uint64_t hash,
                    uint32_t mark) {
    if (tile_mark(hash) == mark || ++differing > SHOWN) return;
    fprintf(stderr, "arithmetic: %s, %s: tile %zu is not as recorded\n", type, part, index);
}

/* The GPU program's file in the same order: its hashes are of all that it wrote. */
static void check_type(int which) {
    const struct arithmetic_type *const type = &arithmetic_types[which];
    uint64_t operands_hash = HASH_START, results_hash = HASH_START;
    size_t count;
    struct dot_case *const cases = designed_cases(type, &count);
    const size_t tiles = count / CASES_OF_TILE;
    uint32_t *const values = malloc(count * DESIGNED_PARTS * sizeof *values);
    uint64_t *const hashes = malloc(tiles * DESIGNED_PARTS * sizeof *hashes);
    if (!values || !hashes || count != record.cases) {
        fprintf(stderr, "arithmetic: %s: %zu designed cases, recorded are %zu\n", type->name, count,
                record.cases);
        exit(1);
    }
    for (int part = 0; part < DESIGNED_PARTS; ++part)
        for (size_t t = 0; t < tiles; ++t) {
            designed_tile(type, cases + t * CASES_OF_TILE, part == 0, &tile);
            operands_hash = hash_operands(operands_hash, type, &tile);
            multiply(which);
            for (size_t j = 0; j < CASES_OF_TILE; ++j)
                values[(t * CASES_OF_TILE + j) * DESIGNED_PARTS + (size_t)part] =
                    results[j * CASES_OF_TILE + j];
            hashes[t * DESIGNED_PARTS + (size_t)part] = hash_results();
            compare(type->name, part ? "not added" : "added", t, hash_results(),
                    record.designed[part][t]);
        }
    results_hash = hash_words(results_hash, values, count * DESIGNED_PARTS);
    results_hash = hash_words(results_hash, (uint32_t *)hashes, tiles * DESIGNED_PARTS * 2);
    free(hashes);
    free(values);
    free(cases);
    for (int class = 0; class < TILE_CLASSES; ++class) {
        static uint64_t of_class[TILES_OF_CLASS];
        char name[24];
        snprintf(name, sizeof name, "class %d", class);
        for (int i = 0; i < TILES_OF_CLASS; ++i) {
            random_tile(type, (enum tile_class) class, i, &tile);
            operands_hash = hash_operands(operands_hash, type, &tile);
            multiply(which);
            of_class[i] = hash_results();
            compare(type->name, name, (size_t)i, of_class[i], record.class[class][i]);
        }
        results_hash = hash_words(results_hash, (uint32_t *)of_class, TILES_OF_CLASS * 2);
    }
    if (operands_hash != record.operands_hash || results_hash != record.results_hash) {
        fprintf(stderr,
                "arithmetic: %s: operands %016llx, recorded %016llx; results %016llx, "
                "recorded %016llx\n",
                type->name, (unsigned long long)operands_hash,
                (unsigned long long)record.operands_hash, (unsigned long long)results_hash,
                (unsigned long long)record.results_hash);
        ++differing;
    }
    printf("%-10s %zu designed cases, %zu tiles of them, %d random tiles\n", type->name, count,
           tiles * DESIGNED_PARTS, TILE_CLASSES * TILES_OF_CLASS);
}

/* ---- departures ---- */

enum { FP32_BITS = 23 /* after the leading one */ };

static void multiply_departed(int which, const struct dot_case *cases, enum departure departure) {
    const enum tensor_type a = operands[which].a, b = operands[which].b;
    const int k = tensor_k(a);
    static struct tensor_term left[CASES_OF_TILE][TENSOR_MAX_K], right[CASES_OF_TILE][TENSOR_MAX_K];
    for (int i = 0; i < CASES_OF_TILE; ++i)
        for (int at = 0; at < k; ++at) {
            left[i][at] = tensor_element(a, cases[i].a[at]);
            right[i][at] = tensor_element(b, cases[i].b[at]);
        }
    for (int i = 0; i < CASES_OF_TILE; ++i)
        for (int j = 0; j < CASES_OF_TILE; ++j) {
            struct tensor_term terms[TENSOR_MAX_K + 1];
            for (int at = 0; at < k; ++at)
                terms[at] = (struct tensor_term){left[i][at].value * right[j][at].value,
                                                 left[i][at].exponent + right[j][at].exponent};
            terms[k] = tensor_accumulator(cases[i].c);
            results[i * CASES_OF_TILE + j] =
                departed_sum(terms, k + 1, tensor_precision(a), departure);
        }
}

/* The first tile that tells, or -1. */
static long first_telling(int which, const struct dot_case *cases, enum departure departure) {
    tile.shape = (struct tile_shape){CASES_OF_TILE, 1, true};
    for (size_t t = 0; t < record.cases / CASES_OF_TILE; ++t) {
        multiply_departed(which, cases + t * CASES_OF_TILE, departure);
        if (tile_mark(hash_results()) != record.designed[0][t]) return (long)t;
    }
    return -1;
}

static void reject_departures(int which) {
    const struct arithmetic_type *const type = &arithmetic_types[which];
    size_t count;
    struct dot_case *const cases = designed_cases(type, &count);
    for (int d = 0; d < DEPARTURES; ++d) {
        if (d >= LEAST_LESS && operands[which].a != TENSOR_BF16) continue;
        if (d == KEPT_MORE && tensor_precision(operands[which].a).kept == FP32_BITS) continue;
        const long telling = first_telling(which, cases, (enum departure)d);
        printf("%-10s %-20s ", type->name, departure_names[d]);
        if (telling < 0)
            printf("agrees with every designed case\n");
        else
            printf("is told by designed tile %ld\n", telling);
        differing += (telling < 0) != (d == NO_DEPARTURE);
    }
    free(cases);
}

/* ---- long sums ---- */

static bool multiply_tile(int which, const struct tile *operands_and_sums, uint32_t *d) {
    tile = *operands_and_sums;
    multiply(which);
    memcpy(d, results, sizeof *d * TILE_M * (size_t)tile.shape.n);
    return true;
}

/* The GPU's name in the first line of a record. */
static void read_gpu(FILE *in, char *name, size_t size) {
    char line[1024];
    *name = 0;
    const char *const at = fgets(line, sizeof line, in) ? strstr(line, "\"gpu\": \"") : NULL;
    if (at) snprintf(name, size, "%.*s", (int)strcspn(at + 8, "\""), at + 8);
}

/* The GPU's errors; false if there are none. Ends the program if they are damaged. */
static bool load_errors(const char *path, struct error_table *table, char *gpu, size_t size) {
    FILE *const in = fopen(path, "r");
    if (!in) return false;
    read_gpu(in, gpu, size);
    if (!*gpu || !read_errors(table, in)) {
        fprintf(stderr, "arithmetic: %s: no record of errors, or a damaged one\n", path);
        exit(1);
    }
    fclose(in);
    return true;
}

/* Prints the errors, or draws them into `figure`. */
static int show_errors(const char *record_path, const char *figure) {
    static struct error_table simulated, measured;
    char gpu[64];
    measure_errors(&simulated, multiply_tile);
    const bool recorded = record_path && load_errors(record_path, &measured, gpu, sizeof gpu);
    if (record_path && !recorded && !figure) {
        perror(record_path);
        return 1;
    }
    if (recorded && measured.hash != simulated.hash) {
        fprintf(stderr, "arithmetic: sums %016llx, recorded %016llx\n",
                (unsigned long long)simulated.hash, (unsigned long long)measured.hash);
        return 1;
    }
    if (figure && !write_error_figure(figure, &simulated, recorded ? &measured : NULL, gpu)) {
        fprintf(stderr, "arithmetic: cannot write %s: %s\n", figure, strerror(errno));
        return 1;
    }
    if (figure) return 0;
    print_errors(&simulated, stdout);
    return 0;
}

/* ---- the command line ---- */

static int usage(void) {
    fprintf(stderr, "usage: arithmetic compact FILE | check RECORD [TYPE] | reject RECORD TYPE | "
                    "error [RECORD] | figure RECORD FILE\n");
    return USAGE;
}

int main(int argc, char **argv) {
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "error")) return show_errors(argv[2], NULL);
    if (argc == 4 && !strcmp(argv[1], "figure")) return show_errors(argv[2], argv[3]);
    const bool compact = argc == 3 && !strcmp(argv[1], "compact");
    const bool reject = argc == 4 && !strcmp(argv[1], "reject");
    const char *const only = argc == 4 ? argv[3] : NULL;
    if (!compact && !reject && (argc < 3 || argc > 4 || strcmp(argv[1], "check"))) return usage();
    FILE *const in = fopen(argv[2], compact ? "rb" : "r");
    if (!in) {
        perror(argv[2]);
        return 1;
    }
    if (compact) {
        if (compact_record(in, stdout)) return 0;
        fprintf(stderr, "arithmetic: %s is no complete file of build/gpu/arithmetic\n", argv[2]);
        return 1;
    }
    int known = 0;
    while (fgetc(in) != '\n' && !feof(in)) {
    }
    for (int which = 0; which < ARITHMETIC_TYPES; ++which) {
        if (!read_type_record(in, &arithmetic_types[which], &record)) {
            fprintf(stderr, "arithmetic: %s: no record of %s, or a damaged one\n", argv[2],
                    arithmetic_types[which].name);
            return 1;
        }
        if (only && strcmp(only, arithmetic_types[which].name)) continue;
        ++known;
        if (reject)
            reject_departures(which);
        else
            check_type(which);
    }
    fclose(in);
    if (!known) return usage();
    if (differing) fprintf(stderr, "arithmetic: %d differences\n", differing);
    return differing > 0;
}
