/*
 * unit_umma_descriptor.c RECORD: the descriptors of tcgen05.mma, encoded by the wrappers and
 * decoded by the simulator, against a record of another encoder; what the decoder must refuse.
 */
#include "sim/models/umma_descriptor.h"

#include <stdio.h>
#include <string.h>

#include "blackwell/tcgen05.h"
#include "tests/support/expect.h"

static enum gemm_swizzle swizzle_of(unsigned bytes) {
    return bytes == 128  ? SWIZZLE_128B
           : bytes == 64 ? SWIZZLE_64B
           : bytes == 32 ? SWIZZLE_32B
                         : SWIZZLE_NONE;
}

static void check_matrix(unsigned bytes, unsigned start, unsigned lbo, unsigned sbo,
                         unsigned long long word) {
    const uint64_t ours = tcgen05_descriptor(start, lbo, sbo, swizzle_of(bytes));
    struct descriptor d;
    EXPECT(ours == word, "%u %x %u %u: 0x%016llx, recorded 0x%016llx", bytes, start, lbo, sbo,
           (unsigned long long)ours, word);
    EXPECT(!umma_descriptor_decode(word, &d), "0x%016llx is refused", word);
    EXPECT(d.start == start && d.lbo == lbo && d.sbo == sbo && d.swizzle == swizzle_of(bytes) &&
               d.base_offset == 0,
           "0x%016llx: decoded as %u %x %u %u", word, (unsigned)d.swizzle, d.start, d.lbo, d.sbo);
}

static void check_instruction(const char *type, int m, int n, unsigned word) {
    const bool bf16 = !strcmp(type, "bf16");
    const uint32_t ours = tcgen05_instruction_of(m, n, bf16);
    struct umma_instruction s;
    EXPECT(ours == word, "%s %d %d: 0x%08x, recorded 0x%08x", type, m, n, ours, word);
    EXPECT(!umma_instruction_decode(word, m == 256 ? 2 : 1, &s), "0x%08x is refused", word);
    EXPECT(s.m == m && s.n == n && s.a == (bf16 ? TENSOR_BF16 : TENSOR_FP16) && s.b == s.a &&
               !s.a_mn_major && !s.b_mn_major,
           "0x%08x: decoded as %d %d", word, s.m, s.n);
}

/* Each with one bit or field that must not be so. */
static void check_refusals(void) {
    const uint64_t good = tcgen05_descriptor(0x1000, 0, 1024, SWIZZLE_128B);
    const int wrong[] = {14, 15, 30, 31, 46, 47, 48, 52, 53, 60, 61};
    struct descriptor d;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        EXPECT(umma_descriptor_decode(good ^ (uint64_t)1 << wrong[i], &d), "bit %d passes",
               wrong[i]);
    const uint32_t instruction = tcgen05_instruction_of(128, 256, 0);
    const int bits[] = {0, 2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 23, 29, 30};
    struct umma_instruction s;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
        EXPECT(umma_instruction_decode(instruction ^ 1u << bits[i], 1, &s), "bit %d passes",
               bits[i]);
    const int shapes[][3] = {{1, 256, 64}, {1, 192, 64},  {1, 32, 64},  {2, 64, 64},
                             {1, 128, 0},  {1, 128, 264}, {2, 256, 24}, {2, 256, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
        EXPECT(umma_instruction_decode(tcgen05_instruction_of(shapes[i][1], shapes[i][2], 0),
                                       shapes[i][0], &s),
               "group %d, %d x %d passes", shapes[i][0], shapes[i][1], shapes[i][2]);
}

int main(int argc, char **argv) {
    FILE *const record = argc == 2 ? fopen(argv[1], "r") : NULL;
    char line[256], type[16];
    unsigned bytes, start, lbo, sbo, word;
    unsigned long long matrix;
    int m, n, read = 0;
    if (!record) return 2;
    while (fgets(line, sizeof line, record)) {
        if (sscanf(line, "matrix %u %x %u %u %llx", &bytes, &start, &lbo, &sbo, &matrix) == 5)
            check_matrix(bytes, start, lbo, sbo, matrix), ++read;
        else if (sscanf(line, "instruction %15s %d %d %x", type, &m, &n, &word) == 4)
            check_instruction(type, m, n, word), ++read;
        else
            EXPECT(*line == '#', "what is %s", line);
    }
    fclose(record);
    EXPECT(read == 22, "%d lines of the record, expected 22", read);
    check_refusals();
    return expect_result();
}
