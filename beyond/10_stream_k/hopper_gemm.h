/*
 * hopper_gemm.h: the chapter's kernels as a library: D = A * B on a Hopper GPU, in one call. For C
 * and C++.
 *
 * Device: the caller's current one, of compute capability 9.0. Several may be used in turn; a
 * stream and all memory of a call belong to the device that is current then.
 *
 * Streams and threads: calls may overlap on the device, in any streams. On the host several threads
 * may call at once (built for the simulator: one). A call may be captured into a graph, which then
 * holds its pointers and extents.
 *
 * The first call for a device and type takes longer than those that follow: it loads kernels and
 * queries the runtime about each. hopper_gemm_workspace() does most of that without launching
 * anything. Make a first call of hopper_gemm() outside of a capture.
 *
 * Errors are reported on stderr and returned. Neither function exits, and neither leaves an error
 * set in the runtime. An error that occurs later on the device, such as an access to memory that
 * does not exist, is reported by the runtime when the program waits for the stream.
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
    HOPPER_GEMM_BAD_ARGUMENT = 1, /* nothing was done; stderr has which one, and why */
    HOPPER_GEMM_FAILED = 2        /* no device, not a Hopper, or the launch failed */
};

/* Bytes of workspace with which hopper_gemm() is fastest for such a problem on the current device:
 * 0 for most, a few megabytes where k is long and D is small. If type, m, n or k are wrong, or
 * there is no device, a message on stderr and 0. */
size_t hopper_gemm_workspace(int type, int m, int n, int k, int64_t lda, int64_t ldb);

/* Enqueues D = A * B on `stream` (a cudaStream_t; NULL: the default stream) and returns without
 * waiting.
 *
 *     A  m x k   row-major, leading dimension lda
 *     B  n x k   row-major, leading dimension ldb     so both are contiguous along k
 *     D  m x n   row-major, leading dimension ldd     overwritten; overlaps neither A nor B
 *
 * m, n, k: any from 1 to 2000000000. lda, ldb >= k and ldd >= n, in elements, are multiples of 8
 * and below 2^39. So rows need padding if n is not a multiple of 8. The padding between a row's end
 * and its leading dimension is neither used nor written. Rows that begin at multiples of 128 bytes
 * are read faster.
 *
 * All three are of `type` (enum hopper_gemm_type) and in device memory, at multiples of 16 bytes.
 * Sums are fp32, rounded once, to the nearest element; with the same arguments on the same kind of
 * device the result is the same to the bit.
 *
 * `workspace`: NULL, or device memory at a multiple of 256 bytes, as many as
 * hopper_gemm_workspace() returns for these m, n, k, lda and ldb on this device. No other call may
 * use it until this one has ended on the device. Its contents do not matter.
 *
 * Returns an enum hopper_gemm_status. */
int hopper_gemm(void *stream, int type, int m, int n, int k, const void *a, int64_t lda,
                const void *b, int64_t ldb, void *d, int64_t ldd, void *workspace);

#ifdef __cplusplus
}
#endif
#endif
