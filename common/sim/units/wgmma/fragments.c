/*
 * fragments.c: A in registers: have a wgmma's fragments values, were they written since the
 * last wgmma.fence, and are they kept until the wait?
 *
 * A wgmma gets an array of C. A kernel may have made it of other variables just before, which on a
 * GPU gives registers another name and accesses none. Such an array changes as a whole, and the
 * kernel's frame holds the same words elsewhere, too; that is not reported.
 */
#include "sim/core/hazards.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/wgmma/state.h"

/* Which of A's registers differ, in any lane of a warp, from what they should be. */
struct difference {
    bool differs[A_REGISTERS], nonzero[A_REGISTERS], any;
};

/* Is one register changed, and another one not? A new name would have changed both. */
static bool in_a_part(const struct difference *d) {
    for (int i = 0; d->any && i < A_REGISTERS; ++i)
        if (!d->differs[i] && d->nonzero[i]) return true;
    return false;
}

/* ---- before the wgmma ---- */

static bool loaded(const struct register_watch *watch, const uint32_t *fragment) {
    for (int i = 0; i < watch->loads; ++i) {
        const uint32_t *const registers = watch->load[i];
        if (registers < fragment + A_REGISTERS && fragment < registers + A_REGISTERS) return true;
    }
    return false;
}

static bool written(const struct wgmma_warp *warp) {
    struct difference d = {.any = false};
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct register_watch *const watch = warp->thread[lane].registers;
        const uint32_t *const now = warp->call[lane]->a_registers;
        if (warp->thread[lane].self.named_registers &&
            register_watch_touched(&warp->thread[lane], now, A_REGISTERS))
            return true;
        const void *const before = register_watch_at_fence(watch, now, A_REGISTERS * sizeof *now);
        if (!before) return false;
        for (int i = 0; i < A_REGISTERS; ++i) {
            d.nonzero[i] |= now[i] != 0;
            if (now[i] == wgmma_word(before, i)) continue;
            if (!register_watch_held(watch, now[i])) return true;
            d.differs[i] = d.any = true;
        }
    }
    return in_a_part(&d);
}

const char *wgmma_fragments_touched(const struct wgmma_warp *warp) {
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (loaded(warp->thread[lane].registers, warp->call[lane]->a_registers))
            return "A's registers were loaded since the last wgmma_fence()";
    return written(warp) ? "A's registers were written since the last wgmma_fence()" : NULL;
}

bool wgmma_fragments_unset(const struct wgmma_warp *warp) {
    for (int i = 0; i < A_REGISTERS; ++i) {
        int unset = 0;
        while (unset < WARP_SIZE && warp->call[unset]->a_registers[i] == SIM_UNSET_WORD)
            ++unset;
        if (unset == WARP_SIZE) return true;
    }
    return false;
}

/* ---- under way ---- */

void wgmma_fragment_loaded(const struct sim_thread *thread, const uint32_t *registers) {
    const struct sim_warpgroup *const g = &thread->cta->warpgroup[thread->index / WARPGROUP_SIZE];
    const struct wgmma_state *const state = g->wgmma;
    const int me = wgmma_index(thread);
    for (const struct wgmma_operation *op = state ? state->first : NULL; op; op = op->next) {
        const uint32_t *const fragment = op->a_registers[me];
        if (!op->call.a_registers || op->group < state->waited[me] ||
            registers >= fragment + A_REGISTERS || fragment >= registers + A_REGISTERS)
            continue;
        sim_hazard("fragment-in-flight", thread,
                   "writes A registers that the wgmma at %s:%d may still read\n"
                   "    wait first, or load the next fragments into other registers",
                   source_name(op->file), op->line);
        return;
    }
}

/* The array may be out of scope in the C program by now, and so may what else lies in the frame,
 * which is why the sanitizer may not look. */
__attribute__((no_sanitize("address"))) static uint32_t look(const uint32_t *word) {
    return *(const volatile uint32_t *)word;
}

static bool held(const uint32_t *begin, const uint32_t *end, uint32_t word) {
    while (begin < end && look(begin) != word)
        ++begin;
    return begin < end;
}

bool wgmma_fragments_kept(const struct wgmma_operation *op, int first,
                          void *const operand[WARP_SIZE]) {
    struct difference d = {.any = false};
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const uint32_t *const now = op->a_registers[first + lane];
        const uint32_t *const was = op->a_values[first + lane];
        const struct wgmma_wait *const wait = operand[lane];
        const struct sim_thread *const t = wgmma_thread(op->state->warpgroup, first + lane);
        for (int i = 0; i < A_REGISTERS; ++i) {
            d.nonzero[i] |= was[i] != 0;
            if (look(&now[i]) == was[i]) continue;
            if (t->self.named_registers || !held(wait->stack, t->self.parameters, was[i]))
                return false;
            d.differs[i] = d.any = true;
        }
    }
    return !in_a_part(&d);
}
