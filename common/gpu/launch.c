/*
 * launch.c: the services that a chapter's launch function calls: launching, zeroing, asking what is
 * resident.
 *
 * CUDA Runtime API: cudaLaunchKernelExC, cudaFuncSetAttribute, cudaOccupancyMaxActiveClusters.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "services/plan.h"
#include "services/selection.h"
#include "gpu/cuda_call.h"
#include "gpu/launch.h"

enum {
    PORTABLE_CLUSTER = 8, /* CTAs that every device accepts; more must be allowed first */
    MAX_CLUSTER = 16,
    MOST_ATTRIBUTES = 3, /* of a launch: its cluster, that it begins early, that all fit */
    DEVICES = 64         /* of one machine */
};

/* What the runtime has said of a kernel on one device: attributes and residency are the device's
 * own. */
struct known_kernel {
    const void *kernel;
    size_t smem_bytes;                  /* that it has been allowed */
    uint16_t resident[MAX_CLUSTER + 1]; /* clusters of each size, and one more; 0: not yet asked */
};

/* What it has said of a device, so that it is asked once and not for every launch. */
static struct known_device {
    int sm_count; /* 0: not yet asked */
    struct gemm_rates rates;
    int kernels, room;
    struct known_kernel *kernel; /* [room], as many as programs use: never freed */
} known[DEVICES];

/* Held while `known` is used: a program that has the chapters as a library may launch from
 * several threads. Not held during a launch. */
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Has a question of this thread failed since gemm_questions_failed()? */
static _Thread_local bool question_failed;

/* Where this thread's launches are stored; NULL: they are enqueued. */
static _Thread_local struct gemm_plan *plan_in_the_making;

void gemm_plan_begin(struct gemm_plan *plan) {
    plan->count = 0;
    plan_in_the_making = plan;
}

void gemm_plan_end(void) { plan_in_the_making = NULL; }

/* CUDA tells the width and the clock of the memory's interface, and says nothing of the L2's rate.
 * That was measured on two devices (docs/results/probe.txt and h100-probe.txt): 35.2 and 29.7 bytes
 * per cycle for each SM. A device with less memory bandwidth than an H200 gets the lower one. False
 * after a message. */
static bool ask_for_rates(int device, struct gemm_rates *rates) {
    enum { H200_BITS = 6144, H200_KHZ = 3201000 };
    int bits = 0, khz = 0;
    if (!cuda_ok(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device),
                 "asking for the memory's width") ||
        !cuda_ok(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device),
                 "asking for the memory's clock"))
        return false;
    rates->memory = (double)bits * khz / ((double)H200_BITS * H200_KHZ);
    /* An H200 need not use the whole width. 0: a virtual device that does not tell. */
    if (rates->memory > 0.9 || rates->memory <= 0) rates->memory = 1;
    rates->l2 = rates->memory < 1 ? 29.7 / 35.2 : 1;
    return true;
}

/* The caller's device, which need not be the one that backend_open() has chosen. NULL after a
 * message. */
static struct known_device *current_device(void) {
    int device = -1;
    if (!cuda_ok(cudaGetDevice(&device), "asking for the device")) return NULL;
    if (device >= DEVICES) {
        fprintf(stderr, "CUDA: device %d: devices from %d on are not known here\n", device,
                DEVICES);
        return NULL;
    }
    if (known[device].sm_count == 0 &&
        (!ask_for_rates(device, &known[device].rates) ||
         !cuda_ok(cudaDeviceGetAttribute(&known[device].sm_count, cudaDevAttrMultiProcessorCount,
                                         device),
                  "counting the device's SMs")))
        return NULL;
    return &known[device];
}

/* The entry of a launch's kernel, which may be for other shared memory; NULL: there is none yet. */
static struct known_kernel *find(struct known_device *device, const struct gemm_launch *launch) {
    for (int i = 0; i < device->kernels; ++i)
        if (device->kernel[i].kernel == launch->kernel) return &device->kernel[i];
    return NULL;
}

static bool is_for(const struct known_kernel *entry, const struct gemm_launch *launch) {
    return entry && entry->smem_bytes == launch->smem_bytes;
}

/* Makes room for more kernels. False: there is no memory. */
static bool grow(struct known_device *device) {
    const int room = device->room ? 2 * device->room : 64;
    struct known_kernel *const kernel =
        realloc(device->kernel, (size_t)room * sizeof *device->kernel);
    if (!kernel) return false;
    device->kernel = kernel;
    device->room = room;
    return true;
}

/* The entry of a launch's kernel, its attributes set for this launch. `again`: sets them even if
 * they have been set. NULL after a message. */
