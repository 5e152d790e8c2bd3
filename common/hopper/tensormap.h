/*
 * tensormap.h: tensor maps that are changed on the device.
 *
 * The TMA reads a map through the *tensormap proxy*. Generic accesses, and even the launch of the
 * kernel, are not ordered with it: only a release and an acquire of this proxy are. A map that is a
 * kernel's parameter needs none of this. A map in global memory needs the acquire even if the host
 * has written it before the launch.
 *
 * To change a map: copy it to shared memory, replace fields there, and copy it back. Before the
 * copy, every TMA instruction that uses the old map must have read it: a load is waited for on its
 * barrier, a store by bulk_wait_group_read().
 *
 *     one thread   tensor_map_replace_address(&shared->map, base), and other fields
 *     its warp     __syncwarp(); tensor_map_copy_release(global, &shared->map, SCOPE_CTA)
 *     that warp    fence_tensor_map_acquire(global, SCOPE_CTA), then TMA copies
 *
 * PTX ISA: tensormap.replace, tensormap.cp_fenceproxy, "membar/fence" (fence.proxy.tensormap),
 * "Causality order", cp.async.bulk.wait_group. docs/memory-order.md.
 */
#ifndef HOPPER_TENSORMAP_H
#define HOPPER_TENSORMAP_H

#include "hopper/atomics.h"

/* The types of elements that a map may have, as the field holds them. PTX ISA: "Tensormap". */
enum tensor_map_type {
    TENSOR_MAP_U8 = 0, /* e4m3, too */
    TENSOR_MAP_FP16 = 6,
    TENSOR_MAP_FP32 = 7,
    TENSOR_MAP_BF16 = 10
};

#ifdef __CUDACC__

/* Replaces one field of a map in shared memory, 128-byte aligned: an ordinary access that reads and
 * writes all 128 bytes, so other threads that access them need a barrier. The map has to be valid
 * only when the TMA uses it; of one that is zeros all fields have to be replaced. One thread. Only
 * sm_90a and some later targets have it. PTX ISA: tensormap.replace. */
#define REPLACE_FIELD(instruction, map, ...)                                                       \
    asm volatile("tensormap.replace.tile." instruction ::"r"(shared_address(map)), __VA_ARGS__     \
                 : "memory")

/* Where the matrix begins: a multiple of 16 bytes. */
#define tensor_map_replace_address(map, base)                                                      \
    REPLACE_FIELD("global_address.shared::cta.b1024.b64 [%0], %1;", map, "l"(base))
/* Its columns (dimension 0, a constant) or rows (1): the TMA neither reads nor writes beyond. */
#define tensor_map_replace_dim(map, dimension, extent)                                             \
    REPLACE_FIELD("global_dim.shared::cta.b1024.b32 [%0], %1, %2;", map, "n"(dimension),           \
                  "r"(extent))
/* Bytes from row to row, a multiple of 16, as 64 bits. (For CUDA before 12.5, a sixteenth.) */
#define tensor_map_replace_pitch(map, bytes)                                                       \
    REPLACE_FIELD("global_stride.shared::cta.b1024.b64 [%0], 0, %1;", map, "l"(bytes))
/* The box's columns (0) or rows (1), and every how many elements it takes, here each. */
#define tensor_map_replace_box(map, dimension, extent)                                             \
    REPLACE_FIELD("box_dim.shared::cta.b1024.b32 [%0], %1, %2;", map, "n"(dimension), "r"(extent))
#define tensor_map_replace_element_stride(map, dimension, stride)                                  \
    REPLACE_FIELD("element_stride.shared::cta.b1024.b32 [%0], %1, %2;", map, "n"(dimension),       \
                  "r"(stride))
/* Dimensions, which the field counts from 0. */
#define tensor_map_replace_rank(map, dimensions)                                                   \
    REPLACE_FIELD("rank.shared::cta.b1024.b32 [%0], %1;", map, "r"((dimensions) - 1))
/* Constants: the type of the elements, above; 0, not interleaved; enum gemm_swizzle; 0, zeros
 * outside of the matrix. */
#define tensor_map_replace_type(map, type)                                                         \
    REPLACE_FIELD("elemtype.shared::cta.b1024.b32 [%0], %1;", map, "n"((int)(type)))
#define tensor_map_replace_interleave(map, layout)                                                 \
    REPLACE_FIELD("interleave_layout.shared::cta.b1024.b32 [%0], %1;", map, "n"((int)(layout)))
#define tensor_map_replace_swizzle(map, swizzle)                                                   \
    REPLACE_FIELD("swizzle_mode.shared::cta.b1024.b32 [%0], %1;", map, "n"((int)(swizzle)))
#define tensor_map_replace_fill(map, fill)                                                         \
    REPLACE_FIELD("fill_mode.shared::cta.b1024.b32 [%0], %1;", map, "n"((int)(fill)))

/* One of four instructions, by a scope that is a constant. */
#define AT_SCOPE(scope, instruction)                                                               \
    do {                                                                                           \
        if ((scope) == SCOPE_CTA) instruction(".cta");                                             \
        else if ((scope) == SCOPE_CLUSTER) instruction(".cluster");                                \
        else if ((scope) == SCOPE_GPU) instruction(".gpu");                                        \
        else instruction(".sys");                                                                  \
    } while (0)

/* Copies a map from shared to global memory, both 128-byte aligned, and releases the copy: it
 * precedes what the TMA reads there after an acquire. The scope, a constant, contains the threads
 * that acquire. A whole warp, of which each lane is ordered after the edits; __syncwarp() after one
 * thread's. Without the release, as with an ordinary copy, the TMA may never see the new map. PTX
 * ISA: tensormap.cp_fenceproxy. */
DEVICE void tensor_map_copy_release(struct tensor_map *global, const struct tensor_map *map,
                                    enum scope scope) {
#define INSTRUCTION(in)                                                                            \
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release" in        \
                 ".sync.aligned [%0], [%1], 128;" ::"l"(global), "r"(shared_address(map))          \
                 : "memory")
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* The release alone, for maps that ordinary stores have written: what precedes it in this thread,
 * and what a barrier has ordered before it, precedes what the TMA reads after an acquire. Then tell
 * the threads that acquire, by a barrier or a flag. The scope, a constant, contains them. Any
 * thread. PTX ISA: fence.proxy.tensormap::generic.release. */
DEVICE void fence_tensor_map_release(enum scope scope) {
#define INSTRUCTION(in) asm volatile("fence.proxy.tensormap::generic.release" in ";" ::: "memory")
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* Acquires a map in global memory: TMA instructions that follow, in this thread and in threads of
 * its CTA that it is ordered before, use what was released. Once in each CTA, and again after every
 * change. The scope, a constant, contains the writer: SCOPE_CTA for this CTA, SCOPE_GPU for another
 * or an earlier kernel, SCOPE_SYS for the host. Without it the TMA may use an older map that it has
 * read at this address. Any thread. PTX ISA: fence.proxy.tensormap::generic.acquire. */
DEVICE void fence_tensor_map_acquire(const struct tensor_map *map, enum scope scope) {
#define INSTRUCTION(in)                                                                            \
    asm volatile("fence.proxy.tensormap::generic.acquire" in " [%0], 128;" ::"l"(map) : "memory")
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

#undef AT_SCOPE

#else
#include "sim/hopper/tensormap.h"
#endif

#endif
