/* api_launch.c: what nvcc's own code calls, and CUDA Runtime API, "Execution Control" and
 * "Occupancy". */
#include <string.h>

#include "runtime/errors.h"
#include "runtime/graphs.h"
#include "runtime/launching.h"
#include "runtime/memory.h"
#include "runtime/session.h"
#include "sim/order/launches_ahead.h"

/* ---- registration: crt/host_runtime.h ---- */

void **__cudaRegisterFatBinary(const void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *s);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

void **__cudaRegisterFatBinary(const void *binary) { return (void **)module_new(binary); }
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
char __cudaInitModule(void **handle) { return (void)handle, 1; }

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size) {
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    module_add_kernel((struct module *)handle, host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global) {
    (void)device, (void)external, (void)constant, (void)global;
    module_add_symbol((struct module *)handle, host, name, bytes);
}

/* The host reads the variable's address at once. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global) {
    __cudaRegisterVar(handle, (char *)host, device, name, external, bytes, constant, global);
    session_enter();
    *host = module_symbol((struct module *)handle, name, &bytes);
    session_leave();
}

/* ---- launches ---- */

static __thread struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *s) {
    pushed.grid = grid;
    pushed.block = block;
    pushed.shared = shared;
    pushed.stream = s;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    memcpy(stream, &pushed.stream, sizeof pushed.stream);
    return cudaSuccess;
}

static struct three three_of(dim3 v) { return (struct three){(int)v.x, (int)v.y, (int)v.z}; }

static struct request request_of(const void *handle, dim3 grid, dim3 block, void **arguments,
                                 size_t shared, cudaStream_t stream) {
    return (struct request){.handle = handle,
                            .grid = three_of(grid),
                            .block = three_of(block),
                            .dynamic_shared = shared,
                            .argument = arguments,
                            .stream = stream};
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream) {
    const struct request r = request_of(host, grid, block, arguments, shared, stream);
    return errors_note(launch_request(&r));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}

/* Clusters are built, and a launch that may begin early is judged as one. What else an attribute
 * says changes no result here: priorities, carveouts. */
static struct request request_of_config(const void *handle, const cudaLaunchConfig_t *config,
                                        void **arguments) {
    struct request r = request_of(handle, config->gridDim, config->blockDim, arguments,
                                  config->dynamicSmemBytes, config->stream);
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute *const a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeClusterDimension)
            r.cluster = (struct three){(int)a->val.clusterDim.x, (int)a->val.clusterDim.y,
                                       (int)a->val.clusterDim.z};
        if (a->id == cudaLaunchAttributeCooperative) r.cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization)
            r.early = a->val.programmaticStreamSerializationAllowed != 0;
    }
    return r;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host,
                                void **arguments) {
    const struct request r = request_of_config(host, config, arguments);
    return errors_note(launch_request(&r));
}

cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream) {
    struct request r = request_of(host, grid, block, arguments, shared, stream);
    r.cooperative = true;
    return errors_note(launch_request(&r));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    if (capture_of(stream)) return errors_note(capture_call(stream, function, data));
    launches_ahead_complete();
    function(data);
    return cudaSuccess;
}

/* ---- kernels ---- */

/* A handle for every function that is registered. Parsing waits for the launch. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    *kernel = (cudaKernel_t)(uintptr_t)host;
    return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    return __cudaGetKernel(kernel, host);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host) {
    *function = (cudaFunction_t)(uintptr_t)host;
    return cudaSuccess;
}

static struct kernel *find(const void *host) {
    session_get();
    session_enter();
    struct kernel *const k = kernel_find(host);
    session_leave();
    return k;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value) {
    enum { MOST_SHARED_BYTES = 227 << 10 };
    struct kernel *const k = find(host);
    if (!k) return errors_note(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value + k->program->static_shared_bytes > MOST_SHARED_BYTES)
        return errors_note(cudaErrorInvalidValue);
    k->most_dynamic_shared = value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config) {
    (void)host, (void)config;
    return cudaSuccess;
}

/* Registers are the assembler's affair: as many as the kernel's bounds leave room for. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host) {
    enum { REGISTERS = 65536, MOST_REGISTERS = 255, MOST_THREADS = 1024, USUAL_SHARED = 48 << 10 };
    const struct kernel *const k = find(host);
    if (!k) return errors_note(cudaErrorInvalidDeviceFunction);
    const int *const declared = k->function->max_threads;
    const int threads = declared[0] ? declared[0] * declared[1] * declared[2] : MOST_THREADS;
    const int registers = REGISTERS / threads / 8 * 8;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = (size_t)k->program->static_shared_bytes;
    attributes->localSizeBytes = (size_t)k->program->local_bytes;
    attributes->maxThreadsPerBlock = threads;
    attributes->numRegs = registers < MOST_REGISTERS ? registers : MOST_REGISTERS;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = k->most_dynamic_shared
                                                ? k->most_dynamic_shared
                                                : USUAL_SHARED - k->program->static_shared_bytes;
    attributes->clusterDimMustBeSet = k->function->cluster[0] != 0;
    attributes->requiredClusterWidth = k->function->cluster[0];
    attributes->requiredClusterHeight = k->function->cluster[1];
    attributes->requiredClusterDepth = k->function->cluster[2];
    return cudaSuccess;
}

/* ---- occupancy ---- */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *host,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
    struct request r =
        request_of(host, (dim3){1, 1, 1}, (dim3){(unsigned)threads, 1, 1}, NULL, shared, NULL);
    (void)flags;
    if (!find(host)) return errors_note(cudaErrorInvalidDeviceFunction);
    r.cluster = (struct three){1, 1, 1};
    *ctas = launch_ctas_per_sm(&r);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *host, int threads,
                                                          size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, host, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int ctas,
                                                      int threads) {
    enum { SM_SHARED_BYTES = 228 << 10, RESERVED = 1 << 10, MOST_SHARED_BYTES = 227 << 10 };
    const struct kernel *const k = find(host);
    (void)threads;
    if (!k) return errors_note(cudaErrorInvalidDeviceFunction);
    if (ctas < 1) return errors_note(cudaErrorInvalidValue);
    const int each = SM_SHARED_BYTES / ctas - RESERVED;
    const int most = each < MOST_SHARED_BYTES ? each : MOST_SHARED_BYTES;
    *bytes = most > k->program->static_shared_bytes
                 ? (size_t)(most - k->program->static_shared_bytes)
                 : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *host,
                                           const cudaLaunchConfig_t *config) {
    const struct request r = request_of_config(host, config, NULL);
    if (!find(host)) return errors_note(cudaErrorInvalidDeviceFunction);
    *clusters = launch_clusters(&r);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *host,
                                                 const cudaLaunchConfig_t *config) {
    enum { PORTABLE = 8 };
    (void)host, (void)config;
    *size = session_get()->sms < PORTABLE ? session_get()->sms : PORTABLE;
    return cudaSuccess;
}
