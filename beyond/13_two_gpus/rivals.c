/*
 * rivals.c: what the kernels of this chapter are timed beside: cuBLAS on each GPU, and NCCL's
 * collective after it or before it, on the same streams. In a build with HOPPER_NCCL.
 *
 * On each GPU's stream the next multiplication follows without waiting for other GPUs: what a GPU
 * uses is its own, and the collectives order what crosses the link.
 *
 * Slices of k: each GPU multiplies its slice and has a part of all of D, rounded to D's type; a
 * reduce-scatter adds the parts up, each owner's rows. Slices of rows: an all-gather collects A,
 * then each GPU computes its columns of D. NCCL wants slices of equal size; where they are not, one
 * call for each owner takes its place, in one group.
 *
 * NCCL User Guide: ncclCommInitAll, ncclReduceScatter, ncclReduce, ncclAllGather, ncclBroadcast,
 * "Group Calls". cuBLAS Library: cublasGemmEx; its view of row-major matrices is in cublas.c.
 */
#include "rivals.h"

#ifdef HOPPER_NCCL
#include <nccl.h>
#include <stdio.h>

#include "gpu/baselines.h"
#include "gpu/cublas_call.h"
#include "gpu/cuda_call.h"
#include "gpu/devices.h"
#include "gpu/gpu_state.h"

static struct {
    int devices;
    ncclComm_t comm[GEMM_DEVICES];
    cublasHandle_t cublas[GEMM_DEVICES];
    void *library[GEMM_DEVICES]; /* cuBLAS's workspace */
    void *matrix[GEMM_DEVICES];  /* the part of D, or all of A */
    size_t bytes;                /* of a matrix */
} group;

static bool nccl_ok(ncclResult_t status, const char *attempt) {
    if (status == ncclSuccess) return true;
    fprintf(stderr, "NCCL: %s: %s\n", attempt, ncclGetErrorString(status));
    return false;
}

/* A slice of the problem, elements from `first` up to `end`. */
struct slice {
    int first, end;
};

static struct slice slice_of(int extent, int unit, int device) {
    return (struct slice){gemm_slice_begin(extent, unit, device, group.devices),
                          gemm_slice_begin(extent, unit, device + 1, group.devices)};
}

static bool equal_rows(const struct gemm_problem *p) {
    for (int device = 0; device < group.devices; ++device) {
        const struct slice rows = slice_of(p->m, SLICE_M, device);
        if ((int64_t)(rows.end - rows.first) * group.devices != p->m) return false;
    }
    return true;
}

static ncclDataType_t nccl_type(void) {
    return gpu_state.type == GEMM_BF16 ? ncclBfloat16 : ncclFloat16;
}

/* The product of one device, on its stream. */
static bool multiply(int device, cudaStream_t stream, const struct gemm_problem *p) {
    if (p->m == 0 || p->n == 0) return true;
    return devices_select(device) &&
           cublas_multiply(group.cublas[device], group.library[device], true, p, stream);
}

static bool reduce_scatter(const struct gemm_problem *p, const cudaStream_t *streams) {
    const bool equal = equal_rows(p);
    bool good = nccl_ok(ncclGroupStart(), "opening a group");
    for (int device = 0; device < group.devices && good; ++device) {
        const element_t *const part = (const element_t *)group.matrix[device];
        for (int owner = 0; owner < (equal ? 1 : group.devices) && good; ++owner) {
            const struct slice rows = slice_of(p->m, SLICE_M, equal ? device : owner);
            const size_t count = (size_t)(rows.end - rows.first) * (size_t)p->ldd;
            element_t *const to = split_of(p)->share[device].d + rows.first * p->ldd;
            good = nccl_ok(equal ? ncclReduceScatter(part, to, count, nccl_type(), ncclSum,
                                                     group.comm[device], streams[device])
                                 : ncclReduce(part + rows.first * p->ldd, to, count, nccl_type(),
                                              ncclSum, owner, group.comm[device], streams[device]),
                           "adding up the parts");
        }
    }
    return nccl_ok(ncclGroupEnd(), "running a group") && good;
}

static bool all_gather(const struct gemm_problem *p, const cudaStream_t *streams) {
    const bool equal = equal_rows(p);
    bool good = nccl_ok(ncclGroupStart(), "opening a group");
    for (int device = 0; device < group.devices && good; ++device) {
        element_t *const all = (element_t *)group.matrix[device];
        for (int owner = 0; owner < (equal ? 1 : group.devices) && good; ++owner) {
            const struct slice rows = slice_of(p->m, SLICE_M, equal ? device : owner);
            const size_t count = (size_t)(rows.end - rows.first) * (size_t)p->lda;
            const element_t *const from = split_of(p)->share[device].a + rows.first * p->lda;
            good =
                nccl_ok(equal ? ncclAllGather(from, all, count, nccl_type(), group.comm[device],
                                              streams[device])
                              : ncclBroadcast(from, all + rows.first * p->lda, count, nccl_type(),
                                              owner, group.comm[device], streams[device]),
                        "collecting the rows");
        }
    }
    return nccl_ok(ncclGroupEnd(), "running a group") && good;
}

/* Space for all of A or a part of D on every device. Not during a capture: verification comes
 * first and has the same extents. */
