/*
 * gemm.h: the contract between a chapter and the programs that run it. Read this first.
 *
 * A chapter computes D = A * B with fp32 accumulation:
 *
 *     A  m x k   row-major, leading dimension lda     (elements, a multiple of 8)
 *     B  n x k   row-major, leading dimension ldb     so both operands are contiguous along k
 *     D  m x n   row-major, leading dimension ldd
 *
 * for every m, n, k >= 1. The columns between k (or n) and the leading dimension hold NaN and must
 * neither be used nor written.
 *
 * In e4m3 problems, A and B hold 8-bit elements with scales (struct gemm_scales, below), lda and
 * ldb are multiples of 16, and D is bf16. In w4a8 problems the same holds for A, and B holds 4-bit
 * weights and their scales in blocks (w4_block.h).
 *
 * A chapter is one kernel.cu. It is compiled by nvcc for sm_90a and, unchanged, by a C compiler
 * against the simulator, once for each type that it is for: fp16 and bf16 unless it says otherwise.
 * It provides one `struct gemm_kernel` (below) and uses the few services declared at the end, which
 * both backends implement.
 */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A 16-bit element, fp16 or bf16: a kernel file is compiled for one of the two. It is a struct
 * because only hopper/element.h does arithmetic on it. */
typedef struct {
    uint16_t bits;
} element_t;

/* An element of 8 bits: sign, 4 bits of exponent, 3 of mantissa. No infinities; the greatest number
 * is 448. */
typedef struct {
    uint8_t bits;
} e4m3_t;

/* The description of a matrix for the TMA; opaque, made by gemm_tensor_map() (CUtensorMap on the
 * GPU). */
struct tensor_map {
    uint64_t opaque[16];
} __attribute__((aligned(128)));

enum { GEMM_COUNTERS = 1024 };

/* ---- one problem on several devices ---- */

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

/* What one device holds, all pointers in its own memory, which the other devices can reach. */
struct gemm_share {
    const element_t *a; /* [m][lda] */
    const element_t *b; /* [n][ldb] */
    element_t *d;       /* [m][ldd] */
    void *workspace;    /* >= gemm_kernel.workspace_bytes(), contents undefined */
    uint32_t *flags;    /* gemm_kernel.flags() words, zero before the first launch; when all devices
                         * have ended a launch, they are zero again */
    struct trace_record
        *trace; /* NULL, or the recorder's buffer; device 0's is gemm_problem.trace */
};

/* What an e4m3 means: in A times the scale of its row and its block of k, in B times that of its
 * block of columns and of k. Scales are stored so that those which a tile needs for one block of k
 * lie side by side; pitches are multiples of 16 bytes, the padding is NaN. In w4a8 problems a row
 * of A has one scale, whatever the block: a is [1][pitch_a], and b is NULL. */
enum { SCALE_BLOCK = 128 }; /* elements of k, and of n */
struct gemm_scales {
    const float *a;       /* [ceil(k / SCALE_BLOCK)][pitch_a], of m rows each */
    const float *b;       /* [ceil(n / SCALE_BLOCK)][pitch_b], of the blocks of k */
    int pitch_a, pitch_b; /* floats, multiples of 4 */
};

/* One row-major matrix multiplication, all pointers in the backend's global memory. */
struct gemm_problem {
    int m, n, k;
    int64_t lda, ldb, ldd; /* elements, multiples of 8 */
    const element_t *a;    /* [m][lda]; e4m3_t in e4m3 and w4a8 problems */
    const element_t *b;    /* [n][ldb]; in w4a8 problems blocks, and ldb is not used */
    element_t *d;          /* [m][ldd] */
    /* Launches that may overlap on the device share none of these three: D, workspace, counters. */
    void *workspace; /* >= gemm_kernel.workspace_bytes(), 256-byte aligned, contents undefined */
    uint32_t *tile_counter; /* GEMM_COUNTERS words, zero before the first launch; each launch leaves
                             * them so */
    struct trace_record *trace; /* NULL, or the recorder's buffer (timeline/trace.h) */
    struct gemm_scales scales;  /* all zero in problems of a 16-bit type */
    /* A kernel for several devices uses these instead of a, b, d and workspace. */
    int devices; /* 0 or 1: a single one */
    struct gemm_share share[GEMM_DEVICES];
};

/* A divisor that the host knows: building_blocks/divisor.h. */
struct gemm_divisor {
    uint32_t number, inverse;
};

/* The order of building_blocks/tile_order.h, with its divisors. */
struct gemm_tile_order {
    int last_group;                      /* of tile rows */
    struct gemm_divisor last_rows, rows; /* of the last group, and of the ones before */
    struct gemm_divisor group;           /* tiles of a group before the last */
};

