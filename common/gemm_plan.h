/*
 * gemm_plan.h: the launches of a problem, kept so that they can be repeated on other matrices.
 *
 * Most of what a launch function works out depends on m, n, k, the leading dimensions and the
 * device: the grid, the launch's attributes, the tensor maps except for their addresses. A plan
 * keeps it. Between gemm_plan_begin() and gemm_plan_end(), the launches of the calling thread are
 * stored in a plan instead of being enqueued. So a launch function serves both purposes, unchanged.
 * To repeat a stored launch, copy it, set stream and pointers, move the maps, and call
 * gemm_launch_planned().
 *
 * A launch function can be planned if only this depends on the problem's pointers: a, b, d
 * and workspace of its args, the scales (scaled/scales.h), with which the parameter then goes on (struct
 * gemm_scaled_args), and map_a, map_b and map_d, which are maps of A, B and D, or zero.
 */
#ifndef GEMM_PLAN_H
#define GEMM_PLAN_H

#include "scaled/scales.h"

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
        struct gemm_scaled_args scaled;
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

/* ---- plans of the libraries (host thread) ---- */

/* Moves a tensor map, unless it is zero: then the kernel does not use it. */
static inline bool gemm_plan_move(struct tensor_map *map, const void *base) {
    static const struct tensor_map none;
    return memcmp(map, &none, sizeof none) == 0 || gemm_tensor_map_move(map, base) == GEMM_OK;
}

/* Gives a stored launch the pointers of a problem. False after a message. */
static inline bool gemm_plan_set_pointers(struct gemm_planned *planned,
                                          const struct gemm_problem *p) {
    struct gemm_args *const args = &planned->parameter.args;
    args->a = p->a;
    args->b = p->b;
    args->d = p->d;
    args->workspace = (float *)p->workspace;
    if (p->matrix[MATRIX_SCALES_A].memory)
        planned->parameter.scaled.scales = gemm_scales_of(p->matrix);
    return gemm_plan_move(&args->map_a, p->a) && gemm_plan_move(&args->map_b, p->b) &&
           gemm_plan_move(&args->map_d, p->d);
}

/* Stores the launches of a kernel for problems of this shape. No matrix is at hand yet: any address
 * serves as the base of a map, if it is a multiple of 128, as those that a run moves the maps to.
 * False if the kernel cannot be planned. */
static inline bool gemm_plan_store(struct gemm_plan *plan, const struct gemm_kernel *kernel,
                                   struct gemm_problem problem) {
    static element_t anywhere[64] __attribute__((aligned(128)));
    problem.a = problem.b = problem.d = anywhere;
    gemm_plan_begin(plan);
    const enum gemm_status status = kernel->launch(&problem, NULL);
    gemm_plan_end();
    bool stored = status == GEMM_OK;
    /* A driver that cannot move maps is found out here, and not by the first run. */
    for (int i = 0; i < plan->count; ++i)
        stored = stored && gemm_plan_set_pointers(&plan->launches[i], &problem);
    return stored;
}

/* Enqueues what the kernel's launch function would enqueue. The problem has the plan's shape. */
static inline enum gemm_status gemm_plan_run(const struct gemm_plan *plan,
                                             const struct gemm_kernel *kernel,
                                             const struct gemm_problem *p, void *stream) {
    /* Of a matrix whose rows cross the lines of the L2, other maps are made. */
    if (((uintptr_t)p->a | (uintptr_t)p->b | (uintptr_t)p->d) % 128)
        return kernel->launch(p, stream);
    for (int i = 0; i < plan->count; ++i) {
        struct gemm_planned step = plan->launches[i];
        step.launch.stream = stream;
        if (!gemm_plan_set_pointers(&step, p) || gemm_launch_planned(&step) != GEMM_OK)
            return GEMM_LAUNCH_FAILED;
    }
    return GEMM_OK;
}

#endif
