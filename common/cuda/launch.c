/*
 * launch.c: the services that a chapter's launch function calls: launching, zeroing, asking what is
 * resident.
 *
 * CUDA Runtime API: cudaLaunchKernelExC, cudaFuncSetAttribute, cudaOccupancyMaxActiveClusters.
 */
#include <stdio.h>

#include "cuda/device.h"

enum {
    PORTABLE_CLUSTER = 8, /* CTAs that every device accepts; more must be allowed first */
    MAX_CLUSTER = 16,
    KERNELS = 256, /* distinct kernels of one program, on each device */
    DEVICES = 64 /* whose SMs are remembered */
};

/* The caller's device; negative after a message. */
static int current_device(void) {
    int device = -1;
    return cuda_ok(cudaGetDevice(&device), "asking for the device") ? device : -1;
}

/* A kernel that has been launched before, so that the runtime is asked once and not for every
 * launch. */
struct known_kernel {
    const void *kernel;
    int device;        /* attributes and residency are the device's own */
    size_t smem_bytes; /* that it has been allowed */
    int cluster;       /* for which `resident` was asked; 0: not yet */
    int resident;
};

/* The entry of a launch's kernel, its attributes set for this launch. NULL after a message. */
static struct known_kernel *prepare(const struct gemm_launch *launch) {
    static struct known_kernel known[KERNELS];
    static int count;
    struct known_kernel *entry = NULL;
    const int device = current_device();
    if (device < 0) return NULL;
    for (int i = 0; i < count && !entry; ++i)
        if (known[i].kernel == launch->kernel && known[i].device == device) entry = &known[i];
    if (entry && entry->smem_bytes == launch->smem_bytes) return entry;
    if (!entry) {
        if (count == KERNELS) {
            fprintf(stderr, "%s: more than %d kernels in one program\n", launch->name, KERNELS);
            return NULL;
        }
        entry = &known[count];
    }
    if (!cuda_ok(cudaFuncSetAttribute(launch->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)launch->smem_bytes),
                 launch->name))
        return NULL;
    if (launch->cluster > PORTABLE_CLUSTER &&
        !cuda_ok(
            cudaFuncSetAttribute(launch->kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            launch->name))
        return NULL;
    if (entry == &known[count]) ++count;
    *entry = (struct known_kernel){
        .kernel = launch->kernel, .device = device, .smem_bytes = launch->smem_bytes};
    return entry;
}

/* The runtime's form of a launch; `attribute` is filled if the launch has clusters. */
static cudaLaunchConfig_t config_of(const struct gemm_launch *launch,
                                    cudaLaunchAttribute *attribute) {
    cudaLaunchConfig_t config = {.gridDim = {(unsigned)launch->grid, 1, 1},
                                 .blockDim = {(unsigned)launch->threads, 1, 1},
                                 .dynamicSmemBytes = launch->smem_bytes,
                                 .stream = (cudaStream_t)launch->stream};
    if (launch->cluster > 1) {
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = (unsigned)launch->cluster;
        attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
    }
    return config;
}

enum gemm_status gemm_launch_kernel(const struct gemm_launch *launch,
                                    const struct gemm_args *args) {
    if (launch->grid < 1 || launch->cluster < 1 || launch->cluster > MAX_CLUSTER ||
        launch->grid % launch->cluster != 0) {
        fprintf(stderr, "%s: a grid of %d CTAs in clusters of %d cannot be launched\n",
                launch->name, launch->grid, launch->cluster);
        return GEMM_LAUNCH_FAILED;
    }
    if (!prepare(launch)) return GEMM_LAUNCH_FAILED;
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = config_of(launch, &attribute);
    void *parameters[] = {(void *)args};
    if (!cuda_ok(cudaLaunchKernelExC(&config, launch->kernel, parameters), launch->name))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream) {
    if (!cuda_ok(cudaMemsetAsync(memory, 0, bytes, (cudaStream_t)stream), "zeroing device memory"))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

/* Of the caller's device, which need not be the one that backend_open() has chosen: a program may
 * use the chapters as a library. */
int gemm_sm_count(void) {
    static int counts[DEVICES];
    const int device = current_device();
    int count = 0;
    if (device < 0) return 0;
    if (device < DEVICES && counts[device]) return counts[device];
    cuda_ok(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
            "counting the device's SMs");
    if (device < DEVICES) counts[device] = count;
    return count;
}

int gemm_resident_clusters(const struct gemm_launch *launch) {
    struct known_kernel *entry = prepare(launch);
    if (!entry) return 0;
    if (entry->cluster == launch->cluster) return entry->resident;
    int resident = 0;
    if (launch->cluster > 1) {
        cudaLaunchAttribute attribute;
        cudaLaunchConfig_t config = config_of(launch, &attribute);
        config.gridDim.x =
            (unsigned)(launch->cluster * gemm_sm_count()); /* any that is valid */
        if (!cuda_ok(cudaOccupancyMaxActiveClusters(&resident, launch->kernel, &config),
                     launch->name))
            return 0;
    } else {
        if (!cuda_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                         &resident, launch->kernel, launch->threads, launch->smem_bytes),
                     launch->name))
            return 0;
        resident *= gemm_sm_count();
    }
    entry->cluster = launch->cluster;
    entry->resident = resident;
    return resident;
}
