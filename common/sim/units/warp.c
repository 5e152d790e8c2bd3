/*
 * warp.c: what the lanes of a warp do with one another: __syncwarp, shuffles, elections.
 */
#include "hopper/thread.h"
#include "sim/core/lanes.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"

static bool sync_warp(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    struct sim_cluster *cluster = warp->cta->cluster;
    /* One object for the warp, empty between uses. */
    if (!warp->sync) warp->sync = sim_arena_alloc(cluster, sizeof *warp->sync);
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (operand[lane]) sim_release(warp->thread[lane], warp->sync);
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (operand[lane]) sim_acquire(warp->thread[lane], warp->sync);
    sim_sync_clear(warp->sync);
    if (sim_timed()) ++warp->clock;
    return true;
}

void sim_sync_lanes(uint32_t mask) {
    sim_lanes_collective(ENDED_IN_DOUBT, "__syncwarp", mask, sim_thread(), sync_warp);
    sim_maybe_yield();
}

void sim_sync_warp(void) { sim_sync_lanes(UINT32_MAX); }

struct shuffle {
    uint32_t mask;
    int value, lane, result;
};

static bool shuffle(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct shuffle *const s = operand[lane];
        if (!s) continue;
        const struct shuffle *const from = operand[s->lane % WARP_SIZE];
        if (!from) sim_lanes_check_source(warp, lane, s->lane % WARP_SIZE);
        s->result = from ? from->value : s->value;
    }
    sim_lanes_exchanged(warp, operand);
    if (sim_timed()) warp->clock += SHUFFLE_CYCLES;
    return true;
}

int sim_shuffle(uint32_t mask, int value, int lane) {
    if (mask != 0xffffffffu)
        sim_fatal("unsupported", NULL, "__shfl_sync with mask %#x: only whole warps are simulated",
                  mask);
    struct shuffle s = {mask, value, lane, 0};
    sim_warp_collective_of(ENDED_LEFT_OUT, "__shfl_sync", &s, shuffle);
    return s.result;
}

/* A kernel may not rely on which lane elect.sync chooses, only on its being the same every time. */
static int leader(const struct sim_warp *warp) {
    int lanes[WARP_SIZE], count = 0;
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (warp->thread[lane]) lanes[count++] = lane;
    if (sim.schedule == SCHEDULE_LATE) return lanes[count - 1];
    return lanes[sim.schedule == SCHEDULE_RANDOM ? sim_random() % (unsigned)count : 0];
}

static bool elect(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)operand;
    if (warp->elected == 0) warp->elected = leader(warp) + 1;
    if (sim_timed()) warp->clock += 2;
    return true;
}

bool sim_elect_one(void) {
    sim_warp_collective("elect_one", NULL, elect);
    return sim_thread()->lane == sim_thread()->warp->elected - 1;
}