/* How a kernel cuts a problem whose tile it chooses at launch. Before its first load a CTA reads
 * what comes first, often no more than one line of 64 bytes of the constant cache. */
struct gemm_fit {
    int width;                        /* columns of a CTA's product: the fitted operand's rows */
    int rows;                         /* of the side operand in a tile: the product may have more */
    int sharing_side, sharing_fitted; /* CTAs of a cluster that share rows of an operand */
    int splits, k_tiles;              /* parts of a tile, and k-tiles of a part */
    int stages;                       /* of the ring */
    bool transposed;                  /* the product is D transposed */
    bool turned;                      /* the order has columns for rows, and rows for columns */
    struct gemm_divisor cluster;      /* CTAs of a cluster */
    struct gemm_tile_order order;     /* of a layer's clusters */
    int longer_parts;                 /* so many of the first parts have a k-tile more */
    int splits_in_cluster;            /* parts of k of a tile that one cluster computes and adds */
    int layers;                       /* sums of a tile in the workspace, one for each cluster */
    struct gemm_divisor sharing;      /* CTAs of a cluster that compute the same part of k */
    struct gemm_divisor layer;        /* clusters of a layer */
};

/* The one parameter of every kernel. */
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
    struct gemm_scales scales;
    struct tensor_map map_scale_a, map_scale_b;
    struct gemm_fit fit;
};

/* The one parameter of a kernel that runs on several devices at once; each device has its own. */
struct gemm_device_args {
    struct gemm_args gemm; /* what a kernel for one device has, in this device's memory */
    int device, devices;   /* this one's number, and how many there are */
    int first_k_tile;      /* of this device's slice of k; gemm.tiles_k counts it */
    int first_item;        /* of this launch; gemm.items is the end */
    /* Where slices begin, in tiles: device i has [i] to [i + 1] - 1. */
    int first_m_tile[GEMM_DEVICES + 1], first_n_tile[GEMM_DEVICES + 1];
    uint32_t *flags[GEMM_DEVICES];            /* each device's */
    void *workspaces[GEMM_DEVICES];           /* each device's */
    struct tensor_map map_peer[GEMM_DEVICES]; /* matrices of the same kind, each on one device */
};

/* When a launch may begin, and what its kernel has to do for that (hopper/griddepcontrol.h). */
enum gemm_early {
    GEMM_IN_ORDER = 0, /* when everything before it on the stream is complete */
    /* While kernels before it on the stream still run. The kernel accesses no global memory before
     * griddepcontrol_wait(). */
    GEMM_EARLY,
    /* The same, but it may read B before the wait: no kernel that may still be running writes B. */
    GEMM_EARLY_B
};

/* How a kernel is launched. */
struct gemm_launch {
    const void *kernel; /* the __global__ function */
    const char *name;   /* for error messages */
    int grid;           /* CTAs; one dimension, because only x may exceed 65535 */
    int cluster;        /* CTAs of a cluster along x; 1 for none */
    int threads;        /* per CTA */
    size_t smem_bytes;  /* dynamic shared memory per CTA */
    void *stream;       /* the backend's stream (cudaStream_t), or NULL */
    enum gemm_early early;
};

enum gemm_status {
    GEMM_OK = 0,
    GEMM_UNSUPPORTED,  /* this kernel cannot compute this problem; the reason is on stderr */
    GEMM_LAUNCH_FAILED /* the backend refused the launch; the reason is on stderr */
};

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
    /* Returns the chapter's variant that launch() runs for a problem of this m, n and k; its tile
     * and function then replace those above. NULL: launch() always runs this kernel. */
    const struct gemm_kernel *(*select)(const struct gemm_problem *problem);
    /* Writes the variants that may run such a problem, at most so many, in the order of predicted
     * times: select()'s is the first. Returns how many. NULL: there is no such order. */
    int (*ranked)(const struct gemm_problem *problem, const struct gemm_kernel **kernels, int most);
    /* Of e4m3: it takes the first scale of A and the first of B for all of them, so problems must
     * have no others. */
    bool tensor_scales;
    /* How problems are laid out for it. With LAYOUT_ONE_DEVICE it runs on one device. */
    enum gemm_layout layout;
    /* Words of gemm_share.flags that launch() uses for this problem; NULL: none. */
    size_t (*flags)(const struct gemm_problem *problem);
    /* Each device rounds its partial sum to the type of D before the sums are added up. */
    bool rounds_parts;
    /* Its launches may follow each other between gemm_devices_begin() and gemm_devices_end(). */
    bool follows;
    /* launch() uses tile_counter; otherwise that may be NULL. */
    bool counters;
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

