/*
 * sim_held.c: --held: another kernel has the first SM for a while, and CTAs begin there only then.
 */
#include "hopper/atomics.h"
#include "hopper/thread.h"
#include "sim/settings.h"
#include "tests/sim/sim_kernels.h"

enum { SMS = 4, CTAS = 8, ROUNDS = 100 };

/* Some thousand cycles of loads. The work of CTA i is counted in place i. */
KERNEL(32, 1) works(KERNEL_ARGS args) {
    uint32_t sum = 0;
    for (int i = 0; i < ROUNDS; ++i)
        sum += ld_global_b32(&args.a[2 * ((i * 32 + (int)threadIdx.x + (int)sum % 2) % 1024)]);
    if (threadIdx.x == 0)
        atomic_add_relaxed(&args.tile_counter[blockIdx.x], 1 + 0 * sum, SCOPE_GPU);
}

static const struct test_launch launch = {works, CTAS, 1, 32, 64};

/* The cycles; every CTA has run once. */
static double run(uint64_t held, int sms, enum sim_schedule schedule) {
    double cycles = 0;
    backend_settings[SETTING_HELD].value = held;
    test_open(schedule, 1, sms);
    const enum run_status status = test_run(&launch, &cycles);
    EXPECT(status == RUN_OK, "held %d, %d SMs: status %d", (int)held, sms, status);
    for (int i = 0; i < CTAS; ++i)
        EXPECT(test_counter[i] == 1, "held %d: CTA %d ran %u times", (int)held, i, test_counter[i]);
    return cycles;
}

int main(void) {
    const double alone = run(0, SMS, SCHEDULE_TIME);
    const double three = run(1000000, SMS, SCHEDULE_TIME); /* the others do it all */
    const double late = run((uint64_t)(alone / 2), SMS, SCHEDULE_TIME);
    EXPECT(three > 1.2 * alone && three < 2 * alone, "%g cycles on three SMs, %g on four", three,
           alone);
    EXPECT(late > alone && late <= three, "%g cycles, with an SM that is late", late);
    const double one = run(0, 1, SCHEDULE_TIME), waits = run(5000, 1, SCHEDULE_TIME);
    EXPECT(waits >= one + 5000 && waits < one + 5100, "%g cycles on the only SM, %g without", waits,
           one);
    for (int schedule = 0; schedule < SIM_SCHEDULES; ++schedule)
        (void)run(1000, SMS, (enum sim_schedule)schedule);
    backend_settings[SETTING_HELD].value = 0;
    backend_close();
    return expect_result();
}
