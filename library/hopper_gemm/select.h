/*
 * select.h: which configuration of the library's kernels computes a problem.
 */
#ifndef SELECT_H
#define SELECT_H

#include "gemm.h"

/* Writes the configurations with the fewest predicted cycles on the current device, the fewest
 * first, among those that library_fits() admits: `most` of them, or all for which there is a
 * prediction. A kernel of fitted.cu has its best cut; if that has sums in the workspace, the best
 * cut without is another entry. Returns how many. 0: no configuration fits the device, or there is
 * none; the reason is on stderr. Of the problem only the extents and leading dimensions count. Host
 * thread. */
int ranked_kernels(enum gemm_type type, const struct gemm_problem *problem, size_t limit,
                   const struct gemm_kernel **kernels, int most);

/* The first of them; NULL if there is none. */
static inline const struct gemm_kernel *
selected_kernel(enum gemm_type type, const struct gemm_problem *problem, size_t limit) {
    const struct gemm_kernel *kernel = NULL;
    return ranked_kernels(type, problem, limit, &kernel, 1) ? kernel : NULL;
}

/* What hopper_gemm_plan_describe() writes about one of these kernels. Host thread. */
int describe_kernel(const struct gemm_kernel *kernel, const struct gemm_problem *problem,
                    char *text, size_t bytes);

/* The form of a kernel for launches that begin early, with the same cut and the same workspace. The
 * kernel itself if it has none, or if `early` is GEMM_IN_ORDER. Host thread. */
const struct gemm_kernel *early_form(const struct gemm_kernel *kernel, enum gemm_early early);

/* Bytes that a kernel needs besides A, B and D, a multiple of 256. Host thread. */
static inline size_t library_workspace(const struct gemm_kernel *kernel,
                                       const struct gemm_problem *problem) {
    const size_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(problem) : 0;
    return (bytes + 255) / 256 * 256;
}
static inline bool library_fits(const struct gemm_kernel *kernel,
                                const struct gemm_problem *problem, size_t limit) {
    return library_workspace(kernel, problem) <= limit;
}

#endif
