/* api_memory.c: CUDA Runtime API, "Memory Management", "Unified Addressing" and "Stream Ordered
 * Memory Allocator". */
#include <string.h>

#include "runtime/errors.h"
#include "runtime/graphs.h"
#include "runtime/launching.h"
#include "runtime/memory.h"
#include "runtime/modules.h"
#include "runtime/session.h"

/* ---- blocks ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    return errors_note(memory_new(pointer, bytes, "cudaMalloc", BLOCK_DEVICE));
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    if (capture_of(stream)) launch_uses(stream); /* which refuses it */
    return errors_note(memory_new(pointer, bytes, "cudaMallocAsync", BLOCK_DEVICE));
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return errors_note(memory_new(pointer, bytes, "cudaMallocManaged", BLOCK_MANAGED));
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return errors_note(memory_new(pointer, bytes, "cudaMallocHost", BLOCK_PINNED));
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return errors_note(memory_new(pointer, bytes, "cudaHostAlloc", BLOCK_PINNED));
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return errors_note(memory_register(pointer, bytes, "cudaHostRegister"));
}

cudaError_t cudaHostUnregister(void *pointer) {
    const cudaError_t error = memory_free(pointer, KIND(BLOCK_REGISTERED));
    return errors_note(error == cudaErrorInvalidValue ? cudaErrorHostMemoryNotRegistered : error);
}

static size_t pitch_of(size_t width) {
    enum { PITCH_ALIGNMENT = 512 };
    return (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    *pitch = pitch_of(width);
    return errors_note(memory_new(pointer, *pitch * height, "cudaMallocPitch", BLOCK_DEVICE));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *box, struct cudaExtent extent) {
    *box = (struct cudaPitchedPtr){NULL, pitch_of(extent.width), extent.width, extent.height};
    return errors_note(memory_new(&box->ptr, box->pitch * extent.height * extent.depth,
                                  "cudaMalloc3D", BLOCK_DEVICE));
}

cudaError_t cudaFree(void *pointer) {
    return errors_note(memory_free(pointer, KIND(BLOCK_DEVICE) | KIND(BLOCK_MANAGED)));
}
cudaError_t cudaFreeHost(void *pointer) {
    return errors_note(memory_free(pointer, KIND(BLOCK_PINNED)));
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    if (capture_of(stream)) launch_uses(stream);
    return errors_note(memory_free(pointer, KIND(BLOCK_DEVICE)));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    size_t left;
    (void)flags;
    *device = host;
    return errors_note(memory_is_device(host, &left) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    static const size_t BYTES = (size_t)16 << 30; /* what a host may have */
    *available = *total = BYTES;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer) {
    static const enum cudaMemoryType type[] = {[BLOCK_DEVICE] = cudaMemoryTypeDevice,
                                               [BLOCK_PINNED] = cudaMemoryTypeHost,
                                               [BLOCK_MANAGED] = cudaMemoryTypeManaged,
                                               [BLOCK_REGISTERED] = cudaMemoryTypeHost};
    size_t left;
    const bool known = memory_is_device(pointer, &left);
    const struct block *const block = block_of(pointer);
    const enum block_kind kind = block ? block->kind : BLOCK_DEVICE; /* of a variable */
    memset(attributes, 0, sizeof *attributes);
    attributes->type = known ? type[kind] : cudaMemoryTypeUnregistered;
    if (known) attributes->devicePointer = (void *)(uintptr_t)pointer;
    if (known && kind != BLOCK_DEVICE) attributes->hostPointer = (void *)(uintptr_t)pointer;
    return cudaSuccess;
}

/* There is one pool, and what it keeps is a matter of speed. */
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    static int the_pool;
    (void)device;
    return *pool = (cudaMemPool_t)&the_pool, cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value) {
    (void)pool, (void)attribute, (void)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
    (void)pool, (void)bytes;
    return cudaSuccess;
}

/* Where managed memory lies is a matter of speed. CUDA 13 has another way to say it. */
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
    (void)pointer, (void)bytes, (void)location, (void)flags, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
    (void)pointer, (void)bytes, (void)advice, (void)location;
    return cudaSuccess;
}
#else
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
    (void)pointer, (void)bytes, (void)device, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          int device) {
    (void)pointer, (void)bytes, (void)advice, (void)device;
    return cudaSuccess;
}
#endif

/* ---- copies ---- */

/* What a stream is given, or its capture. */
static cudaError_t give(const void *stream, const struct rows *r) {
    if (capture_of(stream)) return errors_note(capture_rows(stream, r));
    launch_uses(stream);
    return errors_note(r->from ? memory_copy_rows(r->to, r->to_pitch, r->from, r->from_pitch,
                                                  r->width, r->height, r->kind)
                               : memory_fill(r->to, r->to_pitch, r->value, 1, r->width, r->height));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return errors_note(memory_copy(to, from, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return give(stream, &(struct rows){to, from, bytes, bytes, bytes, 1, kind, 0});
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes) {
    (void)to_device, (void)from_device;
    return errors_note(memory_copy(to, from, bytes, cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream) {
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    return errors_note(memory_copy_rows(to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return give(stream, &(struct rows){to, from, to_pitch, from_pitch, width, height, kind, 0});
}

static char *corner(struct cudaPitchedPtr box, struct cudaPos at) {
    return (char *)box.ptr + (at.z * box.ysize + at.y) * box.pitch + at.x;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (p->srcArray || p->dstArray)
        session_refuse(REFUSED_INCOMPLETE, "copies to and from an array are not modelled");
    for (size_t z = 0; z < p->extent.depth && !error; ++z) {
        const struct cudaPos from = {p->srcPos.x, p->srcPos.y, p->srcPos.z + z};
        const struct cudaPos to = {p->dstPos.x, p->dstPos.y, p->dstPos.z + z};
        error = give(stream, &(struct rows){corner(p->dstPtr, to), corner(p->srcPtr, from),
                                            p->dstPtr.pitch, p->srcPtr.pitch, p->extent.width,
                                            p->extent.height, p->kind, 0});
    }
    return error;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { return cudaMemcpy3DAsync(p, NULL); }

/* ---- fills ---- */

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    return errors_note(memory_fill(to, 0, (uint32_t)value, 1, bytes, 1));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    return give(stream,
                &(struct rows){.to = to, .width = bytes, .height = 1, .value = (uint32_t)value});
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return errors_note(memory_fill(to, pitch, (uint32_t)value, 1, width, height));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return give(stream, &(struct rows){.to = to,
                                       .to_pitch = pitch,
                                       .width = width,
                                       .height = height,
                                       .value = (uint32_t)value});
}

/* ---- variables ---- */

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
    size_t bytes;
    session_enter();
    *pointer = symbol_find(symbol, &bytes);
    session_leave();
    return errors_note(*pointer ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    session_enter();
    const void *const found = symbol_find(symbol, bytes);
    session_leave();
    return errors_note(found ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    void *to;
    const cudaError_t error = cudaGetSymbolAddress(&to, symbol);
    return error ? error : cudaMemcpy((char *)to + offset, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    void *from;
    const cudaError_t error = cudaGetSymbolAddress(&from, symbol);
    return error ? error : cudaMemcpy(to, (char *)from + offset, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *to;
    const cudaError_t error = cudaGetSymbolAddress(&to, symbol);
    return error ? error : cudaMemcpyAsync((char *)to + offset, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *from;
    const cudaError_t error = cudaGetSymbolAddress(&from, symbol);
    return error ? error : cudaMemcpyAsync(to, (char *)from + offset, bytes, kind, stream);
}
