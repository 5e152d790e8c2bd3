/*
 * banks.h: the banks of shared memory: 32 of 4 bytes, one word of each in a pass.
 */
#ifndef SIM_MODELS_BANKS_H
#define SIM_MODELS_BANKS_H

#include <stdint.h>

enum { SHARED_BANKS = 32, SHARED_BANK_BYTES = 4 };

/* How many passes a warp's access takes, in which the lanes of the mask move `bytes` each at these
 * offsets. Lanes that want the same word share it; 16-byte accesses go eight lanes at a time.
 * Returns the passes that conflicts have cost. */
unsigned bank_passes(const uint64_t address[32], uint32_t lanes, unsigned bytes, unsigned *passes);

#endif
