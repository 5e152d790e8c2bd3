/*
 * estimate.c: two guesses.
 *
 * Before a launch only the sizes of what it can reach are known. If the kernel multiplies matrices,
 * and its three largest blocks of memory are its matrices, m n k is the root of the product of
 * their elements. Once CTAs have ended, those that wait will take as long.
 */
#include "runtime/estimate.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/session.h"
#include "sim/core/global_memory.h"
#include "sim/models/tensor_map.h"

/* As measured on one core for kernels with wgmma at 1024 x 1024 x 256, and for those with mma. */
static const double SECONDS_OF_A_WGMMA_PRODUCT = 2e-9, SECONDS_OF_AN_MMA_PRODUCT = 4e-9;

static struct {
    const struct kernel *kernel;
    clock_t began;
    int ctas, total;
} now;

static void refuse(double seconds, const char *how) {
    const double minutes = seconds / 60;
    session_refuse(REFUSED_INCOMPLETE,
                   "a launch of %s would take about %.*f minutes here, %s: give the program a "
                   "smaller size (1024 instead of 8192 is 512 times less of a product), or let it "
                   "run with --launch-limit any",
                   now.kernel->shown, minutes < 10 ? 1 : 0, minutes, how);
}

static double seconds_of_a_product(const struct program *p) {
    double seconds = 0;
    for (int i = 0; i < p->operations; ++i) {
        if (!p->operation[i].source) continue;
        const char *const opcode = p->operation[i].source->opcode;
        if (!strncmp(opcode, "wgmma.mma_async", 15)) return SECONDS_OF_A_WGMMA_PRODUCT;
        if (!strncmp(opcode, "mma.", 4)) seconds = SECONDS_OF_AN_MMA_PRODUCT;
    }
    return seconds;
}

/* The largest blocks first, each once. */
struct largest {
    void **cells[3];
    double bytes[3];
};

static void note(struct largest *l, const void *pointer) {
    size_t offset, bytes;
    void **const cells = global_cells_of(pointer, &offset, &bytes);
    int i = 0;
    for (int j = 0; cells && j < 3; ++j)
        if (l->cells[j] == cells) return;
    while (i < 3 && l->bytes[i] >= (double)bytes)
        ++i;
    if (!cells || i == 3) return;
    for (int j = 2; j > i; --j) {
        l->cells[j] = l->cells[j - 1];
        l->bytes[j] = l->bytes[j - 1];
    }
    l->cells[i] = cells;
    l->bytes[i] = (double)bytes;
}

/* Every word of the parameters may be an address, and every 64 bytes a tensor map. */
static struct largest find_largest(const unsigned char *parameters, size_t bytes) {
    enum { WORD = 8, MAP_ALIGNMENT = 64 };
    struct largest l = {.bytes = {0}};
    for (size_t at = 0; at + WORD <= bytes; at += WORD) {
        struct tensor_map map;
        struct tensor_map_fields fields;
        uint64_t word;
        memcpy(&word, parameters + at, sizeof word);
        note(&l, (const void *)(uintptr_t)word);
        if (at % MAP_ALIGNMENT || at + sizeof map > bytes) continue;
        memcpy(&map, parameters + at, sizeof map);
        if (tensor_map_decode(&map, &fields)) note(&l, fields.base);
    }
    return l;
}

void estimate_begin(const struct kernel *kernel, const struct launch *launch,
                    const unsigned char *parameters) {
    enum { BYTES_OF_AN_ELEMENT = 2 };
    const double limit = session_get()->launch_limit, each = seconds_of_a_product(kernel->program);
    now.kernel = kernel;
    now.began = clock();
    now.ctas = 0;
    now.total = launch->grid.x * launch->grid.y * launch->grid.z;
    if (limit == 0 || each == 0) return;
    const struct largest l = find_largest(parameters, kernel->function->param_bytes);
    double product = 1;
    for (int i = 0; i < 3; ++i)
        product *= l.bytes[i] / BYTES_OF_AN_ELEMENT;
    const double seconds = each * sqrt(product);
    if (seconds > limit) refuse(seconds, "if it multiplies matrices as large as its memory");
}

void estimate_progress(struct launch *launch) {
    const double limit = session_get()->launch_limit, enough = fmin(10, limit / 10);
    const double seconds = (double)(clock() - now.began) / CLOCKS_PER_SEC;
    (void)launch;
    const double whole = seconds * now.total / ++now.ctas;
    if (limit > 0 && seconds > enough && whole > limit)
        refuse(whole, "as its first CTAs have shown");
}
