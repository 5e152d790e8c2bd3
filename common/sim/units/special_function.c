/*
 * special_function.c: the special-function unit. Its results are the nearest floats here, as the
 * error of the GPU's is not specified but for a bound.
 */
#include "hopper/special_function.h"

#include <string.h>

#include "sim/core/state.h"
#include "sim/core/scheduler.h"
#include "sim/cost/warp_timing.h"
#include "sim/units/registers/accumulators.h"

/* What all of its instructions have in common: the register that they read, and their cost. */
static void use_unit(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    sim_check_register(bits);
    if (!sim_timed()) return;
    struct sim_thread *const thread = sim_thread();
    if (thread->warp->ahead == thread) { /* a chain of these is charged to all lanes together */
        thread->warp->ahead = NULL;
        scheduler_yield();
    }
    timing_access(thread, TIMING_SPECIAL_FUNCTION, 0, sizeof x);
}

float sim_exp2(float x) {
    use_unit(x);
    return (float)exp2(x);
}

float sim_reciprocal(float x) {
    use_unit(x);
    return (float)(1 / (double)x);
}
