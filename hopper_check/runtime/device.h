/*
 * device.h: the GPU that a program sees.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "runtime/cuda.h"

#define DEVICE_NAME "hopper_check (a simulated H200)"
static const size_t DEVICE_BYTES = (size_t)16 << 30; /* what a host may have */

/* By the number that the runtime's and the driver's attributes share; 0 for what it does not
 * have. */
int device_attribute(int attribute);

#endif
