/* memory.c: allocations, copies and fills. A copy beyond the end of a block fails as on a GPU, and
 * says where. */
#include "runtime/memory.h"

#include <stdio.h>
#include <string.h>

#include "machine/unset.h"
#include "runtime/errors.h"
#include "runtime/session.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/order/global_shadow.h"
#include "sim/order/launches_ahead.h"

static const char *name_next(const char *what) {
    static int count;
    char label[96];
    snprintf(label, sizeof label, "%s %d", what, ++count);
    return source_keep(label);
}

cudaError_t memory_register(void *pointer, size_t bytes, const char *what) {
    size_t left;
    if (!pointer || !bytes) return cudaErrorInvalidValue;
    session_get();
    if (memory_is_device(pointer, &left)) return cudaErrorHostMemoryAlreadyRegistered;
    session_enter();
    const bool adopted = block_register(pointer, bytes, name_next(what));
    session_leave();
    return adopted ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Of a larger block the pages behind are left alone. */
static void fill_new(void *memory, size_t bytes) {
    static const size_t most = (size_t)256 << 20;
    memset(memory, UNSET_BYTE, bytes < most ? bytes : most);
}

cudaError_t memory_new(void **pointer, size_t bytes, const char *what, enum block_kind kind) {
    if (!pointer) return cudaErrorInvalidValue;
    session_get();
    if (errors_lost()) return errors_lost();
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    session_enter();
    const char *const label = name_next(what);
    *pointer = block_new(bytes, label, kind);
    if (*pointer) fill_new(*pointer, bytes);
    session_leave();
    if (!*pointer)
        session_note("%s of %zu bytes fails: the host has no memory for it, or there are too many "
                     "blocks",
                     label, bytes);
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t memory_free(void *pointer, unsigned kinds) {
    static const char *const cure[] = {[BLOCK_DEVICE] = "cudaFree",
                                       [BLOCK_PINNED] = "cudaFreeHost",
                                       [BLOCK_MANAGED] = "cudaFree",
                                       [BLOCK_REGISTERED] = "cudaHostUnregister"};
    session_get();
    session_enter();
    const struct block *const block = block_of(pointer);
    const bool begins = block && pointer == block->base;
    const bool right = begins && kinds & KIND(block->kind);
    launches_ahead_complete();
    if (begins && !right)
        session_note("%s is freed by the wrong function, which fails: it is for %s()", block->label,
                     cure[block->kind]);
    if (right) block_free(block);
    session_leave();
    if (errors_lost()) return errors_lost();
    return right || !pointer ? cudaSuccess : cudaErrorInvalidValue;
}

bool memory_is_device(const void *pointer, size_t *left) {
    size_t offset, bytes;
    session_enter();
    const bool found = global_cells_of(pointer, &offset, &bytes) != NULL;
    session_leave();
    if (found) *left = bytes - offset;
    return found;
}

/* Do so many bytes fit, where the call says that it is global memory, or where it is? */
static bool fits(const char *what, const void *pointer, size_t bytes, bool said) {
    size_t left = 0;
    if (!bytes) return true;
    const bool device = memory_is_device(pointer, &left);
    if (device && bytes <= left) return true;
    if (!device && !said) return true;
    char where[96];
    session_note("a %s of %zu bytes fails: %s%s", what, bytes,
                 device ? "it goes beyond the end of the block, at "
                        : "the address lies in no block of global memory",
                 device ? global_where(pointer, where, sizeof where) : "");
    return false;
}

cudaError_t memory_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    session_get();
    if (errors_lost()) return errors_lost();
    if (!fits("copy to global memory", to, bytes, to_device) ||
        !fits("copy from global memory", from, bytes, from_device))
        return cudaErrorInvalidValue;
    session_enter();
    blocks_open(to);
    blocks_open(from);
    launches_ahead_complete();
    global_written_by_host(to);
    memmove(to, from, bytes);
    session_leave();
    return cudaSuccess;
}

cudaError_t memory_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind) {
    cudaError_t error = cudaSuccess;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
    for (size_t row = 0; row < height && !error; ++row)
        error = memory_copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
                            width, kind);
    return error;
}

cudaError_t memory_fill(void *to, size_t pitch, uint32_t pattern, int pattern_bytes, size_t width,
                        size_t height) {
    session_get();
    if (errors_lost()) return errors_lost();
    if (height > 1 && width * (size_t)pattern_bytes > pitch) return cudaErrorInvalidValue;
    for (size_t row = 0; row < height; ++row) {
        unsigned char *const at = (unsigned char *)to + row * pitch;
        if (!fits("fill of global memory", at, width * (size_t)pattern_bytes, true))
            return cudaErrorInvalidValue;
        session_enter();
        blocks_open(at);
        launches_ahead_complete();
        global_written_by_host(at);
        for (size_t i = 0; i < width; ++i)
            memcpy(at + i * (size_t)pattern_bytes, &pattern, (size_t)pattern_bytes);
        session_leave();
    }
    return cudaSuccess;
}

/* For a library beside this one that does the work of a GPU. */
void hopper_check_begin(void) __attribute__((visibility("default")));
void hopper_check_end(void) __attribute__((visibility("default")));

void hopper_check_begin(void) {
    session_get();
    session_enter();
    blocks_open(NULL);
}

void hopper_check_end(void) { session_leave(); }
