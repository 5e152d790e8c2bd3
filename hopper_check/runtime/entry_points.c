/* entry_points.c: CUDA Runtime API, "Driver Entry Point Access": the driver's functions, by
 * name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/errors.h"
#include "runtime/session.h"

/* A name of an earlier version stands for the latest one, which is what this library has. */
static void *find(const char *name) {
    static void *self;
    char versioned[128];
    Dl_info info;
    if (!self && dladdr((void *)find, &info)) self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    void *const found = self ? dlsym(self, versioned) : NULL;
    return found || !self ? found : dlsym(self, name);
}

#undef cudaGetDriverEntryPoint
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
    (void)version, (void)flags;
    *function = find(name);
    if (result)
        *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
    return cudaGetDriverEntryPointByVersion(name, function, CUDA_VERSION, flags, result);
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *result) {
    (void)version, (void)flags;
    *function = find(name);
    if (result)
        *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
