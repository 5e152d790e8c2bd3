/* promote.c: sums of the Tensor Core in ordinary arithmetic. */
#include <math.h>
#include <string.h>

#include "hopper/wgmma.h"
#include "sim/core/collective.h"
#include "sim/core/events.h"
#include "sim/cost/warp_timing.h"
#include "sim/units/registers/accumulators.h"

struct promotion {
    float *sum;
    const float *acc, *scale;
    int count;
    bool columns; /* a scale for each column, not for each row */
};

static bool promote(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct promotion *const p = operand[lane];
        for (int i = 0; i < p->count; ++i)
            p->sum[i] =
                fmaf(p->acc[i], p->scale[p->columns ? i / 4 * 2 + i % 2 : i % 4 / 2], p->sum[i]);
    }
    timing_arithmetic(warp, ((const struct promotion *)operand[0])->count);
    return true;
}

static void promote_checked(const char *name, struct promotion *o) {
    for (int i = 0; i < o->count; ++i) {
        uint32_t bits;
        memcpy(&bits, &o->acc[i], sizeof bits);
        sim_check_register(bits);
    }
    sim_cue(SIM_EVENT_CUE_PROMOTE, 0);
    sim_warp_collective(name, o, promote);
    sim_cue(SIM_EVENT_CUE_PROMOTED, 0);
}

void sim_wgmma_promote(float *sum, const float *acc, const float scale[2], int count) {
    struct promotion o = {sum, acc, scale, count, false};
    promote_checked("wgmma_promote", &o);
}

void sim_wgmma_promote_columns(float *sum, const float *acc, const float *scale, int count) {
    struct promotion o = {sum, acc, scale, count, true};
    promote_checked("wgmma_promote_columns", &o);
}
