/*
 * fuzz_wgmma.c: random descriptors through the simulated wgmma, against a model that knows only the
 * definitions: the bits of a descriptor, where the canonical layouts have an element, what a
 * swizzle exchanges; for 16-bit elements, and for e4m3, where a tile is as many bytes and twice the
 * k. Every bit of the sums is compared with tensor_sum.h. A descriptor that leads out of shared
 * memory, or with a reserved bit, has to be refused.
 */
#include <math.h>
#include <stdlib.h>

#include "hopper/element.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "sim/models/descriptor.h"
#include "sim/models/element_values.h"
#include "sim/models/tensor_sum.h"
#include "tests/sim/sim_kernels.h"
#include "tests/support/fuzz.h"

enum { WORDS = 20000, LAUNCHES = 150, PRODUCTS = 8, REFUSED = 300 };
enum { THREADS = 128, ROOM = 64 << 10, K_BYTES = 32, MOST_N = 256 };

struct smem {
    unsigned char data[ROOM];
};

/* One wgmma. */
struct product {
    uint64_t a, b; /* descriptors */
    bool mn_major;
    bool in_registers; /* A, of 16 bits: as the descriptor would have found it */
    bool e4m3;         /* then K-major */
    float acc[THREADS][MOST_N / 2];
};

static struct product products[PRODUCTS];
static int product_count;
static bool bytes;              /* what shared memory holds: e4m3, or fp16 */
static int8_t number_at[ROOM];  /* per element */
static uint32_t address = 1024; /* of smem.data: checked by the kernel */

/* ---- the definitions ---- */

/* Bits first .. first + count - 1 of a word, one by one. */
static uint32_t bits(uint64_t word, int first, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i)
        if (word >> (first + i) & 1) value += 1u << i;
    return value;
}

/* PTX ISA, "Matrix Descriptor Format": the swizzle mode is 1 for 128 bytes, 2 for 64, 3 for 32. */
static uint32_t width_of(uint64_t word) {
    static const uint32_t widths[] = {16, 128, 64, 32};
    return widths[bits(word, 62, 2)];
}

/* Elements of k that an instruction multiplies. */
static int depth_of(bool e4m3) { return e4m3 ? K_BYTES : K_BYTES / 2; }

/* The shared address of element (mn, k) of an operand. Of e4m3, two that are neighbours in k are
 * where one 16-bit element would be. */
static uint32_t address_of(uint64_t word, bool mn_major, uint32_t mn, uint32_t k) {
    const uint32_t start = bits(word, 0, 14) * 16, lbo = bits(word, 16, 14) * 16,
                   sbo = bits(word, 32, 14) * 16, width = width_of(word);
    uint32_t at = start;
    if (width == 16) { /* core matrices of 8 x 8 elements, 128 bytes each */
        at += k / 8 * lbo + mn / 8 * sbo;
        at += mn_major ? k % 8 * 16 + mn % 8 * 2 : mn % 8 * 16 + k % 8 * 2;
        return at % (1 << 18);
    }
    if (mn_major) /* blocks of `width` bytes along mn, eight k each */
        at += k / 8 * sbo + k % 8 * width + mn / (width / 2) * lbo + mn % (width / 2) * 2;
    else
        at += mn / 8 * sbo + mn % 8 * width + k * 2;
    at %= 1 << 18;
    /* In the line of 128 bytes, counted from the pattern's first, chunks are exchanged. */
    const uint32_t line = at / 128 - bits(word, 49, 3), chunks = width / 16;
    const uint32_t chunk = at % width / 16;
    return at / width * width + (chunk ^ line % chunks) * 16 + at % 16;
}

static bool reserved_bits(uint64_t word) {
    return bits(word, 14, 2) || bits(word, 30, 2) || bits(word, 46, 3) || bits(word, 52, 10);
}

/* Every element of the operand lies in shared memory. */
static bool inside(uint64_t word, bool mn_major, int extent) {
    for (int mn = 0; mn < extent; ++mn)
        for (int k = 0; k < K_BYTES / 2; ++k) {
            const uint32_t at = address_of(word, mn_major, (uint32_t)mn, (uint32_t)k);
            if (at < address || at + 2 > address + ROOM) return false;
        }
    return true;
}

static int number(const struct product *p, uint64_t word, int mn, int k) {
    if (p->e4m3)
        return number_at[address_of(word, false, (uint32_t)mn, (uint32_t)k / 2) - address + k % 2];
    return number_at[(address_of(word, p->mn_major, (uint32_t)mn, (uint32_t)k) - address) / 2];
}

/* ---- random trials ---- */

static uint64_t random_word(uint32_t start, uint32_t lbo, uint32_t sbo) {
    return (uint64_t)(start / 16) | (uint64_t)(lbo / 16) << 16 | (uint64_t)(sbo / 16) << 32 |
           (uint64_t)fuzz_between(0, fuzz_once_in(2) ? 7 : 0) << 49 |
           (uint64_t)fuzz_between(0, 3) << 62;
}

