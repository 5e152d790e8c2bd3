/*
 * fences.c: does a wgmma use registers that the threads have touched since their last
 * wgmma.fence?
 *
 * PTX ISA, "wgmma.fence": it has to stand before the first wgmma of a warpgroup, and between an
 * access to a register by a thread and a wgmma that uses the same register, for its accumulators or
 * for A. Wgmmas of the same shape on the same accumulators need none between them.
 *
 * Other registers may be used at any time, so it has to be known which ones were. The compiler
 * tells which accumulators the kernel's own code touches (registers/calls.c). Where it does not,
 * and for what wrappers do, a written register is found by its value, or by its address if ldmatrix
 * wrote it. A read one is found if the same accumulator of all lanes went through the same wrapper
 * call.
 */
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/wgmma/state.h"

/* Changed since they were delivered, or since the fence if that came later? */
static bool accumulators_changed(const struct wgmma_tile *tile, const struct register_watch *watch,
                                 const struct wgmma_call *call, int thread) {
    const int registers = wgmma_registers(tile->n, tile->halves);
    const size_t bytes = (size_t)registers * sizeof(float);
    const void *before = NULL;
    if (tile->forgotten[thread]) return false;
    if (tile->fenced[thread]) {
        before = register_watch_at_fence(watch, call->acc, bytes);
        if (!before || !memcmp(before, call->acc, bytes)) return false;
    }
    for (int i = 0; i < registers; ++i) {
        const uint32_t now = wgmma_word(call->acc, i);
        const uint32_t then = before ? wgmma_word(before, i) : wgmma_value(tile, thread, i);
        /* A variable that comes into scope has no value yet. */
        if (now != then && now != SIM_UNSET_FLOAT) return true;
    }
    return false;
}

/* Did the warp's reading number `read` take accumulator `i` in each lane? A lane that is at an edge
 * of D may have left it out. Equal values alone prove little, if there are few different ones. */
static bool all_lanes_read(const struct wgmma_warp *warp, int read, int i) {
    enum { ENOUGH_LANES = 16, ENOUGH_VALUES = 4 };
    uint32_t value[ENOUGH_VALUES];
    int lanes = 0, values = 0;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct register_watch *const watch = warp->thread[lane].registers;
        if (watch->reads <= read) continue;
        const uint32_t bits = wgmma_word(warp->call[lane]->acc, i);
        if (watch->read[read] != bits) return false;
        ++lanes;
        bool known = bits << 1 == 0; /* zeros are everywhere */
        for (int j = 0; j < values; ++j)
            known |= value[j] == bits;
        if (!known && values < ENOUGH_VALUES) value[values++] = bits;
    }
    return lanes >= ENOUGH_LANES && values == ENOUGH_VALUES;
}

static bool accumulators_read(const struct wgmma_warp *warp) {
    const struct wgmma_call *const call = warp->call[0];
    const struct register_watch *const watch = warp->thread->registers;
    for (int read = 0; read < watch->reads; ++read)
        for (int i = 0; i < wgmma_registers(call->n, call->halves); ++i)
            if (wgmma_word(call->acc, i) == watch->read[read] && watch->read[read] << 1 &&
                all_lanes_read(warp, read, i))
                return true;
    return false;
}

static const char *accumulators_touched(const struct wgmma_state *state,
                                        const struct wgmma_tile *tile,
                                        const struct wgmma_warp *warp, int first) {
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        if (wgmma_in_flight(state, tile, first + lane))
            return NULL; /* a chain of the same shape needs none */
        if (accumulators_changed(tile, warp->thread[lane].registers, warp->call[lane],
                                 first + lane))
            return "accumulators were changed since the last wgmma_fence()";
        if (register_watch_touched(&warp->thread[lane], warp->call[lane]->acc,
                                   wgmma_registers(tile->n, tile->halves)))
            return doubtful_rules
                       ? "the kernel's own code has read or written accumulators since the last "
                         "wgmma_fence()\n    (if it has only written what they held: "
                         "unchanged-register, a rule in doubt, see --doubtful)"
                       : "the kernel's own code has read accumulators since the last "
                         "wgmma_fence()";
    }
    return accumulators_read(warp) ? "accumulators were read (packed, converted, stored) since the "
                                     "last wgmma_fence()"
                                   : NULL;
}

/* ---- */

static const char *fence_missing(const struct wgmma_state *state, const struct wgmma_tile *tile,
                                 const struct wgmma_warp *warp, int first) {
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (!state->fenced[first + lane]) return "there is no wgmma_fence() before the first wgmma";
    const char *const why = warp->call[0]->a_registers ? wgmma_fragments_touched(warp) : NULL;
    return why ? why : accumulators_touched(state, tile, warp, first);
}

void wgmma_check_fences(const struct wgmma_state *state, const struct wgmma_tile *tile,
                        void *const operand[WARPGROUP_SIZE]) {
    for (int first = 0; first < WARPGROUP_SIZE; first += WARP_SIZE) {
        struct wgmma_warp warp = {.thread = wgmma_thread(state->warpgroup, first)};
        for (int lane = 0; lane < WARP_SIZE; ++lane)
            warp.call[lane] = operand[first + lane];
        const char *const why = fence_missing(state, tile, &warp, first);
        if (why)
            sim_hazard("missing-wgmma-fence", warp.thread,
                       "%s\n    call wgmma_fence() between the last access to these registers and "
                       "the wgmma",
                       why);
        else if (warp.call[0]->a_registers && wgmma_fragments_unset(&warp))
            sim_hazard("uninitialized-registers", warp.thread,
                       "a register of A was never given a value\n"
                       "    load all four registers of each thread before the wgmma_fence()");
        else
            continue;
        return; /* the other warps would say the same */
    }
}
