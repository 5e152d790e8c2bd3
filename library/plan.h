/*
 * plan.h: the plans of both libraries: a kernel's launches, stored for a shape, and run with a
 * problem's pointers (services/plan.h). Host thread.
 *
 * A launch function can be planned if only this depends on the problem's pointers: a, b, d and
 * workspace of its args, the scales, with which the parameter then goes on (struct
 * gemm_scaled_args), and map_a, map_b and map_d, which are maps of A, B and D, or zero.
 */
#ifndef LIBRARY_PLAN_H
#define LIBRARY_PLAN_H

#include "services/plan.h"
#include "scaled/scales.h"

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
    if (p->matrix[MATRIX_SCALES_A].memory) {
        const struct gemm_scales scales = gemm_scales_of(p->matrix);
        memcpy(planned->parameter.bytes + offsetof(struct gemm_scaled_args, scales), &scales,
               sizeof scales);
    }
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
