/* driver.c: CUDA Driver API: contexts, modules of PTX, memory, launches. The runtime's functions do
 * the work; a CUfunction is a kernel, and an error has the same number in both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/errors.h"
#include "runtime/fat_binary.h"
#include "runtime/launching.h"
#include "runtime/memory.h"
#include "runtime/session.h"

static CUresult result(cudaError_t error) { return (CUresult)error; }
static void *pointer(CUdeviceptr address) { return (void *)(uintptr_t)address; }

/* ---- devices and contexts ---- */

static int context; /* there is one; this is its address */

CUresult cuInit(unsigned flags) { return (void)flags, (void)session_get(), CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = 0;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    (void)device;
    snprintf(name, (size_t)size, "%s", DEVICE_NAME);
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    (void)device;
    return *bytes = DEVICE_BYTES, CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    return *value = device_attribute((int)attribute), CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    (void)device;
    return *out = (CUcontext)&context, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return (void)device, CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext *out) { return *out = (CUcontext)&context, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext in) { return (void)in, CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext in) { return (void)in, CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext *out) {
    if (out) *out = (CUcontext)&context;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxDestroy(CUcontext in) { return (void)in, CUDA_SUCCESS; }
CUresult cuCtxSynchronize(void) { return result(cudaDeviceSynchronize()); }
#if CUDA_VERSION >= 13000
CUresult cuCtxCreate(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice device) {
    (void)params, (void)flags;
    return cuDevicePrimaryCtxRetain(out, device);
}
#endif
#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) {
    (void)flags;
    return cuDevicePrimaryCtxRetain(out, device);
}

CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = error == CUDA_SUCCESS               ? "CUDA_SUCCESS"
            : error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
            : error == CUDA_ERROR_NOT_FOUND     ? "CUDA_ERROR_NOT_FOUND"
                                                : cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    struct fat_ptx found;
    session_get();
    if (fat_binary_ptx(image, &found)) {
        free(found.text);
        *module = (CUmodule)module_new(image);
    } else if (!memcmp(image, "\177ELF", 4)) {
        session_refuse(REFUSED_INPUT, "the program loads machine code (a cubin), and not PTX");
    } else {
        *module = (CUmodule)module_of_text(image);
    }
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}
CUresult cuModuleLoad(CUmodule *module, const char *path) {
    FILE *const in = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    if (!in) return CUDA_ERROR_FILE_NOT_FOUND;
    const bool read = getdelim(&text, &size, 0, in) > 0; /* PTX has no NUL */
    fclose(in);
    return read ? cuModuleLoadData(module, text) : CUDA_ERROR_INVALID_IMAGE;
}
CUresult cuModuleUnload(CUmodule module) { return (void)module, CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    session_enter();
    *function = (CUfunction)module_kernel((struct module *)module, name);
    session_leave();
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    size_t size = 0;
    session_enter();
    const void *const found = module_symbol((struct module *)module, name, &size);
    session_leave();
    if (address) *address = (CUdeviceptr)(uintptr_t)found;
    if (bytes) *bytes = size;
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- memory ---- */

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    void *memory = NULL;
    const cudaError_t error = memory_new(&memory, bytes, "cuMemAlloc", BLOCK_DEVICE);
    *address = (CUdeviceptr)(uintptr_t)memory;
    return result(error);
}
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    return (void)flags, cuMemAlloc(address, bytes);
}
CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags) {
    return result(cudaHostRegister(memory, bytes, flags));
}
CUresult cuMemHostUnregister(void *memory) { return result(cudaHostUnregister(memory)); }
CUresult cuMemFree(CUdeviceptr address) {
    return result(memory_free(pointer(address), KIND(BLOCK_DEVICE) | KIND(BLOCK_MANAGED)));
}
CUresult cuMemAllocHost(void **memory, size_t bytes) {
    return result(memory_new(memory, bytes, "cuMemAllocHost", BLOCK_PINNED));
}
CUresult cuMemFreeHost(void *memory) { return result(memory_free(memory, KIND(BLOCK_PINNED))); }
CUresult cuMemGetInfo(size_t *available, size_t *total) {
    return result(cudaMemGetInfo(available, total));
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return result(memory_copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return launch_uses(stream), cuMemcpy(to, from, bytes);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    return result(memory_copy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    return result(memory_copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return result(memory_copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return launch_uses(stream), cuMemcpyHtoD(to, from, bytes);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return launch_uses(stream), cuMemcpyDtoH(to, from, bytes);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return launch_uses(stream), cuMemcpyDtoD(to, from, bytes);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    return result(memory_fill(pointer(to), 0, value, 1, count, 1));
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
    return result(memory_fill(pointer(to), 0, value, 2, count, 1));
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    return result(memory_fill(pointer(to), 0, value, 4, count, 1));
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return launch_uses(stream), cuMemsetD8(to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return launch_uses(stream), cuMemsetD16(to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return launch_uses(stream), cuMemsetD32(to, value, count);
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    return result(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamDestroy(CUstream stream) { return result(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return result(cudaStreamSynchronize(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return result(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuEventCreate(CUevent *event, unsigned flags) {
    return result(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) { return result(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
    return result(cudaEventRecord(event, stream));
}
CUresult cuEventSynchronize(CUevent event) { return result(cudaEventSynchronize(event)); }
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return result(cudaEventElapsedTime(milliseconds, start, end));
}

/* ---- launches ---- */

/* "extra": a list of keys and values that ends with CU_LAUNCH_PARAM_END. */
static void take_extra(void **extra, struct request *r) {
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) r->packed = extra[1];
        if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            memcpy(&r->packed_bytes, extra[1], sizeof(size_t));
    }
}

static CUresult launch(struct request *r, void **extra) {
    take_extra(extra, r);
    return result(launch_request(r));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra) {
    struct request r = {.handle = function,
                        .grid = {(int)grid_x, (int)grid_y, (int)grid_z},
                        .block = {(int)block_x, (int)block_y, (int)block_z},
                        .dynamic_shared = shared,
                        .argument = arguments,
                        .stream = stream};
    return launch(&r, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **extra) {
    struct request r = {
        .handle = function,
        .grid = {(int)config->gridDimX, (int)config->gridDimY, (int)config->gridDimZ},
        .block = {(int)config->blockDimX, (int)config->blockDimY, (int)config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
        .argument = arguments,
        .stream = config->hStream};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const CUlaunchAttribute *const a = &config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            r.cluster = (struct three){(int)a->value.clusterDim.x, (int)a->value.clusterDim.y,
                                       (int)a->value.clusterDim.z};
        if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) r.cooperative = a->value.cooperative != 0;
        if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            r.early = a->value.programmaticStreamSerializationAllowed != 0;
    }
    return launch(&r, extra);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return result(
        cudaFuncSetAttribute((const void *)function, (enum cudaFuncAttribute)attribute, value));
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    return (void)function, (void)config, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, CUfunction function, int threads,
                                                     size_t shared) {
    return result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, (const void *)function,
                                                                threads, shared));
}
