/*
 * services_devices.c: the services of a chapter for several devices: one kernel on each, and copies
 * between them.
 */
#include <stdio.h>

#include "services/devices.h"
#include "gpu/cuda_call.h"
#include "gpu/devices.h"
#include "gpu/launch.h"

/* Enqueues the copies, each on the stream of its device. */
static bool enqueue_copies(const struct gemm_copy *copies, int count,
                           const cudaStream_t streams[GEMM_DEVICES]) {
    bool good = true;
    for (int i = 0; i < count && good; ++i)
        if (copies[i].bytes)
            good = devices_select(copies[i].device) &&
                   cuda_ok(cudaMemcpyAsync(copies[i].to, copies[i].from, copies[i].bytes,
                                           cudaMemcpyDefault, streams[copies[i].device]),
                           "copying between devices");
    return good;
}

/* All CTAs of a launch fit on the current device, if they have to. False after a message. */
static bool fits(const struct gemm_launch *launch) {
    if (!launch->together) return true;
    const int resident = launch->cluster * gemm_resident_clusters(launch);
    if (launch->grid <= resident) return true;
    fprintf(stderr, "%s: its %d CTAs wait for each other, and only %d fit on a device at once\n",
            launch->name, launch->grid, resident);
    return false;
}

/* The kernels wait for each other, so none may start if another one cannot. */
static bool prepare_all(const struct gemm_launch *launch, int devices) {
    bool good = true;
    for (int i = 0; i < devices && devices <= devices_count() && good; ++i)
        good = devices_select(i) && launch_prepare(launch) && fits(launch);
    return good;
}

/* Sets each byte of a device's words on a stream that does not wait for its kernel. */
static void set_flags(const struct gemm_device_args *own, int byte, size_t bytes) {
    cudaStream_t beside;
    if (!devices_select(own->device) ||
        !cuda_ok(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "making a stream"))
        return;
    if (cuda_ok(cudaMemsetAsync(own->flags[own->device], byte, bytes, beside), "setting flags"))
        cuda_ok(cudaStreamSynchronize(beside), "setting flags");
    cudaStreamDestroy(beside);
}

/* Lets the kernels end that have begun on the first `begun` devices and wait for one that never
 * comes. Each waits for words in its own device's memory to be set, or to be large enough. */
static void let_end(const struct gemm_launch *launch, const struct gemm_device_args *args,
                    int begun, int devices, const cudaStream_t streams[GEMM_DEVICES]) {
    const size_t bytes = launch->flags * sizeof *args->flags[0];
    enum cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
    if (!bytes || cudaStreamIsCapturing(streams[0], &captured) != cudaSuccess ||
        captured != cudaStreamCaptureStatusNone) /* then none has begun */
        return;
    for (int i = 0; i < begun; ++i)
        set_flags(&args[i], 0x7f, bytes);
    for (int i = 0; i < begun; ++i)
        if (devices_select(i)) cuda_ok(cudaStreamSynchronize(streams[i]), "waiting for a kernel");
    for (int i = 0; i < devices; ++i)
        set_flags(&args[i], 0, bytes);
}

enum gemm_status gemm_launch_devices(const struct gemm_launch *launch,
                                     const struct gemm_device_args *args, int devices) {
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    cudaStream_t streams[GEMM_DEVICES];
    if (!prepare_all(launch, devices)) {
        devices_select(0);
        return GEMM_LAUNCH_FAILED;
    }
    if (!devices_fork(stream, devices, streams)) return GEMM_LAUNCH_FAILED;
    int begun = 0;
    for (bool good = true; begun < devices && good; begun += good) {
        struct gemm_launch own = *launch;
        own.stream = streams[begun];
        good = devices_select(begun) && launch_enqueue(&own, &args[begun]);
    }
    if (begun < devices) let_end(launch, args, begun, devices, streams);
    return devices_join(stream, devices) && begun == devices ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_devices_begin(void *stream) {
    return devices_begin((cudaStream_t)stream) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_devices_end(void *stream) {
    return devices_end((cudaStream_t)stream) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_copy_devices(const struct gemm_copy *copies, int count, void *stream) {
    cudaStream_t streams[GEMM_DEVICES];
    const int devices = devices_count();
    if (!devices_may_copy() || !devices_fork((cudaStream_t)stream, devices, streams))
        return GEMM_LAUNCH_FAILED;
    const bool good = enqueue_copies(copies, count, streams);
    return devices_join((cudaStream_t)stream, devices) && good ? GEMM_OK : GEMM_LAUNCH_FAILED;
}
