/*
 * accumulators.c: the watch over accumulators that still belong to a wgmma.
 */
#include "sim/units/registers/accumulators.h"

#include "sim/core/hazards.h"

void sim_accumulator_in_use(void) {
    sim_hazard("accumulator-in-use", NULL,
               "accumulator used before the wgmma that writes it has been waited for:\n"
               "    wgmma_wait_group has to cover the group before its registers are read.");
}
