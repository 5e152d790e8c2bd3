/*
 * wgmma_accumulators.c: who owns accumulators: the thread, or a wgmma under way. A thread that
 * looks at one too early sees a tagged NaN; one that changes it is found out here.
 */
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/storage.h"
#include "sim/models/fragments.h"
#include "sim/units/accumulators.h"
#include "sim/units/wgmma_state.h"

static bool any_in_flight(const struct wgmma_state *state, const struct wgmma_tile *tile) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        if (wgmma_in_flight(state, tile, i)) return true;
    return false;
}

static bool overlap(const struct wgmma_tile *tile, const float *acc, int n) {
    return acc < tile->acc[0] + tile->n / 2 && tile->acc[0] < acc + n / 2;
}

/* The tile of these accumulators: the one they were before, or another. */
struct wgmma_tile *wgmma_tile_of(struct wgmma_state *state, void *const operand[WARPGROUP_SIZE]) {
    const struct wgmma_call *const first = operand[0];
    struct wgmma_tile **oldest = NULL;
    for (int i = 0; i < MAX_TILES; ++i) {
        struct wgmma_tile *const tile = state->tile[i];
        if (!tile) {
            if (!oldest || *oldest) oldest = &state->tile[i];
            continue;
        }
        const bool same = tile->acc[0] == first->acc && tile->n == first->n;
        if (same) return tile;
        const bool busy = any_in_flight(state, tile);
        if (busy && overlap(tile, first->acc, first->n))
            sim_hazard(
                "accumulator-shape", wgmma_thread(state->warpgroup, 0),
                "a wgmma with n = %d uses accumulators that one with n = %d is still writing\n"
                "    only wgmmas of the same shape may follow one another without a wait",
                first->n, tile->n);
        if (!busy && (!oldest || (*oldest && (*oldest)->last_use > tile->last_use)))
            oldest = &state->tile[i];
    }
    if (!oldest)
        sim_fatal("simulator-limit", NULL,
                  "more than %d accumulator arrays of a warpgroup in flight", MAX_TILES);
    struct sim_cluster *const cluster = state->warpgroup->cta->cluster;
    if (!*oldest) *oldest = sim_arena_alloc(cluster, sizeof **oldest);
    struct wgmma_tile *const tile = *oldest;
    if (!tile->d) tile->d = sim_arena_alloc(cluster, sizeof(float) * WGMMA_M * WGMMA_MAX_N);
    tile->n = first->n;
    tile->epoch = 0;
    for (int i = 0; i < WARPGROUP_SIZE; ++i) {
        tile->acc[i] = ((const struct wgmma_call *)operand[i])->acc;
        tile->fenced[i] = true; /* what a thread did before is judged by its own flags */
    }
    return tile;
}

static float *element_of(const struct wgmma_tile *tile, int thread, int i) {
    const struct fragment_position at = fragment_of_d(thread, i);
    return &tile->d[at.row * tile->n + at.column];
}

/* Were the registers of this thread touched since its last wgmma.fence? */
static const char *fence_missing(const struct wgmma_state *state, const struct wgmma_tile *tile,
                                 const struct wgmma_call *call, int thread) {
    const struct sim_thread *const t = wgmma_thread(state->warpgroup, thread);
    if (!state->fenced[thread]) return "the first wgmma comes without any wgmma_fence()";
    if (call->a_registers && t->touched_registers)
        return "registers were loaded or used since the last wgmma_fence(), and A is in registers";
    if (wgmma_in_flight(state, tile, thread))
        return NULL; /* a chain of the same shape needs none */
    if (t->touched_registers)
        return "registers were used (packed, converted, stored) since the last wgmma_fence()";
    if (tile->fenced[thread]) return NULL;
    for (int i = 0; i < tile->n / 2; ++i)
        if (memcmp(&call->acc[i], element_of(tile, thread, i), sizeof(float)))
            return "accumulators were changed since the last wgmma_fence()";
    return NULL;
}

void wgmma_check_fences(const struct wgmma_state *state, const struct wgmma_tile *tile,
                        void *const operand[WARPGROUP_SIZE]) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i) {
        const char *const why = fence_missing(state, tile, operand[i], i);
        if (!why) continue;
        sim_hazard(
            "missing-wgmma-fence", wgmma_thread(state->warpgroup, i),
            "%s\n    call wgmma_fence() between the last access to these registers and the wgmma",
            why);
        return; /* the others would say the same */
    }
}

/* Takes the accumulators over; from here on the threads hold the tag. */
void wgmma_gather(struct wgmma_state *state, struct wgmma_tile *tile,
                  void *const operand[WARPGROUP_SIZE]) {
    const uint32_t bits =
        SIM_ACCUMULATOR_TAG | (uint32_t)(++state->tags & ~SIM_ACCUMULATOR_TAG_MASK);
    memcpy(&tile->tag, &bits, sizeof bits);
    for (int t = 0; t < WARPGROUP_SIZE; ++t) {
        float *const acc = ((const struct wgmma_call *)operand[t])->acc;
        if (!wgmma_in_flight(state, tile, t)) {
            tile->acc[t] = acc;
            for (int i = 0; i < tile->n / 2; ++i) {
                *element_of(tile, t, i) = acc[i];
                memcpy(&acc[i], &bits, sizeof bits);
            }
            continue;
        }
        for (int i = 0; i < tile->n / 2; ++i) {
            if (sim_is_tagged(acc[i])) continue;
            sim_hazard("accumulator-in-flight", wgmma_thread(state->warpgroup, t),
                       "accumulator %d was changed while a wgmma owned it\n"
                       "    wait for the group (wgmma_wait_group) before touching accumulators",
                       i);
            return;
        }
    }
}

/* The thread has waited for the group: its accumulators hold values again. What it wrote there in
 * the meantime stays. */
void wgmma_deliver(struct wgmma_state *state, struct wgmma_tile *tile, int thread) {
    bool intact = true;
    for (int i = 0; i < tile->n / 2; ++i) {
        if (sim_is_tagged(tile->acc[thread][i]))
            tile->acc[thread][i] = *element_of(tile, thread, i);
        else
            intact = false;
    }
    tile->fenced[thread] = false;
    if (!intact)
        sim_hazard("accumulator-in-flight", wgmma_thread(state->warpgroup, thread),
                   "an accumulator was changed between a wgmma and the wait for it\n"
                   "    touch accumulators after wgmma_wait_group only");
}
