/*
 * selection_constants.c: no configuration of select.c is promised a k-tile in fewer cycles than the
 * Tensor Core needs for it.
 *
 * select.c is compiled here once more, because its table is its own.
 */
#include "../../../beyond/10_stream_k/select.c"

#include "tests/support/expect.h"

enum { FLOP_PER_CYCLE = 4096 /* of an SM, dense and of 16 bits */ };

int main(void) {
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; ++i)
        for (int type = 0; type < 2; ++type) {
            const struct configuration *c = &configurations[i];
            const struct gemm_kernel *kernel = c->kernel[type];
            const double least =
                2.0 * kernel->tile_m * kernel->tile_n * kernel->tile_k / FLOP_PER_CYCLE;
            EXPECT(c->k_tile >= least,
                   "%s: %.0f cycles for a k-tile, of which the Tensor Core "
                   "needs %.0f",
                   kernel->variant, c->k_tile, least);
        }
    return expect_result();
}
