/*
 * plan.h: the launches of a problem, kept so that they can be repeated on other matrices.
 *
 * Most of what a launch function works out depends on m, n, k, the leading dimensions and the
 * device: the grid, the launch's attributes, the tensor maps except for their addresses. A plan
 * keeps it. Between gemm_plan_begin() and gemm_plan_end(), the launches of the calling thread are
 * stored in a plan instead of being enqueued. So a launch function serves both purposes, unchanged.
 * To repeat a stored launch, copy it, set stream and pointers, move the maps, and call
 * gemm_launch_planned().
 */
#ifndef SERVICES_PLAN_H
#define SERVICES_PLAN_H

#include "gemm.h"

enum {
    GEMM_PLAN_LAUNCHES = 2,    /* most of one problem */
    GEMM_PLAN_ARGS_BYTES = 896 /* most of a kernel's parameter */
};

/* One stored launch; a run sets its stream. */
struct gemm_planned {
    struct gemm_launch launch;
    size_t args_bytes;
    union { /* the kernel's parameter, or what it begins with */
        struct gemm_args args;
        unsigned char bytes[GEMM_PLAN_ARGS_BYTES];
    } parameter;
};

struct gemm_plan {
    int count;
    struct gemm_planned launches[GEMM_PLAN_LAUNCHES];
};

/* Stores a launch; GEMM_UNSUPPORTED if there is no room. For the backends. */
static inline enum gemm_status gemm_plan_add(struct gemm_plan *plan,
                                             const struct gemm_launch *launch, const void *args,
                                             size_t args_bytes) {
    if (plan->count == GEMM_PLAN_LAUNCHES || args_bytes > GEMM_PLAN_ARGS_BYTES)
        return GEMM_UNSUPPORTED;
    struct gemm_planned *const planned = &plan->launches[plan->count++];
    planned->launch = *launch;
    planned->args_bytes = args_bytes;
    memcpy(planned->parameter.bytes, args, args_bytes);
    return GEMM_OK;
}

/* ---- services of the backend (host thread) ---- */

/* From here on, gemm_launch_kernel() on this thread adds to the plan, which is empty at first, and
 * gemm_zero() returns GEMM_UNSUPPORTED. A kernel's attributes are set, so that a repeated launch
 * need not set them. */
void gemm_plan_begin(struct gemm_plan *plan);

/* From here on, launches on this thread are enqueued again. */
void gemm_plan_end(void);

/* Enqueues a launch that has been stored, on its stream: as gemm_launch_kernel(), without a search
 * for what is known of the kernel. If its attributes turn out not to be set any more, as after a
 * reset of the device, it sets them and launches again. */
enum gemm_status gemm_launch_planned(const struct gemm_planned *planned);

/* Gives a tensor map another base, a multiple of 16 bytes; the rest of the map stays, and with it
 * the choice that gemm_tensor_map() has made because the base was a multiple of 128 or not.
 * CUDA driver API, cuTensorMapReplaceAddress. */
enum gemm_status gemm_tensor_map_move(struct tensor_map *map, const void *base);

#endif
