/* inspect_sum.c: it calls the functions with which the simulator adds. */
#include "tools/inspect/inspect_sum.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/models/tensor_sum.h"

enum { MOST_TERMS = 33, LABEL = 40 };

/* The finite element that is nearest, of two the one with an even mantissa. */
static uint16_t nearest_element(enum tensor_type type, double value) {
    const struct tensor_format *const f = &tensor_formats[type];
    const uint16_t sign =
        signbit(value) ? (uint16_t)(1 << (f->exponent_bits + f->mantissa_bits)) : 0;
    uint16_t best = 0;
    double distance = INFINITY;
    for (int bits = 0; bits <= f->greatest; ++bits) {
        const double d = fabs(tensor_element(type, (uint16_t)bits).value - fabs(value));
        if (d > distance || (d == distance && bits % 2)) continue;
        best = (uint16_t)bits;
        distance = d;
    }
    return sign | best;
}

static const char *read_number(const char **at, char end, double *value) {
    char *after;
    *value = strtod(*at, &after);
    if (after == *at || !isfinite(*value)) return "expected a number";
    if (*after != end && *after != 0) return "expected AxB,AxB,... after --products";
    *at = after;
    return NULL;
}

static void put_term(FILE *out, const char *label, struct tensor_term term, int exponent,
                     struct tensor_precision precision) {
    if (term.value == 0) {
        fprintf(out, "%-24s %15s %9s\n", label, "0", "-");
        return;
    }
    const double units = ldexp(term.value, precision.fraction - exponent);
    fprintf(out, "%-24s %15.9g %9d %18.10g %12" PRId64 "\n", label, term.value, term.exponent,
            units, tensor_align(term, exponent, precision));
}

const char *inspect_sum(FILE *out, const char *type_name, const char *products,
                        const char *accumulator) {
    enum tensor_type type = TENSOR_FP16;
    while (type < TENSOR_TYPES && strcmp(type_name, tensor_formats[type].name))
        ++type;
    if (type == TENSOR_TYPES) return "expected --element fp16, bf16, e4m3 or e5m2";
    struct tensor_term terms[MOST_TERMS];
    char label[MOST_TERMS][LABEL];
    int count = 0;
    const char *fault = NULL;
    for (const char *at = products; *at && !fault;) {
        double a, b = 0;
        if (count == tensor_k(type)) return "more products than one instruction has";
        fault = read_number(&at, 'x', &a);
        if (!fault && *at++ != 'x') fault = "expected AxB,AxB,... after --products";
        if (!fault) fault = read_number(&at, ',', &b);
        if (fault) return fault;
        if (*at && !*++at) return "expected AxB,AxB,... after --products";
        const uint16_t a_bits = nearest_element(type, a), b_bits = nearest_element(type, b);
        snprintf(label[count], LABEL, "%.6g x %.6g", tensor_element(type, a_bits).value,
                 tensor_element(type, b_bits).value);
        terms[count++] = tensor_product(type, a_bits, type, b_bits);
    }
    double c;
    if ((fault = read_number(&accumulator, 0, &c))) return fault;
    const float c_value = (float)c;
    uint32_t bits;
    memcpy(&bits, &c_value, sizeof bits);
    terms[count] = tensor_accumulator(bits);
    if (!isfinite(terms[count].value)) return "expected an accumulator that fp32 holds";
    snprintf(label[count++], LABEL, "accumulator");

    const struct tensor_precision precision = tensor_precision(type);
    const int exponent = tensor_sum_exponent(terms, count);
    int64_t sum = 0;
    double exact = 0;
    fprintf(out, "%s: aligned to 2^%d, %d bits below it: units of 2^%d\n\n", type_name, exponent,
            precision.fraction, exponent - precision.fraction);
    fprintf(out, "%-24s %15s %9s %18s %12s\n", "term", "value", "exponent", "in units", "cut");
    for (int i = 0; i < count; ++i) {
        put_term(out, label[i], terms[i], exponent, precision);
        sum += tensor_align(terms[i], exponent, precision);
        exact += terms[i].value;
    }
    fprintf(out, "%-24s %15.9g %9s %18.10g %12" PRId64 "\n\n", "sum", exact, "",
            ldexp(exact, precision.fraction - exponent), sum);
    bits = tensor_sum(terms, count, precision);
    fprintf(out, "result, cut to %d bits after its leading one: %.9g (0x%08x)\n", precision.kept,
            tensor_accumulator(bits).value, bits);
    return NULL;
}
