/*
 * devices.h: launches on several devices, and copies between them (chapter 13).
 *
 * In struct gemm_kernel:
 *
 *     several_devices  its launch() uses all devices that are open
 *     follows          its launches may follow each other between gemm_devices_begin() and
 *                      gemm_devices_end()
 */
#ifndef SERVICES_DEVICES_H
#define SERVICES_DEVICES_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GEMM_DEVICES = 8 }; /* the most */

/* ---- slices ---- */

/* Where the slice of device `device` of `devices` begins, of `count` tiles; device + 1: where it
 * ends. Slices differ by at most one tile. */
static inline int gemm_slice(int count, int device, int devices) {
    return (int)((int64_t)count * device / devices);
}

/* The same in elements, of an extent that is cut into whole units. */
static inline int gemm_slice_begin(int extent, int unit, int device, int devices) {
    const int64_t begin = (int64_t)gemm_slice(ceil_div(extent, unit), device, devices) * unit;
    return begin < extent ? (int)begin : extent;
}

/* ---- the kernel's parameter ---- */

/* The one parameter of a kernel that runs on several devices at once; each device has its own. */
struct gemm_device_args {
    struct gemm_args gemm; /* what a kernel for one device has, in this device's memory */
    int device, devices;   /* this one's number, and how many there are */
    int first_k_tile;      /* of this device's slice of k; gemm.tiles_k counts it */
    /* Where slices begin, in tiles: device i has [i] to [i + 1] - 1. */
    int first_m_tile[GEMM_DEVICES + 1], first_n_tile[GEMM_DEVICES + 1];
    uint32_t *flags[GEMM_DEVICES];            /* each device's */
    void *workspaces[GEMM_DEVICES];           /* each device's */
    struct tensor_map map_peer[GEMM_DEVICES]; /* matrices of the same kind, each on one device */
};

/* Where k is sliced: this device's part of the k-tiles. A device whose slice is empty multiplies
 * zeros, which the TMA reads beyond k. */
static inline void gemm_slice_k(struct gemm_device_args *args) {
    const int tiles = args->gemm.tiles_k, first = gemm_slice(tiles, args->device, args->devices);
    const int end = gemm_slice(tiles, args->device + 1, args->devices);
    args->first_k_tile = end > first ? first : tiles;
    args->gemm.tiles_k = end > first ? end - first : 1;
}

/* A launch whose CTAs wait for each other, on one device or on several, by so many words of each
 * device's gemm_device_args.flags. */
static inline struct gemm_launch gemm_launch_together(const struct gemm_kernel *kernel, int grid,
                                                      size_t flags, void *stream) {
    struct gemm_launch launch = gemm_launch_of(kernel, grid, stream);
    launch.together = true;
    launch.flags = flags;
    return launch;
}

/* ---- services of the backend (host thread) ---- */

/* Enqueues one kernel on each of `devices` devices, args[i] for device i. All of them start after
 * what the stream holds, run at the same time, and may wait for each other. What is enqueued later
 * on the stream starts after the last of them. The stream is device 0's.
 *
 * If a device refuses its kernel, those that have begun on others would wait for it for ever. So
 * the words that they wait for are set, the host waits until they have ended, and sets the words to
 * zero again: GEMM_LAUNCH_FAILED, and D is undefined. */
enum gemm_status gemm_launch_devices(const struct gemm_launch *launch,
                                     const struct gemm_device_args *args, int devices);

/* Between the two, a launch of gemm_launch_devices() starts on each device when the launch before
 * it has ended on that device. It does not wait for the other devices. The first launch starts
 * after what the stream holds, and what is enqueued after gemm_devices_end() starts after the last
 * launch on every device. Nothing else may be enqueued between the two. For kernels that order by
 * flags what they do to other devices' memory (gemm_kernel.follows). When a launch has ended on a
 * device, that device's rows or columns of D are complete, and others may still read its A. */
enum gemm_status gemm_devices_begin(void *stream);
enum gemm_status gemm_devices_end(void *stream);

/* A copy of `bytes` bytes by a copy engine, usually from one device's memory to another's. */
struct gemm_copy {
    void *to;
    const void *from;
    size_t bytes;
    int device; /* whose copy engine it is */
};
/* Enqueues copies that all start after what the stream holds and run at the same time, those of one
 * device one after the other. What is enqueued later starts after the last of them. */
enum gemm_status gemm_copy_devices(const struct gemm_copy *copies, int count, void *stream);

#ifdef __cplusplus
}
#endif
#endif