/* Enqueues one kernel. */
enum gemm_status gemm_launch_kernel(const struct gemm_launch *launch, const struct gemm_args *args);

/* Enqueues one kernel on each of `devices` devices, args[i] for device i. All of them start after
 * what the stream holds, run at the same time, and may wait for each other. What is enqueued later
 * on the stream starts after the last of them. The stream is device 0's. */
enum gemm_status gemm_launch_devices(const struct gemm_launch *launch,
                                     const struct gemm_device_args *args, int devices);

/* Between the two, a launch of gemm_launch_devices() starts on each device when the launch before
 * it has ended on that device. It does not wait for the other devices. The first launch starts
 * after what the stream holds, and what is enqueued after gemm_devices_end() starts after the last
 * launch on every device. Nothing else may be enqueued between the two. For kernels that order by
 * flags what they do to other devices' memory (gemm_kernel.follows). When a launch has ended on a
 * device, that device's rows or columns of D are complete, and others may still read its A. */
enum gemm_status gemm_devices_begin(void *stream);
enum gemm_status gemm_devices_end(void *stream);

/* A copy of `bytes` bytes by a copy engine, usually from one device's memory to another's. */
struct gemm_copy {
    void *to;
    const void *from;
    size_t bytes;
    int device; /* whose copy engine it is */
};
/* Enqueues copies that all start after what the stream holds and run at the same time, those of one
 * device one after the other. What is enqueued later starts after the last of them. */
enum gemm_status gemm_copy_devices(const struct gemm_copy *copies, int count, void *stream);

/* Both at the same time: the kernels and the copies start after what the stream holds, and what is
 * enqueued later starts after the last of them. */
enum gemm_status gemm_launch_beside_copies(const struct gemm_launch *launch,
                                           const struct gemm_device_args *args, int devices,
                                           const struct gemm_copy *copies, int count);

/* Enqueues the zeroing of `bytes` bytes of global memory. */
enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream);

/* SMs of the device. */
int gemm_sm_count(void);

/* How fast the device's DRAM and L2 are, per cycle of the SM clock, beside those of an H200. */
struct gemm_rates {
    double memory, l2;
};
struct gemm_rates gemm_device_rates(void);

/* Clusters of this launch that are resident at once; CTAs if the cluster is 1. From the runtime
 * (cudaOccupancyMaxActiveClusters), because not every SM can be part of a cluster of every size. 0:
 * none fits, or the runtime could not tell. */
int gemm_resident_clusters(const struct gemm_launch *launch);

/* Has gemm_resident_clusters() failed on this thread, after a message, since the last call of this
 * function? Then what was selected by the answers is not what will be selected next time. */
bool gemm_questions_failed(void);

enum gemm_swizzle { SWIZZLE_NONE = 0, SWIZZLE_32B = 1, SWIZZLE_64B = 2, SWIZZLE_128B = 3 };
/* Operands are of the first three, or of the fourth: A is e4m3, and B holds 4-bit weights. */
enum gemm_type { GEMM_FP16 = 0, GEMM_BF16 = 1, GEMM_E4M3 = 2, GEMM_W4A8 = 3, GEMM_FP32 = 4 };

/* Do operands of this type have scales? */
static inline bool gemm_type_is_scaled(enum gemm_type type) {
    return type == GEMM_E4M3 || type == GEMM_W4A8;
}

/* The elements of D, if the operands are of this type. */
static inline enum gemm_type gemm_output_type(enum gemm_type type) {
    return gemm_type_is_scaled(type) ? GEMM_BF16 : type;
}

/* Bytes of an element; 0 for GEMM_W4A8, which is no type of an element. */
static inline int gemm_type_bytes(enum gemm_type type) {
    return type == GEMM_W4A8 ? 0 : type == GEMM_E4M3 ? 1 : type == GEMM_FP32 ? 4 : 2;
}

/* Encodes the tensor map of a row-major matrix [rows][columns] with a row pitch of `ld` elements,
 * moved in boxes of box_rows x box_columns (each <= 256; box_columns * element size is a multiple
 * of 16 bytes and at most the swizzle's width, unless that is SWIZZLE_NONE). The base must be
 * 16-byte aligned and the pitch a multiple of 16 bytes. A load fills the part of a box beyond the
 * matrix with zeros; a store leaves it out. Returns GEMM_UNSUPPORTED and names the argument at
 * fault. CUDA driver API, cuTensorMapEncodeTiled. */
