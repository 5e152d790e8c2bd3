/* fake_runtime.c: the calls of the runtime. */
#include "tests/gpu/fake_runtime.h"

#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct fake_runtime fake = {.smem = {FAKE_DEFAULT_SMEM, FAKE_DEFAULT_SMEM}};
_Thread_local int fake_device;
_Thread_local uintptr_t fake_caller;

void fake_forget_calls(void) {
    fake.launches = fake.attributes = fake.encoded = fake.moved = fake.devices_asked = 0;
    fake.others = 0;
}

void fake_reset(int device) { fake.smem[device] = FAKE_DEFAULT_SMEM; }

static pthread_mutex_t fake_mutex = PTHREAD_MUTEX_INITIALIZER;

cudaError_t fake_count(int *calls) {
    pthread_mutex_lock(&fake_mutex);
    ++*calls;
    pthread_mutex_unlock(&fake_mutex);
    return cudaSuccess;
}

/* The services ask under their lock. */
cudaError_t cudaGetDevice(int *current) {
    *current = fake_device;
    fake_count(&fake.inside);
    sched_yield();
    pthread_mutex_lock(&fake_mutex);
    fake.unlocked += fake.inside > 1;
    --fake.inside;
    pthread_mutex_unlock(&fake_mutex);
    return fake_count(&fake.devices_asked);
}

cudaError_t cudaSetDevice(int chosen) {
    fake_device = chosen;
    return fake_count(&fake.others);
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = fake.devices;
    return fake_count(&fake.others);
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = 13000;
    return fake_count(&fake.others);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, device ? "second" : "first");
    properties->major = fake.capability[device] / 10;
    properties->minor = fake.capability[device] % 10;
    return fake_count(&fake.others);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int of) {
    (void)attribute, (void)of;
    *value = FAKE_SMS;
    return fake_count(&fake.others);
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                 int value) {
    (void)function;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) fake.smem[fake_device] = value;
    return fake_count(&fake.attributes);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config) {
    (void)function;
    /* As a real one, it takes a kernel's attributes into account. */
    const bool allowed = config->dynamicSmemBytes <= (size_t)fake.smem[fake_device];
    *clusters = allowed ? FAKE_SMS / FAKE_CLUSTER : 0;
    fake_count(&fake.others);
    return fake.no_answer;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t smem) {
    (void)function, (void)threads, (void)smem;
    *blocks = 1;
    return fake_count(&fake.others);
}

static uintptr_t caller_of(const void *pointer) { return (uintptr_t)pointer >> 28; }
static uintptr_t base_of(const struct tensor_map *map) { return (uintptr_t)map->opaque[0]; }

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **parameters) {
    const struct gemm_args *args = parameters[0];
    (void)function;
    fake_count(&fake.launches);
    cudaError_t status = fake.refuse;
    if (config->dynamicSmemBytes > (size_t)fake.smem[fake_device]) status = cudaErrorInvalidValue;
    pthread_mutex_lock(&fake_mutex);
    if (status) fake.last = status;
    const uintptr_t caller = caller_of(args->a);
    fake.mixed_up += caller != fake_caller || caller != caller_of(args->b) ||
                     caller != caller_of(args->d) || base_of(&args->map_a) != (uintptr_t)args->a ||
                     base_of(&args->map_b) != (uintptr_t)args->b ||
                     base_of(&args->map_d) != (uintptr_t)args->d ||
                     (uintptr_t)config->stream != caller;
    fake.args = *args;
    fake.early = false;
    fake.cluster = 0;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization)
            fake.early = attribute->val.programmaticStreamSerializationAllowed == 1;
        if (attribute->id == cudaLaunchAttributeClusterDimension)
            fake.cluster = (int)attribute->val.clusterDim.x;
    }
    pthread_mutex_unlock(&fake_mutex);
    return status;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
    (void)memory, (void)value, (void)bytes, (void)stream;
    return fake_count(&fake.others);
}

const char *cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorInvalidValue ? "invalid argument" : "some error";
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t last = fake.last;
    fake.last = cudaSuccess;
    return last;
}

/* A map: its base, then the promotion into the L2. */
static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                       const cuuint64_t *extents, const cuuint64_t *pitch, const cuuint32_t *box,
                       const cuuint32_t *every, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill) {
    (void)type, (void)rank, (void)extents, (void)pitch, (void)box, (void)every;
    (void)interleave, (void)swizzle, (void)fill;
    const cuuint64_t words[2] = {(cuuint64_t)(uintptr_t)base, promotion};
    memset(map, 0, sizeof *map);
    memcpy(map, words, sizeof words);
    fake_count(&fake.encoded);
    if (fake.meanwhile) fake.meanwhile();
    return fake.refuse_maps ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult replace(CUtensorMap *map, void *base) {
    const cuuint64_t word = (cuuint64_t)(uintptr_t)base;
    memcpy(map, &word, sizeof word);
    fake_count(&fake.moved);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    (void)version, (void)flags;
    *found = cudaDriverEntryPointSuccess;
    *function = strcmp(name, "cuTensorMapEncodeTiled") == 0      ? (void *)encode
                : strcmp(name, "cuTensorMapReplaceAddress") == 0 ? (void *)replace
                                                                 : NULL;
    if (!*function) *found = cudaDriverEntryPointSymbolNotFound;
    return fake_count(&fake.others);
}