/* A descriptor whose elements are all in shared memory: strides of any sort, many of them none that
 * a kernel would have. */
static uint64_t inner_word(bool mn_major, int extent) {
    for (;;) {
        const int stride = fuzz_once_in(2) ? 4096 : 256 * 1024 / extent;
        const uint64_t word = random_word(address + 16 * (uint32_t)fuzz_between(0, ROOM / 16 - 1),
                                          16 * (uint32_t)fuzz_between(0, stride / 16),
                                          16 * (uint32_t)fuzz_between(0, stride / 16));
        if (inside(word, mn_major, extent)) return word;
    }
}

/* A number's element: exponents far enough apart that sums depend on how they are added. An e4m3
 * is at most 448. */
static float value_of(int number) {
    const int size = abs(number);
    return ldexpf((float)number, bytes ? 3 * size / 2 - 7 : 2 * size - 8);
}
static uint16_t element_of(int number) {
    return bytes ? e4m3_nearest(value_of(number)) : element_nearest(value_of(number), false);
}

/* ---- the kernel ---- */

static void keep(struct product *product, const float *acc, int n) {
    memcpy(product->acc[threadIdx.x], acc, (size_t)n / 2 * sizeof *acc);
}

static uint32_t four_e4m3(const int8_t *numbers) {
    return pack_e4m3(value_of(numbers[0]), value_of(numbers[1])) |
           (uint32_t)pack_e4m3(value_of(numbers[2]), value_of(numbers[3])) << 16;
}

/* A of a product in registers, in wgmma's layout. */
static void load_a(const struct product *p, uint32_t a[4]) {
    for (int i = 0; i < 4; ++i) {
        const int row = (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4 + i % 2 * 8;
        const int k = i / 2 * 8 + (int)threadIdx.x % 4 * 2;
        a[i] =
            pack_elements(value_of(number(p, p->a, row, k)), value_of(number(p, p->a, row, k + 1)));
    }
}

#define PRODUCTS_OF(n)                                                                             \
    KERNEL(THREADS, 1) products_##n(KERNEL_ARGS args) {                                            \
        SHARED_MEMORY(struct smem);                                                                \
        (void)args;                                                                                \
        address = shared_address(shared->data);                                                    \
        for (int at = 16 * (int)threadIdx.x; at < ROOM; at += 16 * THREADS) {                      \
            struct b128 chunk;                                                                     \
            for (int i = 0; i < 4; ++i)                                                            \
                chunk.word[i] = bytes ? four_e4m3(number_at + at + 4 * i)                          \
                                      : pack_elements(value_of(number_at[at / 2 + 2 * i]),         \
                                                      value_of(number_at[at / 2 + 2 * i + 1]));    \
            st_shared_b128(shared->data + at, chunk);                                              \
        }                                                                                          \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        for (int i = 0; i < product_count; ++i) {                                                  \
            float acc[n / 2];                                                                      \
            uint32_t a[4] = {0};                                                                   \
            if (products[i].in_registers) load_a(&products[i], a);                                 \
            wgmma_fence();                                                                         \
            if (products[i].e4m3)                                                                  \
                wgmma_m64nNk32_e4m3(n, acc, products[i].a, products[i].b, false);                  \
            else if (products[i].in_registers && products[i].mn_major)                             \
                wgmma_m64nNk16_rs_mn_major(n, acc, a, products[i].b, false);                       \
            else if (products[i].in_registers)                                                     \
                wgmma_m64nNk16_rs(n, acc, a, products[i].b, false);                                \
            else if (products[i].mn_major)                                                         \
                wgmma_m64nNk16_mn_major(n, acc, products[i].a, products[i].b, false);              \
            else                                                                                   \
                wgmma_m64nNk16(n, acc, products[i].a, products[i].b, false);                       \
            wgmma_commit_group();                                                                  \
            wgmma_wait_group(0);                                                                   \
            keep(&products[i], acc, n);                                                            \
        }                                                                                          \
    }
PRODUCTS_OF(8)
PRODUCTS_OF(24)
PRODUCTS_OF(64)
PRODUCTS_OF(256)

static const struct {
    int n;
    void (*kernel)(const struct gemm_args);
} shapes[] = {{8, products_8}, {24, products_24}, {64, products_64}, {256, products_256}};

/* Runs the products; returns the kind of the first hazard, or "nothing". */
static const char *run(int shape) {
    const struct test_launch launch = {shapes[shape].kernel, 1, 1, THREADS, sizeof(struct smem)};
    const char *kind = "nothing", *file;
    int line;
    test_open((enum sim_schedule)fuzz_between(SCHEDULE_TIME, SCHEDULE_RANDOM), fuzz_bits(), 1);
    test_run(&launch, NULL);
    hazards_get(0, &kind, &file, &line);
    return kind;
}

/* ---- tests ---- */