static bool make_room(size_t bytes) {
    bool good = true;
    if (bytes <= group.bytes) return true;
    for (int device = 0; device < group.devices; ++device) {
        good = good && devices_select(device);
        if (group.matrix[device]) cudaFree(group.matrix[device]);
        group.matrix[device] = NULL;
        good = good && cuda_ok(cudaMalloc(&group.matrix[device], bytes), "allocating a matrix");
    }
    group.bytes = good ? bytes : 0;
    return devices_select(0) && good;
}

static enum gemm_status multiply_then_scatter(const struct contender *self,
                                              const struct gemm_problem *p, void *stream) {
    cudaStream_t streams[GEMM_DEVICES];
    (void)self;
    if (!make_room((size_t)p->m * (size_t)p->ldd * sizeof(element_t)) ||
        !devices_fork((cudaStream_t)stream, group.devices, streams))
        return GEMM_LAUNCH_FAILED;
    bool good = true;
    for (int device = 0; device < group.devices && good; ++device) {
        const struct split_share *const share = &split_of(p)->share[device];
        const struct slice k = slice_of(p->k, SLICE_K, device);
        struct gemm_problem own = *p;
        own.k = k.end - k.first;
        own.a = share->a + k.first;
        own.b = share->b + k.first;
        own.d = (element_t *)group.matrix[device];
        good = multiply(device, streams[device], &own);
    }
    good = good && reduce_scatter(p, streams);
    return devices_join((cudaStream_t)stream, group.devices) && good ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static enum gemm_status gather_then_multiply(const struct contender *self,
                                             const struct gemm_problem *p, void *stream) {
    cudaStream_t streams[GEMM_DEVICES];
    (void)self;
    if (!make_room((size_t)p->m * (size_t)p->lda * sizeof(element_t)) ||
        !devices_fork((cudaStream_t)stream, group.devices, streams))
        return GEMM_LAUNCH_FAILED;
    bool good = all_gather(p, streams);
    for (int device = 0; device < group.devices && good; ++device) {
        const struct split_share *const share = &split_of(p)->share[device];
        const struct slice n = slice_of(p->n, SLICE_N, device);
        struct gemm_problem own = *p;
        own.n = n.end - n.first;
        own.a = (const element_t *)group.matrix[device];
        own.b = share->b + n.first * p->ldb;
        own.d = share->d + n.first;
        good = multiply(device, streams[device], &own);
    }
    return devices_join((cudaStream_t)stream, group.devices) && good ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static bool open_group(void) {
    int ordinals[GEMM_DEVICES];
    if (group.devices) return true;
    const int devices = devices_count();
    for (int device = 0; device < devices; ++device) {
        if (!devices_select(device) ||
            !cuda_ok(cudaGetDevice(&ordinals[device]), "asking for the device") ||
            !cublas_ok(cublasCreate(&group.cublas[device]), "creating a handle") ||
            !cuda_ok(cudaMalloc(&group.library[device], LIBRARY_WORKSPACE),
                     "allocating cuBLAS's workspace"))
            return false;
    }
    if (!nccl_ok(ncclCommInitAll(group.comm, devices, ordinals), "creating communicators"))
        return false;
    group.devices = devices;
    return devices_select(0);
}

/* What the harness has to know of the two: how the operands lie, and what the result may be off. */
static const struct split_kernel layouts[SPLIT_LAYOUTS] = {
    [LAYOUT_SLICES_OF_K] = {LAYOUT_SLICES_OF_K, NULL, true},
    [LAYOUT_SLICES_OF_ROWS] = {LAYOUT_SLICES_OF_ROWS, NULL, false}};
static const struct gemm_kernel kernels[SPLIT_LAYOUTS] = {
    [LAYOUT_SLICES_OF_K] = {.name = "cublas-nccl",
                            .several_devices = true,
                            .follows = true,
                            .of_kind = &layouts[LAYOUT_SLICES_OF_K]},
    [LAYOUT_SLICES_OF_ROWS] = {.name = "cublas-nccl",
                               .several_devices = true,
                               .follows = true,
                               .of_kind = &layouts[LAYOUT_SLICES_OF_ROWS]}};

int split_rivals(const struct gemm_problem *problems, const bool has_layout[SPLIT_LAYOUTS],
                 struct contender *out, int room) {
    int made = 0;
    if (devices_count() < 2 || room < SPLIT_LAYOUTS || !open_group()) return 0;
    /* Whole rows are added up, and nothing may be written into the padding of D. */
    if (has_layout[LAYOUT_SLICES_OF_K] && problems->n == problems->ldd)
        out[made++] = (struct contender){.name = "cublas-reduce-scatter",
                                         .kernel = &kernels[LAYOUT_SLICES_OF_K],
                                         .result = RESULT_PRODUCT,
                                         .enqueue = multiply_then_scatter};
    if (has_layout[LAYOUT_SLICES_OF_ROWS])
        out[made++] = (struct contender){.name = "all-gather-cublas",
                                         .kernel = &kernels[LAYOUT_SLICES_OF_ROWS],
                                         .result = RESULT_PRODUCT,
                                         .enqueue = gather_then_multiply};
    return made;
}

#else
int split_rivals(const struct gemm_problem *problems, const bool has_layout[SPLIT_LAYOUTS],
                 struct contender *out, int room) {
    (void)problems, (void)has_layout, (void)out, (void)room;
    return 0;
}
#endif
