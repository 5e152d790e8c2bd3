/*
 * split.h: one product on several devices, for its kernels and for kind.c: what lies where.
 */
#ifndef BEYOND_13_TWO_GPUS_SPLIT_H
#define BEYOND_13_TWO_GPUS_SPLIT_H

#include "services/devices.h"

/* Which slice of a problem lies on which device. Every device has room for A, B and D with the
 * shapes of gemm_problem. What is not in its slice holds NaN (A, B) or must not be written (D). */
enum split_layout {
    /* A slice of k on each device: its columns of A and B. D is scattered: its rows are split over
     * the devices. A reduce-scatter has to follow the multiplication. */
    LAYOUT_SLICES_OF_K,
    /* A slice of A's rows, and a slice of n on each device: its rows of B, its columns of D. An
     * all-gather of A has to come before the multiplication. */
    LAYOUT_SLICES_OF_ROWS,
    SPLIT_LAYOUTS
};

/* Slices are whole numbers of these, and the last of them what is left. A slice may be empty. */
enum { SLICE_M = 128, SLICE_N = 256, SLICE_K = 64 };

/* What one device holds, all pointers in its own memory, which the other devices can reach. A
 * kernel uses these instead of a, b, d and workspace of gemm_problem. */
struct split_share {
    const element_t *a; /* [m][lda] */
    const element_t *b; /* [n][ldb] */
    element_t *d;       /* [m][ldd] */
    void *workspace;    /* >= gemm_kernel.workspace_bytes(), contents undefined */
    uint32_t *flags;    /* split_kernel.flags() words, zero before the first launch; when all
                         * devices have ended a launch, they are zero again */
    struct trace_record *trace; /* NULL, or the recorder's buffer; device 0's is in gemm_problem */
};

/* What gemm_problem.of_kind points to. */
struct split_problem {
    int devices;
    struct split_share share[GEMM_DEVICES];
};

/* What gemm_kernel.of_kind points to. */
struct split_kernel {
    enum split_layout layout; /* how problems are laid out for it */
    /* Words of split_share.flags that launch() uses for a problem; NULL: none. */
    size_t (*flags)(const struct gemm_problem *problem);
    bool rounds_parts; /* each device rounds its partial sum to the type of D before the sums are
                        * added */
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct problem_kind split_kind GEMM_KIND_IF_LINKED;

#ifdef __cplusplus
}
#endif

/* ---- for launch functions (host thread) ---- */

static inline const struct split_problem *split_of(const struct gemm_problem *p) {
    return (const struct split_problem *)p->of_kind;
}

/* The parameter for device `device` of the problem's; the chapter adds the tensor maps. */
static inline struct gemm_device_args split_args_of(const struct gemm_problem *p, int device,
                                                    int tile_m, int tile_n, int tile_k) {
    const struct split_problem *const split = split_of(p);
    const struct split_share *const share = &split->share[device];
    struct gemm_device_args args;
    struct gemm_problem own = *p;
    memset(&args, 0, sizeof args);
    own.a = share->a;
    own.b = share->b;
    own.d = share->d;
    own.workspace = share->workspace;
    if (device > 0) own.trace = share->trace;
    args.gemm = gemm_args_of(&own, tile_m, tile_n, tile_k);
    args.device = device;
    args.devices = split->devices;
    for (int i = 0; i <= split->devices; ++i) {
        args.first_m_tile[i] = gemm_slice(args.gemm.tiles_m, i, split->devices);
        args.first_n_tile[i] = gemm_slice(args.gemm.tiles_n, i, split->devices);
        if (i == split->devices) break;
        args.flags[i] = split->share[i].flags;
        args.workspaces[i] = split->share[i].workspace;
    }
    return args;
}

#endif