/* Accumulator i of a thread: row and column of the product. PTX ISA, "Register Fragments". */
static void check_product(const struct product *p, int n, int launch) {
    for (int thread = 0; thread < THREADS; ++thread)
        for (int i = 0; i < n / 2; ++i) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
            const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            const enum tensor_type type = p->e4m3 ? TENSOR_E4M3 : TENSOR_FP16;
            const int depth = depth_of(p->e4m3);
            struct tensor_term terms[K_BYTES];
            for (int k = 0; k < depth; ++k)
                terms[k] = tensor_product(type, element_of(number(p, p->a, row, k)), type,
                                          element_of(number(p, p->b, column, k)));
            const uint32_t sum = tensor_sum(terms, depth, tensor_precision(type));
            uint32_t got;
            memcpy(&got, &p->acc[thread][i], sizeof got);
            EXPECT(got == sum,
                   "launch %d, n %d, A 0x%016llx, B 0x%016llx, %s-major%s%s: (%d, %d) is 0x%08x, "
                   "not 0x%08x",
                   launch, n, (unsigned long long)p->a, (unsigned long long)p->b,
                   p->mn_major ? "mn" : "k", p->e4m3 ? ", e4m3" : "",
                   p->in_registers ? ", A in registers" : "", row, column, got, sum);
        }
}

static void test_products(void) {
    for (int launch = 0; launch < LAUNCHES; ++launch) {
        const int shape = fuzz_between(0, 3), n = shapes[shape].n;
        bytes = launch % 3 == 0;
        for (int i = 0; i < ROOM; ++i)
            number_at[i] = (int8_t)fuzz_between(-8, 8);
        product_count = PRODUCTS;
        for (int i = 0; i < PRODUCTS; ++i) {
            products[i].e4m3 = bytes;
            products[i].mn_major = !bytes && fuzz_once_in(2);
            products[i].in_registers = !bytes && fuzz_once_in(3);
            products[i].a = inner_word(products[i].mn_major, 64);
            products[i].b = inner_word(products[i].mn_major, n);
        }
        const char *const kind = run(shape);
        EXPECT(!strcmp(kind, "nothing"), "launch %d: reported: %s", launch, kind);
        for (int i = 0; i < PRODUCTS; ++i)
            check_product(&products[i], n, launch);
    }
}

/* One operand is right, the other any word at all. */
static void test_refused(void) {
    int refused = 0;
    for (int i = 0; i < REFUSED; ++i) {
        const int shape = fuzz_between(0, 3), n = shapes[shape].n;
        bytes = fuzz_once_in(3);
        const bool mn_major = !bytes && fuzz_once_in(2), is_a = fuzz_once_in(2);
        uint64_t word =
            random_word(fuzz_bits() % (1 << 18), fuzz_bits() % (1 << 18), fuzz_bits() % (1 << 18));
        if (fuzz_once_in(2)) word = (uint64_t)fuzz_bits() << 32 | fuzz_bits();
        products[0].mn_major = mn_major;
        products[0].e4m3 = bytes;
        products[0].in_registers = false;
        products[0].a = is_a ? word : inner_word(mn_major, 64);
        products[0].b = is_a ? inner_word(mn_major, n) : word;
        product_count = 1;
        const char *const expected = reserved_bits(word)                     ? "wgmma-descriptor"
                                     : inside(word, mn_major, is_a ? 64 : n) ? "nothing"
                                                                             : "shared-bounds";
        const char *const kind = run(shape);
        EXPECT(!strcmp(kind, expected), "word 0x%016llx, n %d: expected %s, got %s",
               (unsigned long long)word, n, expected, kind);
        refused += strcmp(expected, "nothing") != 0;
    }
    EXPECT(refused > REFUSED / 2, "only %d words were wrong", refused);
}

/* Any word: the fields are where they are said to be, and encoding them gives the word back. */
static void test_words(void) {
    for (int i = 0; i < WORDS; ++i) {
        uint64_t word = (uint64_t)fuzz_bits() << 32 | fuzz_bits();
        if (fuzz_once_in(2))
            word = random_word((uint32_t)word % (1 << 18), 0, (uint32_t)word >> 14);
        struct descriptor d;
        const char *const fault = descriptor_decode(word, &d);
        EXPECT(reserved_bits(word) == (fault != NULL), "0x%016llx: %s", (unsigned long long)word,
               fault ? fault : "accepted");
        EXPECT(d.start == bits(word, 0, 14) * 16 && d.lbo == bits(word, 16, 14) * 16 &&
                   d.sbo == bits(word, 32, 14) * 16 && d.base_offset == bits(word, 49, 3) &&
                   swizzle_width(d.swizzle) == width_of(word),
               "0x%016llx: start 0x%x, LBO %u, SBO %u, base offset %u, swizzle %d",
               (unsigned long long)word, d.start, d.lbo, d.sbo, d.base_offset, d.swizzle);
        EXPECT(fault || descriptor_encode(&d) == word, "0x%016llx encoded again: 0x%016llx",
               (unsigned long long)word, (unsigned long long)descriptor_encode(&d));
    }
}

int main(void) {
    hazards_quiet(true);
    test_words();
    test_products();
    test_refused();
    backend_close();
    return expect_result();
}
