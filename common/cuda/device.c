/*
 * device.c: opening a Hopper card, its memory, and what the runtime knows of a kernel.
 *
 * CUDA Runtime API: "Device Management", "Memory Management", "Driver Entry Point Access".
 */
#define _GNU_SOURCE /* program_invocation_name */
#include "cuda/device.h"

#include <cuda.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cuda/baselines.h"
#include "cuda/checksum.h"
#include "cuda/nvml.h"
#include "harness/backend.h"

struct cuda_device cuda_device;

bool cuda_ok(cudaError_t status, const char *attempt) {
    if (status == cudaSuccess) return true;
    fprintf(stderr, "CUDA: %s: %s\n", attempt, cudaGetErrorString(status));
    cudaGetLastError(); /* a failed launch must not be blamed on the next call */
    return false;
}

void *cuda_driver_function(const char *name, unsigned version) {
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    if (!cuda_ok(
            cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found),
            name))
        return NULL;
    if (found != cudaDriverEntryPointSuccess) {
        fprintf(stderr, "CUDA: the driver has no %s; install a driver of CUDA %u.%u or later\n",
                name, version / 1000, version % 1000 / 10);
        return NULL;
    }
    return function;
}

/* Names the program that needs no card: the same one under sim/ instead of gpu/. */
static void point_to_simulator(const char *reason) {
    const char *program = program_invocation_name;
    const char *name = strrchr(program, '/');
    name = name ? name + 1 : program;
    const int directory = (int)(name - program);
    if (directory >= 4 && memcmp(name - 4, "gpu/", 4) == 0)
        fprintf(stderr, "%s: %s; %.*ssim/%s runs in the simulator, without a GPU\n", name, reason,
                directory - 4, program, name);
    else
        fprintf(stderr, "%s: %s; build/sim/%s runs in the simulator, without a GPU\n", name, reason,
                name);
}

/* The first device of compute capability 9.0 into `ordinal`; or says what there is instead. */
static bool find_hopper(int *ordinal, struct cudaDeviceProp *properties) {
    char reason[512];
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        int driver = 0;
        const bool no_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
        snprintf(reason, sizeof reason, "no CUDA device (%s)",
                 no_driver               ? "no NVIDIA driver is installed"
                 : status == cudaSuccess ? "none is visible"
                                         : cudaGetErrorString(status));
        point_to_simulator(reason);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (cudaGetDeviceProperties(properties, i) != cudaSuccess) continue;
        if (properties->major == 9 && properties->minor == 0) {
            *ordinal = i;
            return true;
        }
    }
    if (cudaGetDeviceProperties(properties, 0) == cudaSuccess)
        snprintf(reason, sizeof reason,
                 "no device of compute capability 9.0 (Hopper); device 0 is %s, %d.%d",
                 properties->name, properties->major, properties->minor);
    else
        snprintf(reason, sizeof reason, "no device of compute capability 9.0 (Hopper)");
    point_to_simulator(reason);
    return false;
}

enum exit_code backend_open(const struct backend_options *options, struct device_info *info) {
    struct cudaDeviceProp properties;
    memset(info, 0, sizeof *info);
    memset(&cuda_device, 0, sizeof cuda_device);
    if (!find_hopper(&cuda_device.ordinal, &properties)) return EXIT_NO_DEVICE;
    size_t free_bytes = 0, total_bytes = 0;
    if (!cuda_ok(cudaSetDevice(cuda_device.ordinal), "opening the device") ||
        !cuda_ok(cudaStreamCreate(&cuda_device.stream), "creating a stream") ||
        !cuda_ok(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the device's free memory"))
        return EXIT_NO_DEVICE;
    cuda_device.sm_count = properties.multiProcessorCount;
    cuda_device.type = options->type;

    info->backend = "cuda";
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    info->sm_count = properties.multiProcessorCount;
    info->memory_bytes = free_bytes;
    info->l2_bytes = (size_t)properties.l2CacheSize;
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
        snprintf(info->toolkit, sizeof info->toolkit, "CUDA %d.%d", runtime / 1000,
                 runtime % 1000 / 10);
    char bus_id[32];
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, cuda_device.ordinal) == cudaSuccess)
        nvml_open(bus_id, info->driver, sizeof info->driver, &info->power_limit_w);
    return EXIT_VERIFIED;
}

void backend_close(void) {
    cublas_close();
    cublaslt_close();
    ceiling_close();
    timer_close();
    nvml_close();
    if (cuda_device.stream) cudaStreamDestroy(cuda_device.stream);
    cuda_device.stream = NULL;
}

void *backend_alloc(size_t bytes, const char *label, bool writable) {
    (void)label, (void)writable; /* only the simulator watches who writes where */
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
    cudaGetLastError();
    return NULL;
}

void backend_free(void *memory) { cuda_ok(cudaFree(memory), "freeing device memory"); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    return cuda_ok(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice),
                   "copying to the device");
}

bool backend_copy_out(void *host, const void *device, size_t bytes) {
    return cuda_ok(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost),
                   "copying from the device");
}

bool backend_copy(void *device_to, const void *device_from, size_t bytes) {
    return cuda_ok(cudaMemcpy(device_to, device_from, bytes, cudaMemcpyDeviceToDevice),
                   "copying on the device");
}

/* The runtime fills with bytes only; the driver also with 16-bit words. */
bool backend_fill(void *device, uint16_t pattern, size_t elements) {
    typedef CUresult fill_function(CUdeviceptr, unsigned short, size_t);
    static fill_function *fill;
    if (!fill) fill = (fill_function *)cuda_driver_function("cuMemsetD16", 12000);
    if (!fill) return false;
    const CUresult status = elements ? fill((CUdeviceptr)device, pattern, elements) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS) return true;
    fprintf(stderr, "CUDA: filling %zu elements of device memory: error %d\n", elements,
            (int)status);
    return false;
}

bool backend_checksum(const void *device, size_t elements, uint64_t *sum) {
    static unsigned long long *on_device;
    if (!on_device &&
        !cuda_ok(cudaMalloc((void **)&on_device, sizeof *on_device), "allocating a checksum"))
        return false;
    return cuda_ok(cudaMemsetAsync(on_device, 0, sizeof *on_device, cuda_device.stream),
                   "zeroing a checksum") &&
           cuda_ok(checksum_add(device, elements, on_device, cuda_device.stream),
                   "taking a checksum") &&
           cuda_ok(cudaMemcpyAsync(sum, on_device, sizeof *sum, cudaMemcpyDeviceToHost,
                                   cuda_device.stream),
                   "reading a checksum") &&
           cuda_ok(cudaStreamSynchronize(cuda_device.stream), "taking a checksum");
}

struct stage_info backend_stage_info(const struct gemm_stage *stage) {
    struct stage_info info = {0, 0};
    struct cudaFuncAttributes attributes;
    if (!cuda_ok(cudaFuncGetAttributes(&attributes, stage->kernel), stage->name)) return info;
    info.registers = attributes.numRegs;
    if (cuda_ok(cudaFuncSetAttribute(stage->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)stage->smem_bytes),
                stage->name))
        cuda_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&info.ctas_per_sm, stage->kernel,
                                                              stage->threads, stage->smem_bytes),
                stage->name);
    return info;
}
