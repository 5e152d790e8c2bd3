/*
 * hopper_gemm.h: the chapter's kernels as a library: D = A * B on a Hopper GPU, in one call.
 *
 * The caller's current device must be of compute capability 9.0. Calls may overlap on the device,
 * in any streams; on the host, one thread at a time calls.
 */
#ifndef HOPPER_GEMM_H
#define HOPPER_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hopper_gemm_type { HOPPER_GEMM_FP16 = 0, HOPPER_GEMM_BF16 = 1 };

enum hopper_gemm_status {
    HOPPER_GEMM_OK = 0,
    HOPPER_GEMM_BAD_ARGUMENT = 1, /* nothing was done; says on stderr which one, and why */
    HOPPER_GEMM_FAILED = 2        /* the launch failed; says why on stderr */
};

/* Bytes of workspace with which hopper_gemm() is fastest for such a problem: 0 for most, a few
 * megabytes where k is long and D is small. */
size_t hopper_gemm_workspace(int type, int m, int n, int k, int64_t lda, int64_t ldb);

/* Enqueues D = A * B on `stream` (a cudaStream_t; NULL: the default stream) and returns without
 * waiting. A is m x k, row-major; B is n x k, row-major (so both are contiguous along k); D is m x
 * n, row-major; m, n, k >= 1. All three are of `type` (enum hopper_gemm_type) and in device memory,
 * at multiples of 16 bytes; lda, ldb, ldd are their leading dimensions in elements, multiples of 8.
 * The elements between a row's end and its leading dimension are neither used nor written. Sums are
 * fp32, and the same in every run. `workspace`: NULL, or as many bytes of device memory as
 * hopper_gemm_workspace() says for these arguments, at a multiple of 256 bytes and in no other
 * call's use; what is in it does not matter. Returns an enum hopper_gemm_status. */
int hopper_gemm(void *stream, int type, int m, int n, int k, const void *a, int64_t lda,
                const void *b, int64_t ldb, void *d, int64_t ldd, void *workspace);

#ifdef __cplusplus
}
#endif
#endif
