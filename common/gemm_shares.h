/*
 * gemm_shares.h: one problem on several devices (chapter 13): what lies where, and what a kernel
 * says of itself. gemm_devices.h has what its launch function calls.
 *
 * In struct gemm_kernel:
 *
 *     layout        how problems are laid out for it
 *     flags         words of gemm_share.flags that launch() uses for a problem; NULL: none
 *     rounds_parts  each device rounds its partial sum to the type of D before the sums are added
 *     follows       its launches may follow each other between gemm_devices_begin() and
 *                   gemm_devices_end()
 */
#ifndef GEMM_SHARES_H
#define GEMM_SHARES_H

#include <stdint.h>

struct element; /* element_t */
struct trace_record;

enum { GEMM_DEVICES = 8 }; /* the most */

/* Which part of a problem lies on which device. Every device has room for A, B and D with the
 * shapes of gemm_problem. What is not in its part holds NaN (A, B) or must not be written (D). */
enum gemm_layout {
    LAYOUT_ONE_DEVICE = 0,
    /* A slice of k on each device: its columns of A and B. D is scattered: its rows are split over
     * the devices. A reduce-scatter has to follow the multiplication. */
    LAYOUT_SLICES_OF_K,
    /* A slice of A's rows, and a slice of n on each device: its rows of B, its columns of D. An
     * all-gather of A has to come before the multiplication. */
    LAYOUT_SLICES_OF_ROWS,
    GEMM_LAYOUTS
};

/* Slices are whole numbers of these, and the last of them what is left. A slice may be empty. */
enum { SLICE_M = 128, SLICE_N = 256, SLICE_K = 64 };

/* What one device holds, all pointers in its own memory, which the other devices can reach. A
 * kernel for several devices uses these instead of a, b, d and workspace of gemm_problem. */
struct gemm_share {
    const struct element *a;    /* [m][lda] */
    const struct element *b;    /* [n][ldb] */
    struct element *d;          /* [m][ldd] */
    void *workspace;            /* >= gemm_kernel.workspace_bytes(), contents undefined */
    uint32_t *flags;            /* gemm_kernel.flags() words, zero before the first launch; when all
                              * devices have ended a launch, they are zero again */
    struct trace_record *trace; /* NULL, or the recorder's buffer; device 0's is in gemm_problem */
};

#endif
