/*
 * recorded_sums.c RECORD: the simulator's Tensor Core against sums that an H200 computed, bit for
 * bit; and other ways to add, each of which the record must tell from the hardware's.
 *
 * The record's first line is JSON: GPU, driver, date, commit. Every other line is a dot product of
 * one wgmma or mma.sync: its type, the elements of A and of B along k, in hexadecimal digits
 * without gaps, the accumulator and the result, bits of fp32. The GPU multiplied whole tiles, and
 * recorded a hash of each tile's results. At commit 44aba7f build/sim/arithmetic reproduces these
 * hashes, all of them. The sums here are from these tiles: some that tell each departure, the
 * others from all families of sums and classes of random operands.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/models/tensor_core.h"
#include "tests/sim/models/departures.h"
#include "tests/support/expect.h"

enum { TYPES = 8, LEAST_SUMS = 250, FP32_BITS = 23 /* after the leading one */ };

static const struct {
    const char *name;
    enum tensor_type a, b;
} types[TYPES] = {
    {"fp16", TENSOR_FP16, TENSOR_FP16},      {"bf16", TENSOR_BF16, TENSOR_BF16},
    {"e4m3", TENSOR_E4M3, TENSOR_E4M3},      {"e5m2", TENSOR_E5M2, TENSOR_E5M2},
    {"e4m3_e5m2", TENSOR_E4M3, TENSOR_E5M2}, {"e5m2_e4m3", TENSOR_E5M2, TENSOR_E4M3},
    {"mma_fp16", TENSOR_FP16, TENSOR_FP16},  {"mma_bf16", TENSOR_BF16, TENSOR_BF16},
};

struct recorded_sum {
    int type;
    uint16_t a[TENSOR_MAX_K], b[TENSOR_MAX_K];
    uint32_t c, d;
};

static int sums_of[TYPES], told[TYPES][DEPARTURES];

/* `count` numbers of as many digits each; false if there are others. */
static bool read_elements(const char *digits, int count, uint16_t *elements) {
    const size_t each = count == TENSOR_MAX_K ? 2 : 4;
    if (strlen(digits) != each * (size_t)count) return false;
    for (int i = 0; i < count; ++i) {
        char number[5] = {0}, *end;
        memcpy(number, digits + each * (size_t)i, each);
        elements[i] = (uint16_t)strtoul(number, &end, 16);
        if (*end) return false;
    }
    return true;
}

static bool read_sum(const char *line, struct recorded_sum *sum) {
    char name[16], a[80], b[80];
    if (sscanf(line, "%15s %79s %79s %8" SCNx32 " %8" SCNx32, name, a, b, &sum->c, &sum->d) != 5)
        return false;
    for (sum->type = 0; sum->type < TYPES; ++sum->type)
        if (!strcmp(name, types[sum->type].name)) break;
    if (sum->type == TYPES) return false;
    const int k = tensor_k(types[sum->type].a);
    return read_elements(a, k, sum->a) && read_elements(b, k, sum->b);
}

/* As the first element of a tile whose other operands are zero. */
static uint32_t simulated(const struct recorded_sum *sum) {
    static struct wgmma_operand a, b;
    static float d[WGMMA_M * 8];
    const enum tensor_type a_type = types[sum->type].a, b_type = types[sum->type].b;
    for (int k = 0; k < tensor_k(a_type); ++k) {
        a.bits[k][0] = sum->a[k];
        b.bits[k][0] = sum->b[k];
    }
    memset(d, 0, sizeof d);
    memcpy(d, &sum->c, sizeof sum->c);
    tensor_core_multiply(d, &a, &b, (struct tensor_shape){WGMMA_M, 8, a_type, b_type, true});
    uint32_t bits;
    memcpy(&bits, d, sizeof bits);
    return bits;
}

static uint32_t departed(const struct recorded_sum *sum, enum departure departure) {
    const enum tensor_type a = types[sum->type].a, b = types[sum->type].b;
    const int k = tensor_k(a);
    struct tensor_term terms[TENSOR_MAX_K + 1];
    for (int i = 0; i < k; ++i)
        terms[i] = tensor_product(a, sum->a[i], b, sum->b[i]);
    terms[k] = tensor_accumulator(sum->c);
    return departed_sum(terms, k + 1, tensor_precision(a), departure);
}

/* Only bf16 reaches the least exponent, and an fp32 has no room for a longer result of 16-bit
 * elements. */
static bool can_tell(int type, enum departure departure) {
    if (departure == LEAST_LESS || departure == LEAST_MORE) return types[type].a == TENSOR_BF16;
    return departure != KEPT_MORE || tensor_precision(types[type].a).kept < FP32_BITS;
}

static void check_line(int number, const char *line) {
    struct recorded_sum sum;
    EXPECT(read_sum(line, &sum), "line %d: no sum", number);
    if (!read_sum(line, &sum)) return;
    ++sums_of[sum.type];
    EXPECT(simulated(&sum) == sum.d, "line %d: %08" PRIx32 ", recorded %08" PRIx32, number,
           simulated(&sum), sum.d);
    for (int d = 0; d < DEPARTURES; ++d)
        told[sum.type][d] += departed(&sum, (enum departure)d) != sum.d;
}

int main(int argc, char **argv) {
    FILE *const record = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!record) {
        fprintf(stderr, "usage: recorded_sums RECORD\n");
        return 2;
    }
    char line[1024];
    EXPECT(fgets(line, sizeof line, record) && strstr(line, "\"gpu\": \"NVIDIA H200\""),
           "no first line");
    for (int number = 2; fgets(line, sizeof line, record); ++number)
        check_line(number, line);
    fclose(record);
    for (int type = 0; type < TYPES; ++type) {
        EXPECT(sums_of[type] >= LEAST_SUMS, "%s: %d sums", types[type].name, sums_of[type]);
        EXPECT(told[type][NO_DEPARTURE] == 0, "%s: %d sums are not the definition's",
               types[type].name, told[type][NO_DEPARTURE]);
        for (int d = NO_DEPARTURE + 1; d < DEPARTURES; ++d)
            EXPECT(!can_tell(type, (enum departure)d) || told[type][d] > 0,
                   "%s: the record does not tell: %s", types[type].name, departure_names[d]);
    }
    return expect_result();
}
