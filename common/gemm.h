/*
 * gemm.h: the contract between a chapter and the programs that run it. Read this first.
 *
 * A chapter computes D = A * B with fp32 accumulation:
 *
 *     A  m x k   row-major, leading dimension lda     (elements, a multiple of 8)
 *     B  n x k   row-major, leading dimension ldb     so both operands are contiguous along k
 *     D  m x n   row-major, leading dimension ldd
 *
 * for every m, n, k >= 1. The columns between k (or n) and the leading dimension may hold anything,
 * NaN included, and must neither be used nor written.
 *
 * A chapter is one kernel.cu. It is compiled by nvcc for sm_90a and, unchanged, by a C compiler
 * against the simulator, once for each type that it is for: fp16 and bf16 unless it says otherwise.
 * It provides one `struct gemm_kernel` (below) and uses the few services declared at the end, which
 * both backends implement.
 *
 * This is all that chapters 01 to 09 need. What part two adds to it has headers of its own:
 * gemm_early.h, gemm_matrices.h, gemm_boundaries.h, scaled/scales.h, and the folder services.
 */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gemm_boundaries.h"
#include "gemm_early.h"
#include "gemm_matrices.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A 16-bit element, fp16 or bf16: a kernel file is compiled for one of the two. It is a struct
 * because only hopper/element.h does arithmetic on it. */
typedef struct element {
    uint16_t bits;
} element_t;

/* The description of a matrix for the TMA; opaque, made by gemm_tensor_map() (CUtensorMap on the
 * GPU). */
struct tensor_map {
    uint64_t opaque[16];
} __attribute__((aligned(128)));

enum { GEMM_COUNTERS = 1024 };

/* One row-major matrix multiplication, all pointers in the backend's global memory. The harness
 * fills it in, launch functions read it. */
struct gemm_problem {
    int m, n, k;
    int64_t lda, ldb, ldd; /* elements, multiples of 8 */
    const element_t *a;    /* [m][lda] */
    const element_t *b;    /* [n][ldb]; in w4a8 problems blocks, and ldb is not used */
    element_t *d;          /* [m][ldd] */
    /* Launches that may overlap on the device share none of these three: D, workspace, counters. */
    void *workspace; /* >= gemm_kernel.workspace_bytes(), 256-byte aligned, contents undefined */
    uint32_t *tile_counter; /* GEMM_COUNTERS words, zero before the first launch; each launch leaves
                             * them so */
    struct trace_record *trace; /* NULL, or the recorder's buffer (timeline/trace.h) */
    /* Part two: */
    enum gemm_early early;                    /* gemm_early.h */
    struct gemm_matrix matrix[GEMM_MATRICES]; /* gemm_matrices.h: another kind of problem's own */
    const void *of_kind; /* gemm_matrices.h: and what else its kernels are told of the problem */
};

/* The one parameter of a kernel. A launch function fills it in, every thread reads it. Part two's
 * kernels have parameters of their own, of which this one is the first member. */
struct gemm_args {
    struct tensor_map map_a, map_b, map_d;
    const element_t *a;
    const element_t *b;
    element_t *d;
    int64_t lda, ldb, ldd;
    int m, n, k;
    int tiles_m, tiles_n, tiles_k; /* extents of the problem in tiles, rounded up */
    int items;  /* units of work of the kernel's schedule, if it has one: its launch says which */
    int splits; /* parts of the k loop; 1 unless a chapter splits it */
    float *workspace;
    uint32_t *tile_counter;
    struct trace_record *trace;
};

/* How a kernel is launched. */
struct gemm_launch {
    const void *kernel;    /* the __global__ function */
    const char *name;      /* for error messages */
    int grid;              /* CTAs; one dimension, because only x may exceed 65535 */
    int cluster;           /* CTAs of a cluster along x; 1 for none */
    int threads;           /* per CTA */
    size_t smem_bytes;     /* dynamic shared memory per CTA */
    void *stream;          /* the backend's stream (cudaStream_t), or NULL */
    enum gemm_early early; /* GEMM_IN_ORDER: after everything before it on the stream */
    bool together;         /* its CTAs wait for each other: a GPU refuses it unless all fit */
    size_t flags;          /* words of services/devices.h by which devices wait for each other */
};

enum gemm_status {
    GEMM_OK = 0,
    GEMM_UNSUPPORTED,  /* this kernel cannot compute this problem; the reason is on stderr */
    GEMM_LAUNCH_FAILED /* the backend refused the launch; the reason is on stderr */
};

/* What the main loop of a kernel goes along, tile_k at a time: k, another extent of its kind's, or
 * its device's slice of k. */
enum gemm_loop { GEMM_ALONG_K = 0, GEMM_ALONG_N, GEMM_ALONG_SLICE_OF_K };

