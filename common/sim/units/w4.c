/* w4.c: 4-bit weights made e4m3 by the CUDA cores. */
#include "hopper/w4.h"

#include "sim/core/collective.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/units/registers/watch.h"
#include "sim/units/wgmma/state.h"

struct conversion {
    uint32_t *e4m3;
    const uint32_t *words;
    int count;
};

static bool convert(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct conversion *const c = operand[lane];
        for (int i = 0; i < c->count; ++i) {
            const uint32_t word = c->words[i], rotated = word >> 4 | word << 28;
            c->e4m3[2 * i] = word & W4_MASK;
            c->e4m3[2 * i + 1] = rotated & W4_MASK;
        }
        for (int i = 0; i < 2 * c->count; i += A_REGISTERS) {
            wgmma_fragment_loaded(warp->thread[lane], &c->e4m3[i]);
            register_watch_load(warp->thread[lane], &c->e4m3[i]);
        }
    }
    const struct conversion *const first = operand[0];
    timing_arithmetic(warp, first->count * W4_CYCLES);
    return true;
}

void sim_w4_to_e4m3(uint32_t *e4m3, const uint32_t *words, int count) {
    struct conversion c = {e4m3, words, count};
    sim_warp_collective("w4_to_e4m3", &c, convert);
}
