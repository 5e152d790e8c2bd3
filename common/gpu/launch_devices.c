/*
 * launch_devices.c: the services of a chapter for several devices: one kernel on each, and copies
 * between them.
 */
#include <stdio.h>

#include "gpu/cuda_call.h"
#include "gpu/devices.h"
#include "gpu/launch.h"

enum gemm_status gemm_launch_devices(const struct gemm_launch *launch,
                                     const struct gemm_device_args *args, int devices) {
    cudaStream_t streams[GEMM_DEVICES];
    struct gemm_launch own = *launch;
    /* The kernels wait for each other, so none may start if another one cannot. */
    for (int i = 0; i < devices && devices <= devices_count(); ++i)
        if (!devices_select(i) || !launch_prepare(launch)) {
            devices_select(0);
            return GEMM_LAUNCH_FAILED;
        }
    if (!devices_fork((cudaStream_t)launch->stream, devices, streams)) return GEMM_LAUNCH_FAILED;
    bool good = true;
    for (int i = 0; i < devices && good; ++i) {
        own.stream = streams[i];
        good = devices_select(i) && launch_enqueue(&own, &args[i]);
    }
    return devices_join((cudaStream_t)launch->stream, devices) && good ? GEMM_OK
                                                                       : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_copy_devices(const struct gemm_copy *copies, int count, void *stream) {
    cudaStream_t streams[GEMM_DEVICES];
    const int devices = devices_count();
    if (!devices_fork((cudaStream_t)stream, devices, streams)) return GEMM_LAUNCH_FAILED;
    bool good = true;
    for (int i = 0; i < count && good; ++i)
        if (copies[i].bytes)
            good = devices_select(copies[i].device) &&
                   cuda_ok(cudaMemcpyAsync(copies[i].to, copies[i].from, copies[i].bytes,
                                           cudaMemcpyDefault, streams[copies[i].device]),
                           "copying between devices");
    return devices_join((cudaStream_t)stream, devices) && good ? GEMM_OK : GEMM_LAUNCH_FAILED;
}
