/*
 * backend_gpu.c: opening a GPU, its memory, and what the runtime knows of a kernel.
 *
 * CUDA Runtime API: "Device Management", "Memory Management", "Driver Entry Point Access".
 */
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

#include <cuda.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "gpu/baselines.h"
#include "gpu/checksum.h"
#include "gpu/devices.h"
#include "gpu/find_device.h"
#include "gpu/nvml.h"

struct gpu_state gpu_state;

struct backend_setting backend_settings[] = {
    [SETTING_LAUNCHES] = {"--launches", "N",
                          "in each run that is not timed (default 1). Kernels for several GPUs\n"
                          "may begin one while other GPUs are in the one before",
                          NULL, 1, MOST_LAUNCHES, 1},
};
const int backend_setting_count = SETTINGS;
const char *const backend_settings_heading = "The GPU";

const char *backend_lacks(const char *option) {
    static const char *const simulated[] = {"--sms",     "--schedule", "--schedule-seed",
                                            "--hazards", "--doubtful", "--step-limit",
                                            "--explain", "--check"};
    for (size_t i = 0; i < sizeof simulated / sizeof *simulated; ++i)
        if (strcmp(option, simulated[i]) == 0)
            return "only the simulator's programs (build/sim) have this option";
    return NULL;
}

void backend_hold_reports(void) {}

const char *backend_report(int index) {
    (void)index;
    return NULL;
}

double backend_expected_seconds(const struct gemm_kernel *kernel, int m, int n, int k) {
    (void)kernel, (void)m, (void)n, (void)k;
    return 0;
}

int backend_check_runs(const struct gemm_kernel *kernel, struct check_run *runs) {
    (void)kernel, (void)runs;
    return 0; /* backend_lacks("--check") */
}

void backend_check_draw(const struct gemm_kernel *kernel, uint64_t *random, struct check_run *run) {
    (void)kernel, (void)random, (void)run;
}

enum exit_code backend_open(const struct backend_options *options, struct backend_info *info) {
    struct cudaDeviceProp properties;
    memset(info, 0, sizeof *info);
    memset(&gpu_state, 0, sizeof gpu_state);
    if (!find_device(options->machine, options->oldest, &gpu_state.ordinal, &properties))
        return EXIT_NO_DEVICE;
    size_t free_bytes = 0, total_bytes = 0;
    if (!cuda_ok(cudaSetDevice(gpu_state.ordinal), "opening the device") ||
        !cuda_ok(cudaStreamCreate(&gpu_state.stream), "creating a stream") ||
        !cuda_ok(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the device's free memory"))
        return EXIT_NO_DEVICE;
    gpu_state.sm_count = properties.multiProcessorCount;
    gpu_state.type = options->type;
    gpu_state.is_hopper = properties.major == 9 && properties.minor == 0;

    info->backend = "cuda";
    info->compute_capability = 10 * properties.major + properties.minor;
    info->machine = options->machine;
    info->smem_bytes = properties.sharedMemPerBlockOptin;
    int ordinals[GEMM_DEVICES] = {gpu_state.ordinal};
    info->gpus = gpu_state.is_hopper ? devices_find(gpu_state.ordinal, ordinals) : 1;
    info->gpus_open = options->gpus > 1 && options->gpus <= info->gpus ? options->gpus : 1;
    if (!devices_open(ordinals, info->gpus_open)) return EXIT_NO_DEVICE;
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    info->sm_count = properties.multiProcessorCount;
    info->memory_bytes = free_bytes;
    info->l2_bytes = (size_t)properties.l2CacheSize;
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
        snprintf(info->toolkit, sizeof info->toolkit, "CUDA %d.%d", runtime / 1000,
                 runtime % 1000 / 10);
    char bus_id[32];
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, gpu_state.ordinal) == cudaSuccess)
        nvml_open(bus_id, info->driver, sizeof info->driver, &info->power_limit_w);
    if (options->times) nvml_warn(info->power_limit_w);
    return EXIT_VERIFIED;
}

void backend_close(void) {
    cublas_close();
    cublaslt_close();
    ceiling_close();
#ifdef HOPPER_DEEPGEMM
    deepgemm_close();
#endif
#ifdef HOPPER_CUTLASS
    cutlass_close();
#endif
    timer_close();
    nvml_close();
    devices_close();
    if (gpu_state.stream) cudaStreamDestroy(gpu_state.stream);
    gpu_state.stream = NULL;
}

void *backend_alloc(size_t bytes, const char *label, bool writable) {
    (void)label, (void)writable; /* only the simulator watches who writes where */
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
    cudaGetLastError();
    return NULL;
}

void *backend_alloc_on(int gpu, size_t bytes, const char *label, bool writable) {
    void *memory = devices_select(gpu) ? backend_alloc(bytes, label, writable) : NULL;
    return devices_back() ? memory : NULL;
}

void backend_free(void *memory) { cuda_ok(cudaFree(memory), "freeing device memory"); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    return devices_select_home(device) &&
           cuda_ok(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice),
                   "copying to the device") &&
           devices_back();
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
    if (!devices_select_home(device)) return false;
    const CUresult status = elements ? fill((CUdeviceptr)device, pattern, elements) : CUDA_SUCCESS;
    if (!devices_back()) return false;
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
    return cuda_ok(cudaMemsetAsync(on_device, 0, sizeof *on_device, gpu_state.stream),
                   "zeroing a checksum") &&
           cuda_ok(checksum_add(device, elements, on_device, gpu_state.stream),
                   "taking a checksum") &&
           cuda_ok(cudaMemcpyAsync(sum, on_device, sizeof *sum, cudaMemcpyDeviceToHost,
                                   gpu_state.stream),
                   "reading a checksum") &&
           cuda_ok(cudaStreamSynchronize(gpu_state.stream), "taking a checksum");
}

struct kernel_info backend_kernel_info(const struct gemm_kernel *kernel) {
    struct kernel_info info = {0, 0};
    struct cudaFuncAttributes attributes;
    if (!cuda_ok(cudaFuncGetAttributes(&attributes, kernel->function), kernel->name)) return info;
    info.registers = attributes.numRegs;
    if (cuda_ok(cudaFuncSetAttribute(kernel->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)kernel->smem_bytes),
                kernel->name))
        cuda_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&info.ctas_per_sm, kernel->function,
                                                              kernel->threads, kernel->smem_bytes),
                kernel->name);
    return info;
}
