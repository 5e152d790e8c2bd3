/*
 * tensormap.h: the simulator's half of hopper/tensormap.h.
 */
#ifndef SIM_HOPPER_TENSORMAP_H
#define SIM_HOPPER_TENSORMAP_H

#include "gemm.h"
#include "sim/hopper/call.h"

enum scope;
enum sim_map_field {
    MAP_ADDRESS,
    MAP_DIM,
    MAP_PITCH,
    MAP_BOX,
    MAP_ELEMENT_STRIDE,
    MAP_RANK,
    MAP_TYPE,
    MAP_INTERLEAVE,
    MAP_SWIZZLE,
    MAP_FILL
};

void sim_tensor_map_replace(struct tensor_map *map, enum sim_map_field field, int ordinal,
                            uint64_t value);
/* The same of a map in global memory. */
void sim_tensor_map_replace_global(struct tensor_map *map, enum sim_map_field field, int ordinal,
                                   uint64_t value);
void sim_tensor_map_copy_release(struct tensor_map *global, const struct tensor_map *map,
                                 enum scope scope);
void sim_fence_tensor_map_release(enum scope scope);
void sim_fence_tensor_map_acquire(const struct tensor_map *map, enum scope scope);

/* ---- the wrappers ---- */

#define REPLACE_FIELD(map, field, ordinal, value)                                                  \
    SIM(sim_tensor_map_replace(map, field, ordinal, (uint64_t)(value)))
#define tensor_map_replace_address(map, base)                                                      \
    REPLACE_FIELD(map, MAP_ADDRESS, 0, (uintptr_t)(const void *)(base))
#define tensor_map_replace_dim(map, dimension, extent)                                             \
    REPLACE_FIELD(map, MAP_DIM, IMMEDIATE(dimension), extent)
#define tensor_map_replace_pitch(map, bytes) REPLACE_FIELD(map, MAP_PITCH, 0, bytes)
#define tensor_map_replace_box(map, dimension, extent)                                             \
    REPLACE_FIELD(map, MAP_BOX, IMMEDIATE(dimension), extent)
#define tensor_map_replace_element_stride(map, dimension, stride)                                  \
    REPLACE_FIELD(map, MAP_ELEMENT_STRIDE, IMMEDIATE(dimension), stride)
#define tensor_map_replace_rank(map, dimensions) REPLACE_FIELD(map, MAP_RANK, 0, dimensions)
#define tensor_map_replace_type(map, type) REPLACE_FIELD(map, MAP_TYPE, 0, IMMEDIATE(type))
#define tensor_map_replace_interleave(map, layout)                                                 \
    REPLACE_FIELD(map, MAP_INTERLEAVE, 0, IMMEDIATE(layout))
#define tensor_map_replace_swizzle(map, swizzle)                                                   \
    REPLACE_FIELD(map, MAP_SWIZZLE, 0, IMMEDIATE(swizzle))
#define tensor_map_replace_fill(map, fill) REPLACE_FIELD(map, MAP_FILL, 0, IMMEDIATE(fill))
#define tensor_map_copy_release(global, map, scope)                                                \
    SIM(sim_tensor_map_copy_release(global, map, scope))
#define fence_tensor_map_release(scope) SIM(sim_fence_tensor_map_release(scope))
#define fence_tensor_map_acquire(map, scope) SIM(sim_fence_tensor_map_acquire(map, scope))

#endif
