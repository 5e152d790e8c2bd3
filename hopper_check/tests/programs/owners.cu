// owners.cu [WHAT]: whose memory is it? The host may touch what is pinned, managed or registered,
// and each kind has its own function that frees it. WHAT: the host touches memory of the GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void count(int *out) { out[threadIdx.x] = (int)threadIdx.x; }

static bool is(const void *pointer, cudaMemoryType type) {
    cudaPointerAttributes a;
    return cudaPointerGetAttributes(&a, pointer) == cudaSuccess && a.type == type &&
           (a.hostPointer == pointer) ==
               (type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged);
}

__device__ int variable;

int main(int arguments, char **argument) {
    const char *const what = arguments > 1 ? argument[1] : "";
    int *device, *pinned, *managed, *pooled, *again, own, registered[64], copy[64];
    void *symbol;
    cudaMalloc(&device, 64 * sizeof *device);
    cudaMallocAsync(&pooled, 64 * sizeof *pooled, 0);
    cudaMallocHost(&pinned, 64 * sizeof *pinned);
    cudaMallocManaged(&managed, 64 * sizeof *managed);
    cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault);
    cudaGetSymbolAddress(&symbol, variable);
    if (!strcmp(what, "first")) device[63] = 1; // before any launch
    count<<<1, 64>>>(device);
    count<<<1, 64>>>(pooled);
    count<<<1, 64>>>(managed);
    if (!strcmp(what, "read")) return device[0];
    if (!strcmp(what, "write")) pooled[1] = 0;
    if (!strcmp(what, "copy")) memcpy(copy, device + 1, 2 * arguments); // not inlined
    if (!strcmp(what, "freed")) {
        cudaFreeAsync(pooled, 0);
        cudaMalloc(&again, 64 * sizeof *again);
        count<<<1, 64>>>(pooled);
    }
    if (!strcmp(what, "other")) return *(volatile int *)(device + 64 * 1024);
    cudaMemcpy(copy, device, sizeof copy, cudaMemcpyDeviceToHost);
    bool right = copy[9] == 9 && managed[9] == 9;
    right &= is(device, cudaMemoryTypeDevice) && is(pooled, cudaMemoryTypeDevice);
    right &= is(symbol, cudaMemoryTypeDevice) && is(&own, cudaMemoryTypeUnregistered);
    right &= is(pinned, cudaMemoryTypeHost) && is(registered + 1, cudaMemoryTypeHost);
    right &= is(managed, cudaMemoryTypeManaged);
    right &= cudaFree(pinned) == cudaErrorInvalidValue;
    right &= cudaFreeHost(device) == cudaErrorInvalidValue;
    right &= cudaFreeHost(managed) == cudaErrorInvalidValue;
    right &= cudaHostUnregister(pinned) == cudaErrorHostMemoryNotRegistered;
    right &= cudaFree(device) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess;
    right &= cudaFree(managed) == cudaSuccess && cudaFreeAsync(pooled, 0) == cudaSuccess;
    right &= cudaHostUnregister(registered) == cudaSuccess;
    return !right;
}
