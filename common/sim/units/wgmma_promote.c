/* wgmma_promote.c: sums of the Tensor Core in ordinary arithmetic. */
#include <math.h>
#include <string.h>

#include "hopper/wgmma.h"
#include "sim/core/collective.h"
#include "sim/cost/warp_timing.h"
#include "sim/units/accumulators.h"

struct promotion {
    float *sum;
    const float *acc, *scale;
    int count;
};

static bool promote(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct promotion *const p = operand[lane];
        for (int i = 0; i < p->count; ++i)
            p->sum[i] = fmaf(p->acc[i], p->scale[i % 4 / 2], p->sum[i]);
    }
    timing_arithmetic(warp, ((const struct promotion *)operand[0])->count);
    return true;
}

void sim_wgmma_promote(float *sum, const float *acc, const float scale[2], int count) {
    for (int i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &acc[i], sizeof bits);
        sim_check_register(bits);
    }
    struct promotion o = {sum, acc, scale, count};
    sim_warp_collective("wgmma_promote", &o, promote);
}
