/* api_device.c: CUDA Runtime API, "Device Management" and "Version Management": one H200, with as
 * many SMs as --sms says. */
#include <string.h>

#include "machine/heap.h"
#include "runtime/device.h"
#include "runtime/errors.h"
#include "runtime/session.h"
#include "sim/order/launches_ahead.h"

cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
    return errors_note(device ? cudaErrorInvalidDevice : cudaSuccess);
}
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) { return (void)flags, cudaSuccess; }
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) {
    launches_ahead_complete();
    return errors_note(errors_lost());
}
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    if (limit == cudaLimitMallocHeapSize) heap_set_limit(value);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    *value = limit == cudaLimitMallocHeapSize ? heap_limit() : 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned *flags) { return *flags = 0, cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
    if (device || size < 1) return errors_note(cudaErrorInvalidValue);
    strncpy(id, "0000:00:00.0", (size_t)size - 1);
    id[size - 1] = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    return (void)config, cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    return *can = 0, cudaSuccess;
}

/* cuda_profiler_api.h */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDA_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    if (device) return errors_note(cudaErrorInvalidDevice);
    *value = device_attribute((int)attribute);
    return cudaSuccess;
}

static int attribute(enum cudaDeviceAttr a) { return device_attribute((int)a); }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    if (device) return errors_note(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    strcpy(p->name, DEVICE_NAME);
    p->totalGlobalMem = DEVICE_BYTES;
    p->sharedMemPerBlock = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    p->warpSize = attribute(cudaDevAttrWarpSize);
    p->memPitch = (size_t)attribute(cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
    for (int i = 0; i < 3; ++i) {
        p->maxThreadsDim[i] = device_attribute((int)cudaDevAttrMaxBlockDimX + i);
        p->maxGridSize[i] = device_attribute((int)cudaDevAttrMaxGridDimX + i);
    }
    p->totalConstMem = (size_t)attribute(cudaDevAttrTotalConstantMemory);
    p->major = attribute(cudaDevAttrComputeCapabilityMajor);
    p->minor = attribute(cudaDevAttrComputeCapabilityMinor);
    p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->managedMemory = p->cooperativeLaunch = p->clusterLaunch = p->memoryPoolsSupported = 1;
    p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
    p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->sharedMemPerMultiprocessor = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->sharedMemPerBlockOptin = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->reservedSharedMemPerBlock = (size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
#if CUDART_VERSION < 13000
    p->clockRate = attribute(cudaDevAttrClockRate);
    p->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
#endif
    return cudaSuccess;
}
