/*
 * find_device.c: which of the machine's GPUs a program runs on.
 *
 * CUDA Runtime API: "Device Management".
 */
#define _GNU_SOURCE /* program_invocation_name */
#include "gpu/find_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Names the program that needs no GPU: the same one under sim/ instead of gpu/. */
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

static int capability_of(const struct cudaDeviceProp *properties) {
    return 10 * properties->major + properties->minor;
}

static void complain_no_device(cudaError_t status) {
    char reason[512];
    int driver = 0;
    const bool no_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    snprintf(reason, sizeof reason, "no CUDA device (%s)",
             no_driver               ? "no NVIDIA driver is installed"
             : status == cudaSuccess ? "none is visible"
                                     : cudaGetErrorString(status));
    point_to_simulator(reason);
}

static void complain_none_will_do(enum gemm_machine machine, int oldest) {
    const struct gemm_machine_record *const own = gemm_machine_record(machine);
    char reason[512], needed[64];
    struct cudaDeviceProp first;
    if (oldest)
        snprintf(needed, sizeof needed, "%d.%d or later", oldest / 10, oldest % 10);
    else
        snprintf(needed, sizeof needed, "%d.%d (%s)", own->capability / 10, own->capability % 10,
                 own->name);
    if (cudaGetDeviceProperties(&first, 0) == cudaSuccess)
        snprintf(reason, sizeof reason, "no device of compute capability %s; device 0 is %s, %d.%d",
                 needed, first.name, first.major, first.minor);
    else
        snprintf(reason, sizeof reason, "no device of compute capability %s", needed);
    point_to_simulator(reason);
}

bool find_device(enum gemm_machine machine, int oldest, int *ordinal,
                 struct cudaDeviceProp *properties) {
    const int own = gemm_machine_record(machine)->capability;
    int count = 0, best = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        complain_no_device(status);
        return false;
    }
    for (int i = 0; i < count && best != own; ++i) {
        struct cudaDeviceProp found;
        if (cudaGetDeviceProperties(&found, i) != cudaSuccess) continue;
        const int capability = capability_of(&found);
        if (capability != own && (oldest == 0 || capability < oldest || capability <= best))
            continue;
        best = capability;
        *ordinal = i;
        *properties = found;
    }
    if (!best) complain_none_will_do(machine, oldest);
    return best != 0;
}
