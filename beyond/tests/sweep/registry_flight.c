/*
 * registry_flight.c: chapter 13's kernels for launches that follow each other, and one whose later
 * launches take the first one's A. One launch of it is right, and so are many of one problem.
 */
#include "harness/registry.h"

extern const struct gemm_kernel kernel_13_two_gpus_bf16, kernel_13_two_gpus_through_tma_bf16;
extern const struct gemm_kernel kernel_13_two_gpus_copy_warps_bf16;
extern const struct gemm_kernel kernel_13_two_gpus_all_gather_bf16;

static struct gemm_kernel stale;

static enum gemm_status launch_stale(const struct gemm_problem *p, void *stream) {
    static const element_t *first[GEMM_DEVICES];
    struct gemm_problem problem = *p;
    for (int device = 0; device < p->devices; ++device) {
        if (!first[device]) first[device] = p->share[device].a;
        problem.share[device].a = first[device];
    }
    return kernel_13_two_gpus_bf16.launch(&problem, stream);
}

__attribute__((constructor)) static void make_stale(void) {
    stale = kernel_13_two_gpus_bf16;
    stale.variant = "stale";
    stale.launch = launch_stale;
}

const struct kernel_entry kernel_registry[] = {
    {{[GEMM_BF16] = &kernel_13_two_gpus_bf16}, 2, true, NULL, 0},
    {{[GEMM_BF16] = &kernel_13_two_gpus_through_tma_bf16}, 2, false, NULL, 0},
    {{[GEMM_BF16] = &kernel_13_two_gpus_copy_warps_bf16}, 2, false, NULL, 0},
    {{[GEMM_BF16] = &kernel_13_two_gpus_all_gather_bf16}, 2, false, NULL, 0},
    {{[GEMM_BF16] = &stale}, 2, false, NULL, 0},
};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 2, true, NULL, 0},
                                                     {{NULL}, 2, false, NULL, 0},
                                                     {{NULL}, 2, false, NULL, 0},
                                                     {{NULL}, 2, false, NULL, 0},
                                                     {{NULL}, 2, false, NULL, 0}};
const int kernel_registry_count = 5;
const bool program_is_tour = true;
