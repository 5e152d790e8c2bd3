/*
 * grid.h: which CTAs of a launch are resident, and where.
 */
#ifndef SIM_CORE_GRID_H
#define SIM_CORE_GRID_H

#include "gemm.h"
#include "sim/core/threads.h"

enum { SIM_MOST_ARGS_BYTES = 4096 }; /* of a kernel's parameter */

/* Runs a grid on each of `devices` devices, all at the same time, to its end, and `launches` such
 * launches that follow each other on each device. `args`: [launches][devices], the kernel's
 * parameters, each args_bytes long. False if the launch was refused (said why). *abandoned: a fatal
 * hazard ended it. */
bool grid_run(const struct gemm_launch *launch, const void *args, size_t args_bytes, int devices,
              int launches, bool *abandoned);
/* Could a grid of these CTAs be launched? False after a message. */
bool grid_acceptable(const struct gemm_launch *launch);
/* CTAs of this launch that fit an SM. */
int grid_ctas_per_sm(const struct gemm_launch *launch);
/* The second number of the kernel's launch bounds, KERNEL(threads, ctas). */
int grid_launch_bounds_ctas(const void *kernel);
/* The same of a kernel in a shared object that was loaded at run time; it returns 0 for others. */
extern int (*grid_loaded_bounds)(const void *kernel);

/* Makes CTAs resident while there is room; false when the grid is used up and nothing is resident.
 */
bool grid_admit(void);
/* How many CTAs of the device's grid have no SM yet. */
int grid_waiting(int device);
/* Is one of them lower than one that has begun? */
bool grid_skipped(int device);
/* The next cluster of the device's grid will not begin: the index of its first CTA; -1: all have
 * begun. */
int grid_cancel(int device);
/* After its last thread has ended: frees the cluster's places. From the scheduler. */
void grid_retire(struct sim_cluster *cluster);
/* Resident warps, in the order of launch. */
extern struct sim_warp **resident_warps;
extern int resident_warp_count;

#endif