static struct known_kernel *prepare(struct known_device *device, const struct gemm_launch *launch,
                                    bool again) {
    struct known_kernel *entry = find(device, launch);
    const bool is_known = is_for(entry, launch);
    if (is_known && !again) return entry;
    if (!entry && device->kernels == device->room && !grow(device)) {
        fprintf(stderr, "%s: there is no memory for what is known of it\n", launch->name);
        return NULL;
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
    if (is_known) return entry; /* what is resident does not change */
    if (!entry) entry = &device->kernel[device->kernels++];
    *entry = (struct known_kernel){.kernel = launch->kernel, .smem_bytes = launch->smem_bytes};
    return entry;
}

/* The runtime's form of a launch; `attributes` is filled as far as the launch has some. */
static cudaLaunchConfig_t config_of(const struct gemm_launch *launch,
                                    cudaLaunchAttribute attributes[MOST_ATTRIBUTES]) {
    cudaLaunchConfig_t config = {.gridDim = {(unsigned)launch->grid, 1, 1},
                                 .blockDim = {(unsigned)launch->threads, 1, 1},
                                 .dynamicSmemBytes = launch->smem_bytes,
                                 .stream = (cudaStream_t)launch->stream,
                                 .attrs = attributes};
    if (launch->cluster > 1) {
        cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = (unsigned)launch->cluster;
        attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
    }
    if (launch->early != GEMM_IN_ORDER) {
        cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
        attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute->val.programmaticStreamSerializationAllowed = 1;
    }
    if (launch->together) {
        cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
        attribute->id = cudaLaunchAttributeCooperative;
        attribute->val.cooperative = 1;
    }
    return config;
}

/* Sees to it that the launch's kernel has its attributes. False after a message. */
static bool ready(const struct gemm_launch *launch, bool again) {
    pthread_mutex_lock(&known_mutex);
    struct known_device *device = current_device();
    const bool prepared = device && prepare(device, launch, again);
    pthread_mutex_unlock(&known_mutex);
    return prepared;
}

/* False after a message. */
static bool valid(const struct gemm_launch *launch) {
    if (launch->grid < 1 || launch->cluster < 1 || launch->cluster > MAX_CLUSTER ||
        launch->grid % launch->cluster != 0) {
        fprintf(stderr, "%s: a grid of %d CTAs in clusters of %d cannot be launched\n",
                launch->name, launch->grid, launch->cluster);
        return false;
    }
    return true;
}

bool launch_prepare(const struct gemm_launch *launch) {
    return valid(launch) && ready(launch, false);
}

bool launch_enqueue(const struct gemm_launch *launch, const void *parameter) {
    cudaLaunchAttribute attributes[MOST_ATTRIBUTES];
    const cudaLaunchConfig_t config = config_of(launch, attributes);
    void *parameters[] = {(void *)parameter};
    if (cudaLaunchKernelExC(&config, launch->kernel, parameters) == cudaSuccess) return true;
    /* Attributes are the context's. After cudaDeviceReset(), or in another context of the same
     * device, they are not set although `known` says so: once more, and this time set them. */
    cudaGetLastError();
    return ready(launch, true) &&
           cuda_ok(cudaLaunchKernelExC(&config, launch->kernel, parameters), launch->name);
}

/* The parentheses keep the name from being the macro. */
enum gemm_status(gemm_launch_kernel)(const struct gemm_launch *launch, const void *args,
                                     size_t args_bytes) {
    /* A plan may be made after a reset, and its runs need not set attributes. */
    const bool planned = plan_in_the_making;
    if (!valid(launch) || !ready(launch, planned)) return GEMM_LAUNCH_FAILED;
    if (planned) return gemm_plan_add(plan_in_the_making, launch, args, args_bytes);
    return launch_enqueue(launch, args) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_launch_planned(const struct gemm_planned *planned) {
    return launch_enqueue(&planned->launch, &planned->parameter) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream) {
    if (plan_in_the_making) return GEMM_UNSUPPORTED;
    if (!cuda_ok(cudaMemsetAsync(memory, 0, bytes, (cudaStream_t)stream), "zeroing device memory"))
        return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

int gemm_sm_count(void) {
    pthread_mutex_lock(&known_mutex);
    const struct known_device *device = current_device();
    const int count = device ? device->sm_count : 0;
    pthread_mutex_unlock(&known_mutex);
    return count;
}

struct gemm_rates gemm_device_rates(void) {
    struct gemm_rates rates = {1, 1};
    pthread_mutex_lock(&known_mutex);
    const struct known_device *device = current_device();
    if (device) rates = device->rates;
    pthread_mutex_unlock(&known_mutex);
    return rates;
}

/* Asks the runtime for what gemm_resident_clusters() returns. False after a message. */
static bool ask_for_residency(const struct gemm_launch *launch, int sm_count, int *resident) {
    if (launch->cluster > 1) {
        cudaLaunchAttribute attributes[MOST_ATTRIBUTES];
        cudaLaunchConfig_t config = config_of(launch, attributes);
        config.gridDim.x = (unsigned)(launch->cluster * sm_count); /* any that is valid */
        return cuda_ok(cudaOccupancyMaxActiveClusters(resident, launch->kernel, &config),
                       launch->name);
    }
    if (!cuda_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, launch->kernel,
                                                               launch->threads, launch->smem_bytes),
                 launch->name))
        return false;
    *resident *= sm_count;
    return true;
}

int gemm_resident_clusters(const struct gemm_launch *launch) {
    if (launch->cluster < 1 || launch->cluster > MAX_CLUSTER) return 0; /* a launch reports it */
    pthread_mutex_lock(&known_mutex);
    struct known_device *device = current_device();
    struct known_kernel *entry = device ? find(device, launch) : NULL;
    int resident = 0;
    if (is_for(entry, launch) && entry->resident[launch->cluster] > 0) {
        resident = entry->resident[launch->cluster] - 1;
        /* The answer depends on the kernel's attributes, and a reset takes those back. */
    } else if (device && (entry = prepare(device, launch, true)) &&
               ask_for_residency(launch, device->sm_count, &resident)) {
        entry->resident[launch->cluster] = (uint16_t)(resident + 1);
    } else {
        resident = 0; /* whatever the failed question has left there */
        question_failed = true;
    }
    pthread_mutex_unlock(&known_mutex);
    return resident;
}

bool gemm_questions_failed(void) {
    const bool failed = question_failed;
    question_failed = false;
    return failed;
}
