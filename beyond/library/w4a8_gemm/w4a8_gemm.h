/*
 * w4a8_gemm.h: the library of beyond/library: D = A * B with 4-bit weights B and 8-bit
 * activations A, on a Hopper GPU. For C and C++.
 *
 *     A  m x k   e4m3 (8 bits: sign, 4 of exponent, 3 of mantissa), row-major, times a scale for
 *                each row
 *     B  k x n   whole numbers from -7 to 7, times a scale for every 128 of k in each column
 *     D  m x n   bf16, row-major
 *
 *     D[i][j] = scale_a[i] * sum over g of (scale_b[j][g] * sum over l of A[i][l] * B[l][j])
 *
 * where g counts the groups of 128 of k, and l the elements of a group.
 *
 * Weights are prepared once, on the host: quantized or only rearranged, into blocks of 128 columns
 * x 128 of k (w4_block.h describes them). The caller copies the blocks to the device.
 *
 * Inner sums have the Tensor Core's 14 bits, less 1 where the greatest product of a step of 32 has
 * a weight of 4 to 7, 2 where it has 2 or 3, 3 where it has 1: weights are subnormals of e4m3,
 * which it aligns as if they were 8. Outer sums have fp32. Their product with scale_a is rounded to
 * fp32 and then to bf16. Sums are kept 512 times too small, which scale_a makes up for: a scale_a
 * from 2^119 on gives infinities and NaNs, and a sum below 2^-117 loses bits.
 *
 * Devices, contexts, threads, graphs, errors and linking: as in hopper_gemm.h. Calls that may
 * overlap on the device must not share D; they may share everything else, plans included.
 * A graph that has captured a run holds its pointers; it does not need the plan.
 */
#ifndef W4A8_GEMM_H
#define W4A8_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum w4a8_gemm_status {
    W4A8_GEMM_OK = 0,
    W4A8_GEMM_BAD_ARGUMENT = 1, /* nothing was done; stderr has which one, and why */
    W4A8_GEMM_FAILED = 2        /* no device, not a Hopper, no memory, or the launch failed */
};

/* Bytes of the blocks of n columns of k. If n or k are not from 1 to 2000000000, or if it is 256 GB
 * (of 2^30 bytes) or more, a message on stderr and 0; and then the other calls refuse them. */
size_t w4a8_gemm_weight_bytes(int n, int k);

/* ---- preparing weights; on the host, needs no device ---- */

/* Quantizes real weights. `weights`: [n][ld] floats, k <= ld < 2^39: a column of B is
 * contiguous. The scale of a group is its greatest magnitude over 7, rounded to bf16, or 1 if that
 * is 0, and a weight the whole number nearest to its quotient by the scale, from -7 to 7. Scales
 * below 2^-126 are rounded up if a quotient would be above 7.5. `blocks`: w4a8_gemm_weight_bytes()
 * bytes, overwritten. Infinities and NaNs are refused. Returns an enum w4a8_gemm_status. */
int w4a8_gemm_quantize(int n, int k, const float *weights, int64_t ld, void *blocks);

/* Rearranges weights that are quantized already. `weights`: [n][ld] whole numbers from -7 to 7;
 * others are refused, and k <= ld < 2^39. `scales`: [n][scale_ld], ceil(k / 128) <= scale_ld <
 * 2^39, rounded to bf16; those that are then infinite or NaN are refused. `blocks`: as above.
 * Returns an enum w4a8_gemm_status. */
int w4a8_gemm_arrange(int n, int k, const int8_t *weights, int64_t ld, const float *scales,
                      int64_t scale_ld, void *blocks);

/* ---- multiplying ---- */

/* Enqueues D = A * B on `stream` (a cudaStream_t; NULL: the default stream) and returns without
 * waiting.
 *
 * m, n, k: any from 1 to 2000000000 whose blocks have less than 256 GB (of 2^30 bytes); a D of more
 * than 2^30 tiles, of 128 x 192, fails. lda >= k is a multiple of 16 elements, ldd >= n a multiple
 * of 8, and both are below 2^39. The padding between a row's end and its leading dimension is
 * neither used nor written. `a`, `blocks` and `d` are in device memory, at multiples of 16 bytes;
 * at multiples of 128 they are read faster. `d` overlaps neither `a` nor `blocks`, neither its own
 * nor those of a call that may run at the same time. `scale_a`: m floats in device memory. With the
 * same arguments on the same kind of device the result is the same to the bit.
 *
 * Returns an enum w4a8_gemm_status. */
int w4a8_gemm(void *stream, int m, int n, int k, const void *a, int64_t lda, const float *scale_a,
              const void *blocks, void *d, int64_t ldd);

/* The same in two parts. A plan does once what depends on the shape, so that a run costs the host
 * little more than the launch itself. */
struct w4a8_gemm_plan;

/* Makes a plan for the current device. `*plan` is NULL unless W4A8_GEMM_OK is returned. */
int w4a8_gemm_plan_create(struct w4a8_gemm_plan **plan, int m, int n, int k, int64_t lda,
                          int64_t ldd);

/* When the runs of a plan begin. */
enum w4a8_gemm_early {
    W4A8_GEMM_IN_ORDER = 0, /* when all that precedes them in the stream is complete */
    /* While the kernel before them in the stream still runs, if there is room (programmatic
     * dependent launch). Weights are loaded at once; before the run reads A or its scales, or
     * writes D, it waits until that kernel is complete, and all before it, if every one of them
     * that was launched early has itself waited. So the blocks must not be written by the kernel
     * before this run, nor by one that may still be running beside that kernel, which is possible
     * if that kernel was itself launched early. */
    W4A8_GEMM_EARLY = 1
};

/* Sets when the plan's runs begin: an enum w4a8_gemm_early, W4A8_GEMM_IN_ORDER in a new plan. What
 * else holds for early runs is in hopper_gemm.h. The kernels for many rows have no early form:
 * plans with them are as they were, and that is no error. Early runs gain most where memory is the
 * limit; elsewhere they may take a little longer (beyond/library/measured.md). If it
 * fails, the plan is as before. Not while another thread runs the plan. Returns an enum
 * w4a8_gemm_status. */
int w4a8_gemm_plan_set_early(struct w4a8_gemm_plan *plan, int early);

/* Enqueues D = A * B on `stream`, and returns without waiting. The pointers may differ from run to
 * run. Returns an enum w4a8_gemm_status. */
int w4a8_gemm_plan_run(const struct w4a8_gemm_plan *plan, void *stream, const void *a,
                       const float *scale_a, const void *blocks, void *d);

/* Frees a plan, or nothing if it is NULL. */
void w4a8_gemm_plan_destroy(struct w4a8_gemm_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