/* The GPU that a kernel is for: gemm_machine.h. */
enum gemm_machine { MACHINE_HOPPER, MACHINE_BLACKWELL, MACHINES };

/* What a chapter, or one variant of it, provides to the harness: a kernel, its launch function, and
 * its properties. */
struct gemm_kernel {
    const char *name;      /* "06_wgmma": the chapter's directory */
    const char *variant;   /* "wait0"; NULL for the chapter's own kernel */
    const char *technique; /* the one new idea, in a line */
    int tile_m, tile_n, tile_k;
    int stages;           /* depth of the shared-memory ring; 0: the chapter has none */
    int threads;          /* per CTA */
    int cluster;          /* CTAs per cluster */
    size_t smem_bytes;    /* dynamic shared memory per CTA */
    const void *function; /* the __global__ function, for the backend's questions about it */
    /* Enqueues the whole computation on the stream: tensor maps, resets, every kernel. Host thread.
     * Returns without waiting. The harness calls it inside a stream capture, too. */
    enum gemm_status (*launch)(const struct gemm_problem *problem, void *stream);
    /* Bytes of workspace that launch() uses for this problem; NULL: none. */
    size_t (*workspace_bytes)(const struct gemm_problem *problem);
    bool counters; /* launch() uses tile_counter; otherwise that may be NULL */
    /* Part two; zero in all other records. services/selection.h: */
    const struct gemm_kernel *(*select)(const struct gemm_problem *problem);
    int (*ranked)(const struct gemm_problem *problem, const struct gemm_kernel **kernels, int most);
    enum gemm_early earliest;        /* gemm_early.h: the earliest launch that it is for */
    bool several_devices, follows;   /* services/devices.h */
    const struct problem_kind *kind; /* gemm_matrices.h; NULL: D = A * B */
    const void *of_kind;             /* and what that has to know of this kernel */
    enum gemm_loop loop;
    struct gemm_boundary boundaries[GEMM_BOUNDARIES]; /* gemm_boundaries.h */
    enum gemm_machine machine;                        /* of all others Hopper */
    bool refused; /* by the compiler: cmake/does_not_compile.c */
};

/* The kernel's symbol, and the variant's name or NULL; the build defines both for every object
 * file. */
#ifdef GEMM_KERNEL
extern const struct gemm_kernel GEMM_KERNEL;
#endif
#ifndef GEMM_VARIANT
#define GEMM_VARIANT NULL
#endif

/* ---- services of the backend, for a chapter's launch function (host thread) ---- */

/* Enqueues one kernel: gemm_launch_kernel(&launch, &args). `args` is its parameter; the macro adds
 * how many bytes that has. */
enum gemm_status gemm_launch_kernel(const struct gemm_launch *launch, const void *args,
                                    size_t args_bytes);
#define gemm_launch_kernel(launch, args) gemm_launch_kernel(launch, args, sizeof *(args))

/* Enqueues the zeroing of `bytes` bytes of global memory. */
enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream);

/* SMs of the device. */
int gemm_sm_count(void);

/* Clusters of this launch that are resident at once; CTAs if the cluster is 1. From the runtime
 * (cudaOccupancyMaxActiveClusters), because not every SM can be part of a cluster of every size. 0:
 * none fits, or the runtime could not tell. */
int gemm_resident_clusters(const struct gemm_launch *launch);

enum gemm_swizzle { SWIZZLE_NONE = 0, SWIZZLE_32B = 1, SWIZZLE_64B = 2, SWIZZLE_128B = 3 };
/* Operands are of the first two; in part two also of the third, or of the fourth: A is e4m3, and B
 * holds 4-bit weights. */
enum gemm_type { GEMM_FP16 = 0, GEMM_BF16 = 1, GEMM_E4M3 = 2, GEMM_W4A8 = 3, GEMM_FP32 = 4 };

/* Encodes the tensor map of a row-major matrix [rows][columns] with a row pitch of `ld` elements,
 * moved in boxes of box_rows x box_columns (each <= 256; box_columns * element size is a multiple
 * of 16 bytes and at most the swizzle's width, unless that is SWIZZLE_NONE). The base must be
 * 16-byte aligned, the pitch a multiple of 16 bytes, and `rows` below 2^31: a coordinate has 32
 * bits, and may lie in front of the matrix. A load fills the part of a box beyond the matrix with
 * zeros; a store leaves it out. Returns GEMM_UNSUPPORTED and names the argument at fault. CUDA
 * driver API, cuTensorMapEncodeTiled. */
enum gemm_status gemm_tensor_map(struct tensor_map *map, enum gemm_type type, const void *base,
                                 int64_t rows, int columns, int64_t ld, int box_rows,
                                 int box_columns, enum gemm_swizzle swizzle);

#ifdef __cplusplus
}
#endif

#include "gemm_launch.h" /* what a launch function begins and ends with */

#endif
