/*
 * nvml.h: what NVIDIA's management library tells of power and clocks. It belongs to the driver, is
 * loaded at run time, and its absence is not an error: what it would have told stays unknown.
 */
#ifndef GPU_NVML_H
#define GPU_NVML_H

#include <stddef.h>

/* Finds the device by its PCI bus id. Writes the driver's version (empty if unknown) and the
 * enforced power limit in watts (0 if unknown). */
void nvml_open(const char *bus_id, char *driver, size_t driver_bytes, double *power_limit_w);
/* Says on stderr if another program uses the device now, or if its power limit, as nvml_open() has
 * written it, is below the default. */
void nvml_warn(double power_limit_w);
void nvml_close(void);

#endif
