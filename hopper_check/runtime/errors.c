/* errors.c: CUDA Runtime API, "Error Handling". */
#include "runtime/errors.h"

static __thread cudaError_t last;
static cudaError_t lost;

cudaError_t errors_note(cudaError_t error) {
    if (error) last = error;
    return error;
}

cudaError_t errors_lose(cudaError_t error) { return lost = error; }
cudaError_t errors_lost(void) { return lost; }

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last;
    last = lost;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last; }

static const struct {
    cudaError_t error;
    const char *name, *text;
} known[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "Invalid cluster size"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
};

const char *cudaGetErrorName(cudaError_t error) {
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i].error == error) return known[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i].error == error) return known[i].text;
    return "unrecognized error code";
}
