/*
 * devices.c: GPUs that work together in one process: peer access, a stream for each, and the two
 * events that make several streams part of one.
 *
 * CUDA Runtime API: "Peer Device Memory Access", cudaStreamWaitEvent.
 */
#include "gpu/devices.h"

#include <stdio.h>

#include "gpu/cuda_call.h"

static struct {
    int count;
    int current;
    bool forked; /* between devices_begin() and devices_end() */
    struct {
        int ordinal;
        cudaStream_t stream; /* none of the first, which uses the caller's */
        cudaEvent_t reached; /* the first: where the others begin; else where it goes on after */
        bool reaches[GEMM_DEVICES]; /* the others whose memory this module has opened for it */
    } device[GEMM_DEVICES];
} open;

static bool reach_each_other(int a, int b) {
    int there = 0, back = 0;
    return cudaDeviceCanAccessPeer(&there, a, b) == cudaSuccess && there &&
           cudaDeviceCanAccessPeer(&back, b, a) == cudaSuccess && back;
}

int devices_find(int first, int ordinals[GEMM_DEVICES]) {
    int visible = 0, count = 1;
    ordinals[0] = first;
    if (cudaGetDeviceCount(&visible) != cudaSuccess) return count;
    for (int i = 0; i < visible && count < GEMM_DEVICES; ++i) {
        int major = 0, minor = 0;
        bool reaches = i != first;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i) != cudaSuccess ||
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i) != cudaSuccess ||
            major != 9 || minor != 0)
            continue;
        for (int j = 0; j < count; ++j)
            reaches = reaches && reach_each_other(i, ordinals[j]);
        if (reaches) ordinals[count++] = i;
    }
    cudaGetLastError();
    return count;
}

bool devices_select(int device) {
    open.current = device;
    return cuda_ok(cudaSetDevice(open.device[device].ordinal), "choosing a device");
}

bool devices_select_home(const void *memory) {
    struct cudaPointerAttributes attributes;
    if (open.count < 2) return true;
    if (!cuda_ok(cudaPointerGetAttributes(&attributes, memory), "asking where memory is"))
        return false;
    for (int device = 0; device < open.count; ++device)
        if (open.device[device].ordinal == attributes.device) return devices_select(device);
    return true;
}

bool devices_back(void) {
    if (open.count < 2 || open.current == 0) return true;
    return cuda_ok(cudaDeviceSynchronize(), "waiting for a device") && devices_select(0);
}

bool devices_open(const int *ordinals, int count) {
    for (int i = 0; i < count; ++i)
        open.device[i].ordinal = ordinals[i];
    for (int i = 0; i < count; ++i) {
        open.count = i + 1;
        if (!devices_select(i)) return false;
        for (int j = 0; j < count; ++j) {
            if (j == i) continue;
            const cudaError_t status = cudaDeviceEnablePeerAccess(ordinals[j], 0);
            open.device[i].reaches[j] = status == cudaSuccess;
            if (status == cudaErrorPeerAccessAlreadyEnabled) /* by another library */
                cudaGetLastError();
            else if (!cuda_ok(status, "reaching another device's memory"))
                return false;
        }
        if ((i > 0 && !cuda_ok(cudaStreamCreate(&open.device[i].stream), "creating a stream")) ||
            !cuda_ok(cudaEventCreateWithFlags(&open.device[i].reached, cudaEventDisableTiming),
                     "creating an event"))
            return false;
    }
    return devices_select(0);
}

void devices_close(void) {
    for (int i = open.count - 1; i >= 0; --i) {
        for (int j = 0; j < GEMM_DEVICES; ++j) {
            if (!open.device[i].reaches[j] || !devices_select(i)) continue;
            /* A second cudaDeviceEnablePeerAccess() would be an error. */
            cuda_ok(cudaDeviceDisablePeerAccess(open.device[j].ordinal),
                    "leaving another device's memory");
            open.device[i].reaches[j] = false;
        }
        if (open.device[i].stream) cudaStreamDestroy(open.device[i].stream);
        if (open.device[i].reached) cudaEventDestroy(open.device[i].reached);
        open.device[i].stream = NULL;
        open.device[i].reached = NULL;
    }
    open.count = 0;
}

int devices_count(void) { return open.count; }

bool devices_fork(cudaStream_t stream, int devices, cudaStream_t streams[GEMM_DEVICES]) {
    if (devices < 1 || devices > open.count) {
        fprintf(stderr, "%d devices are to work together, and %d are open: see --gpus\n", devices,
                open.count);
        return false;
    }
    streams[0] = stream;
    for (int i = 1; i < devices; ++i)
        streams[i] = open.device[i].stream;
    if (open.forked) return true;
    if (!devices_select(0) ||
        !cuda_ok(cudaEventRecord(open.device[0].reached, stream), "recording an event"))
        return false;
    for (int i = 1; i < devices; ++i)
        if (!devices_select(i) ||
            !cuda_ok(cudaStreamWaitEvent(streams[i], open.device[0].reached, 0),
                     "ordering two streams"))
            return false;
    return true;
}

bool devices_join(cudaStream_t stream, int devices) {
    bool good = true;
    if (open.forked) return devices_select(0);
    for (int i = 1; i < devices; ++i)
        good &= devices_select(i) &&
                cuda_ok(cudaEventRecord(open.device[i].reached, open.device[i].stream),
                        "recording an event");
    good &= devices_select(0);
    for (int i = 1; i < devices; ++i)
        good &=
            cuda_ok(cudaStreamWaitEvent(stream, open.device[i].reached, 0), "ordering two streams");
    return good;
}

bool devices_begin(cudaStream_t stream) {
    cudaStream_t streams[GEMM_DEVICES];
    open.forked = devices_fork(stream, open.count, streams) && devices_select(0);
    return open.forked;
}

bool devices_end(cudaStream_t stream) {
    open.forked = false;
    return devices_join(stream, open.count);
}

bool devices_may_copy(void) {
    if (open.forked)
        fprintf(stderr, "copies refused: between gemm_devices_begin() and gemm_devices_end() there "
                        "may only be launches by gemm_launch_devices()\n");
    return !open.forked;
}
