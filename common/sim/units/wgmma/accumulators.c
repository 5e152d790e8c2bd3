/*
 * accumulators.c: who owns accumulators: the thread, or a wgmma under way. A thread that
 * looks at one too early sees a tagged NaN; one that changes it is found out here.
 */
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/storage.h"
#include "sim/models/element_values.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/wgmma/state.h"

static bool any_in_flight(const struct wgmma_state *state, const struct wgmma_tile *tile) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        if (wgmma_in_flight(state, tile, i)) return true;
    return false;
}

static int registers_of(const struct wgmma_tile *tile) {
    return wgmma_registers(tile->n, tile->halves);
}

static bool overlap(const struct wgmma_tile *tile, const struct wgmma_call *call) {
    return call->acc < tile->acc[0] + registers_of(tile) &&
           tile->acc[0] < call->acc + wgmma_registers(call->n, call->halves);
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
        const bool same =
            tile->acc[0] == first->acc && tile->n == first->n && tile->halves == first->halves;
        if (same) return tile;
        const bool busy = any_in_flight(state, tile);
        if (busy && overlap(tile, first))
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
    const bool forgotten = *oldest != NULL;
    if (!*oldest) *oldest = sim_arena_alloc(cluster, sizeof **oldest);
    struct wgmma_tile *const tile = *oldest;
    if (!tile->d) tile->d = sim_arena_alloc(cluster, sizeof(float) * WGMMA_M * WGMMA_MAX_N);
    tile->n = first->n;
    tile->halves = first->halves;
    tile->epoch = 0;
    for (int i = 0; i < WARPGROUP_SIZE; ++i) {
        tile->acc[i] = ((const struct wgmma_call *)operand[i])->acc;
        tile->forgotten[i] = forgotten;
        tile->fenced[i] = true; /* what a thread did before is judged by its own flags */
    }
    return tile;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Register `i` holds two sums of fp16, or one of fp32. */
uint32_t wgmma_value(const struct wgmma_tile *tile, int thread, int i) {
    if (!tile->halves) return bits_of(*wgmma_element(tile, thread, i));
    return element_nearest(*wgmma_element(tile, thread, 2 * i), false) |
           (uint32_t)element_nearest(*wgmma_element(tile, thread, 2 * i + 1), false) << 16;
}

static void take_value(struct wgmma_tile *tile, int thread, int i, float value) {
    if (!tile->halves) {
        *wgmma_element(tile, thread, i) = value;
        return;
    }
    for (int half = 0; half < 2; ++half)
        *wgmma_element(tile, thread, 2 * i + half) =
            element_value((uint16_t)(bits_of(value) >> 16 * half), false);
}

/* Reports accumulators that the whole warp adds to and that hold what the compiler has put into
 * variables without a value. */
static void check_initialized(const struct wgmma_state *state, const struct wgmma_tile *tile,
                              void *const operand[WARPGROUP_SIZE], int warp) {
    const int first = warp * WARP_SIZE;
    for (int i = 0; i < registers_of(tile); ++i) {
        int unset = 0;
        while (unset < WARP_SIZE && !wgmma_in_flight(state, tile, first + unset) &&
               sim_is_unset(((const struct wgmma_call *)operand[first + unset])->acc[i]))
            ++unset;
        if (unset < WARP_SIZE) continue;
        sim_hazard("uninitialized-registers", wgmma_thread(state->warpgroup, first),
                   "a wgmma adds to accumulator %d, which was never given a value\n"
                   "    set accumulators to zero, or begin with accumulate = 0",
                   i);
        return;
    }
}

/* Takes the accumulators over; from here on the threads hold the tag. */
void wgmma_gather(struct wgmma_state *state, struct wgmma_tile *tile,
                  void *const operand[WARPGROUP_SIZE]) {
    ++state->tags;
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        if (((const struct wgmma_call *)operand[0])->accumulate)
            check_initialized(state, tile, operand, w);
    for (int t = 0; t < WARPGROUP_SIZE; ++t) {
        float *const acc = ((const struct wgmma_call *)operand[t])->acc;
        if (!wgmma_in_flight(state, tile, t)) {
            tile->acc[t] = acc;
            tile->tag[t] = state->tags;
            for (int i = 0; i < registers_of(tile); ++i) {
                const uint32_t bits = sim_accumulator_tag(state->tags, i);
                take_value(tile, t, i, acc[i]);
                memcpy(&acc[i], &bits, sizeof bits);
            }
            continue;
        }
        for (int i = 0; i < registers_of(tile); ++i) {
            if (bits_of(acc[i]) == sim_accumulator_tag(tile->tag[t], i)) continue;
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
    float *const acc = tile->acc[thread];
    int changed = -1;
    uint32_t found = 0;
    for (int i = 0; i < registers_of(tile); ++i) {
        const uint32_t bits = bits_of(acc[i]);
        if (bits == sim_accumulator_tag(tile->tag[thread], i)) {
            const uint32_t value = wgmma_value(tile, thread, i);
            memcpy(&acc[i], &value, sizeof value);
        } else {
            if (changed < 0) found = bits;
            if (changed < 0) changed = i;
        }
    }
    tile->fenced[thread] = false;
    tile->forgotten[thread] = false;
    if (changed < 0) return;
    const bool computed = (found & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG;
    sim_hazard("accumulator-in-flight", wgmma_thread(state->warpgroup, thread),
               "accumulator %d was %s between the wgmma at %s:%d and the wait for it\n"
               "    touch accumulators after wgmma_wait_group only",
               changed, computed ? "read, and a result written to it," : "changed",
               source_name(tile->file), tile->line);
}
