/*
 * selection_constants.c: no configuration of select.c is promised a problem in fewer cycles than
 * the Tensor Core needs for it, or than memory does.
 *
 * select.c is compiled here once more, because its table is its own.
 */
#include "hopper_gemm/select.c"

#include "splitmix64.h"
#include "tests/support/expect.h"

enum {
    SHAPES = 3000,
    SMS = 132,
    FLOP_PER_CYCLE = 4096, /* of an SM, dense and of 16 bits */
    MOST_BYTES = 2600      /* per cycle: 4.8 TB/s, an H200's data sheet, at 1.85 GHz */
};

/* About log-uniform, from 1 to 2^bits. */
static int draw(uint64_t *random, int bits) {
    const int most = 1 << splitmix64(random) % (unsigned)(bits + 1);
    return 1 + (int)(splitmix64(random) % (unsigned)most);
}

int main(void) {
    const struct gemm_rates rates = {1, 1};
    uint64_t random = 1;
    int compared = 0;
    for (int i = 0; i < SHAPES; ++i) {
        struct gemm_problem p = {
            .m = draw(&random, 14), .n = draw(&random, 14), .k = draw(&random, 15)};
        p.lda = p.ldb = (p.k + 7) / 8 * 8, p.ldd = (p.n + 7) / 8 * 8;
        const double flops = 2.0 * p.m * p.n * p.k;
        const double bytes = 2 * ((double)p.m * p.k + (double)p.n * p.k + (double)p.m * p.n);
        for (size_t c = 0; c < CONFIGURATION_COUNT; ++c) {
            const struct gemm_kernel *kernel = configurations[c].kernel[i % 2];
            const int room =
                SMS / kernel->cluster * (kernel->tile_m * kernel->tile_n > 4096 ? 1 : 2);
            const double cycles =
                cost_cycles(configuration_cost(&configurations[c], kernel, &p, room, SMS, rates));
            if (isinf(cycles)) continue;
            ++compared;
            EXPECT(cycles >= flops / FLOP_PER_CYCLE / SMS,
                   "%s, %d x %d x %d: %.0f cycles, of which the Tensor Cores need %.0f",
                   kernel->variant, p.m, p.n, p.k, cycles, flops / FLOP_PER_CYCLE / SMS);
            EXPECT(cycles >= bytes / MOST_BYTES,
                   "%s, %d x %d x %d: %.0f cycles, of which memory needs %.0f", kernel->variant,
                   p.m, p.n, p.k, cycles, bytes / MOST_BYTES);
        }
    }
    EXPECT(compared > 2 * SHAPES, "only %d predictions", compared);
    return expect_result();
}
