/* griddepcontrol.c: the kernels ahead of an early launch, and the one after it. */
#include "hopper/griddepcontrol.h"

#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/order/prerequisites.h"

void sim_griddepcontrol_wait(void) {
    if (sim.launch->early == GEMM_IN_ORDER) return;
    if (sim.never_waited && !sim.ahead_complete)
        sim_hazard("early-access", sim_thread(),
                   "waits for the kernel ahead, which was itself launched early and has never "
                   "waited: it may have ended\n    before the kernels ahead of it, and this wait "
                   "does not cover those. Let it call griddepcontrol_wait(), or\n    launch one of "
                   "the two in order.");
    sim.waits = sim_thread()->cta->has_waited = true;
    prerequisites_acquire(sim_thread());
    const uint64_t end = sim.ahead_end ? sim.ahead_end + GRID_END_CYCLES : 0;
    if (sim_timed() && sim_now() < end) sim_advance(end - sim_now());
    sim_maybe_yield();
}

void sim_griddepcontrol_launch_dependents(void) {
    struct sim_cta *const cta = sim_thread()->cta;
    if (!cta->launched_dependents && sim.launch->early != GEMM_IN_ORDER &&
        prerequisites_have_ended(sim_thread()))
        sim.lets_late = true;
    if (!cta->launched_dependents && sim_timed() && sim.dependents_at < sim_now())
        sim.dependents_at = sim_now();
    cta->launched_dependents = sim.lets_next = true;
    sim_maybe_yield();
}
