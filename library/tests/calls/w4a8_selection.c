/*
 * w4a8_selection.c: what the selection takes on an H200 and on an H100, both with 132 SMs; and no
 * configuration is promised a k-tile in fewer cycles than the Tensor Core needs for it.
 *
 * select.c is compiled here once more, because its table is its own, with the rates of either GPU.
 */
#include "services/selection.h"

static struct gemm_rates rates_here = {1, 1};
static struct gemm_rates given_rates(void) { return rates_here; }
static bool questions_fail;
static bool given_failures(void) { return questions_fail; }
#define gemm_device_rates given_rates
#define gemm_questions_failed given_failures
#include "w4a8_gemm/select.c"
#undef gemm_questions_failed
#undef gemm_device_rates

#include <string.h>

#include "backend.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"

enum { SMS = 132, FLOP_PER_CYCLE = 8192 /* of an SM, dense and of 8 bits */ };

/* Of an H100, beside an H200's 1. */
static const struct gemm_rates h100_rates = {0.6818, 0.8437};

/* NULL: not expected there. */
static const struct choice {
    int m, n, k;
    const char *takes, *takes_on_h100;
} chosen[] = {
    {1, 14336, 4096, "teams16", "teams16"},   {8, 14336, 4096, "teams16", NULL},
    {16, 14336, 4096, "teams16", "teams16"},  {32, 14336, 4096, "teams32", "teams32"},
    {48, 14336, 4096, "pairs48", "pairs48"},  {64, 14336, 4096, "pairs64", "pairs64"},
    {128, 14336, 4096, "slabs64", "slabs64"}, {256, 14336, 4096, "wide", NULL},
    {512, 14336, 4096, "three", NULL},        {1024, 14336, 4096, "three", "three"},
    {2048, 14336, 4096, "three", NULL},       {4096, 14336, 4096, "three", NULL},
    {8192, 14336, 4096, "three", NULL},       {16, 7168, 2048, "quads16", "quads16"},
    {1, 8192, 8192, "quads16", NULL},         {8, 8192, 8192, "quads16", NULL},
    {16, 8192, 8192, "quads16", "quads16"},   {32, 8192, 8192, "quads32", "quads32"},
    {48, 8192, 8192, NULL, "halves48"},       {64, 8192, 8192, "halves64", "halves64"},
    {16, 28672, 8192, "teams16", "teams16"},  {64, 28672, 8192, "slabs64", "slabs64"},
};

/* 128 tiles of 64 channels need no clusters to occupy 132 SMs. */
static void expect_no_cluster(void) {
    const struct gemm_problem p = {.m = 16, .n = 8192, .k = 8192};
    const struct gemm_kernel *kernel = w4a8_selected_kernel(&p);
    const int splits =
        cluster_splits(gemm_launch_of(kernel, 1, NULL), p.n / kernel->tile_n, p.k / kernel->tile_k);
    EXPECT(splits == 1, "%d x %d x %d: %d CTAs share a tile of %s", p.m, p.n, p.k, splits,
           kernel->variant);
}

/* With the rates of the H100, or with those of the H200. */
static void expect_choices(bool h100) {
    rates_here = h100 ? h100_rates : (struct gemm_rates){1, 1};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; ++i) {
        const struct choice *c = &chosen[i];
        const char *takes = h100 ? c->takes_on_h100 : c->takes;
        if (!takes) continue;
        const struct gemm_problem p = {.m = c->m, .n = c->n, .k = c->k};
        const struct gemm_kernel *kernel = w4a8_selected_kernel(&p);
        EXPECT(kernel && strcmp(kernel->variant, takes) == 0, "%s, %d x %d x %d: %s, not %s",
               h100 ? "H100" : "H200", p.m, p.n, p.k, kernel ? kernel->variant : "nothing", takes);
    }
}

/* None, if the device does not say what fits, or if D has more tiles than an int counts. */
static void expect_none(void) {
    const struct gemm_problem small = {.m = 16, .n = 8192, .k = 8192};
    const struct gemm_problem large = {.m = 2000000000, .n = 2000000000, .k = 128};
    questions_fail = true;
    EXPECT(!w4a8_selected_kernel(&small), "%s", "selected without answers");
    questions_fail = false;
    EXPECT(w4a8_selected_kernel(&small) && !w4a8_selected_kernel(&large), "%s",
           "selected for too many tiles");
}

static void expect_chosen(void) {
    const struct backend_options options = {.type = GEMM_W4A8};
    struct backend_info info;
    sim_configure(SMS, SCHEDULE_TIME, 1);
    const enum exit_code opened = backend_open(&options, &info);
    EXPECT(opened == 0, "the simulator does not open: %d", opened);
    expect_choices(false);
    expect_no_cluster();
    expect_none();
    expect_choices(true);
    backend_close();
}

static void expect_constants(void) {
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; ++i) {
        const struct configuration *c = &configurations[i];
        const double least =
            2.0 * c->kernel->tile_m * c->kernel->tile_n * c->kernel->tile_k / FLOP_PER_CYCLE;
        EXPECT(c->k_tile >= least,
               "%s: %.0f cycles for a k-tile, of which the Tensor Core needs %.0f",
               c->kernel->variant, c->k_tile, least);
    }
}

int main(void) {
    expect_chosen();
    expect_constants();
    return expect_result();
}
