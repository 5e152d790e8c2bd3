/* griddepcontrol.c: the kernels ahead of an early launch, and the one after it. */
#include "hopper/griddepcontrol.h"

#include "sim/core/run.h"
#include "sim/cost/timing_model.h"
#include "sim/order/prerequisites.h"

void sim_griddepcontrol_wait(void) {
    if (sim.launch->early == GEMM_IN_ORDER) return;
    prerequisites_acquire(sim_thread());
    const uint64_t end = sim.ahead_end ? sim.ahead_end + GRID_END_CYCLES : 0;
    if (sim_timed() && sim_now() < end) sim_advance(end - sim_now());
    sim_maybe_yield();
}

void sim_griddepcontrol_launch_dependents(void) {
    struct sim_cta *const cta = sim_thread()->cta;
    if (!cta->launched_dependents && sim_timed() && sim.dependents_at < sim_now())
        sim.dependents_at = sim_now();
    cta->launched_dependents = true;
    sim_maybe_yield();
}