enum gemm_status gemm_tensor_map(struct tensor_map *map, enum gemm_type type, const void *base,
                                 int rows, int columns, int64_t ld, int box_rows, int box_columns,
                                 enum gemm_swizzle swizzle);

static inline int ceil_div(int a, int b) { return a / b + (a % b != 0); }

/* Tiles of D: kernels count them, and clusters of them, in an int. A selection takes no kernel that
 * would have more. */
enum { GEMM_MOST_TILES = 1 << 30 };

/* Where the slice of device `device` of `devices` begins, of `count` tiles; device + 1: where it
 * ends. Slices differ by at most one tile. */
static inline int gemm_slice(int count, int device, int devices) {
    return (int)((int64_t)count * device / devices);
}

/* The same in elements, of an extent that is cut into whole units (SLICE_M, SLICE_N or SLICE_K). */
static inline int gemm_slice_begin(int extent, int unit, int device, int devices) {
    const int64_t begin = (int64_t)gemm_slice(ceil_div(extent, unit), device, devices) * unit;
    return begin < extent ? (int)begin : extent;
}

/* The kernel parameter for a problem cut into tiles of this size; the chapter adds the tensor
 * maps. */
static inline struct gemm_args gemm_args_of(const struct gemm_problem *p, int tile_m, int tile_n,
                                            int tile_k) {
    struct gemm_args args;
    memset(&args, 0, sizeof args);
    args.a = p->a;
    args.b = p->b;
    args.d = p->d;
    args.lda = p->lda;
    args.ldb = p->ldb;
    args.ldd = p->ldd;
    args.m = p->m;
    args.n = p->n;
    args.k = p->k;
    args.tiles_m = ceil_div(p->m, tile_m);
    args.tiles_n = ceil_div(p->n, tile_n);
    args.tiles_k = ceil_div(p->k, tile_k);
    args.splits = 1;
    args.workspace = (float *)p->workspace;
    args.tile_counter = p->tile_counter;
    args.trace = p->trace;
    args.scales = p->scales;
    return args;
}

/* The parameter for device `device` of the problem's; the chapter adds the tensor maps. */
static inline struct gemm_device_args gemm_device_args_of(const struct gemm_problem *p, int device,
                                                          int tile_m, int tile_n, int tile_k) {
    struct gemm_device_args args;
    struct gemm_problem own = *p;
    memset(&args, 0, sizeof args);
    own.a = p->share[device].a;
    own.b = p->share[device].b;
    own.d = p->share[device].d;
    own.workspace = p->share[device].workspace;
    if (device > 0) own.trace = p->share[device].trace;
    args.gemm = gemm_args_of(&own, tile_m, tile_n, tile_k);
    args.device = device;
    args.devices = p->devices;
    for (int i = 0; i <= p->devices; ++i) {
        args.first_m_tile[i] = gemm_slice(args.gemm.tiles_m, i, p->devices);
        args.first_n_tile[i] = gemm_slice(args.gemm.tiles_n, i, p->devices);
        if (i == p->devices) break;
        args.flags[i] = p->share[i].flags;
        args.workspaces[i] = p->share[i].workspace;
    }
    return args;
}

/* Where k is sliced: this device's part of the k-tiles. A device whose slice is empty multiplies
 * zeros, which the TMA reads beyond k. */
static inline void gemm_slice_k(struct gemm_device_args *args) {
    const int tiles = args->gemm.tiles_k, first = gemm_slice(tiles, args->device, args->devices);
    const int end = gemm_slice(tiles, args->device + 1, args->devices);
    args->first_k_tile = end > first ? first : tiles;
    args->gemm.tiles_k = end > first ? end - first : 1;
}

/* A launch of a chapter's kernel on `grid` CTAs; its record has the rest. Host thread. */
static inline struct gemm_launch gemm_launch_of(const struct gemm_kernel *kernel, int grid,
                                                void *stream) {
    struct gemm_launch launch;
    launch.kernel = kernel->function;
    launch.name = kernel->name;
    launch.grid = grid;
    launch.cluster = kernel->cluster;
    launch.threads = kernel->threads;
    launch.smem_bytes = kernel->smem_bytes;
    launch.stream = stream;
    launch.early = GEMM_IN_ORDER;
    return launch;
}

/* Enqueues it. Host thread. */
static inline enum gemm_status gemm_launch_grid(const struct gemm_kernel *kernel, int grid,
                                                const struct gemm_args *args, void *stream) {
    const struct gemm_launch launch = gemm_launch_of(kernel, grid, stream);
    return gemm_launch_kernel(&launch, args);
}

#ifdef __cplusplus
}
#endif
#endif
