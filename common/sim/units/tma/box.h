/*
 * box.h: what loads and stores of the TMA have in common: the box, and what is checked about it
 * when it is issued.
 */
#ifndef SIM_UNITS_TMA_BOX_H
#define SIM_UNITS_TMA_BOX_H

#include "gemm.h"
#include "sim/core/global_memory.h"
#include "sim/core/shared_memory.h"
#include "sim/models/tensor_map.h"

enum {
    TMA_CHUNK = 16,     /* bytes that the swizzle keeps together */
    TMA_ALIGNMENT = 128 /* of a box in shared memory */
};

/* Reports a box that does not begin where the pattern of its swizzle does. */
void tma_check_alignment(const struct tensor_map_fields *f, struct sim_shared_pointer pointer,
                         const char *operation);

/* Where a box at `shared` lies; ends the launch if it does not fit the CTA's shared memory. */
struct sim_shared_pointer tma_box_pointer(const struct tensor_map_fields *f, const void *shared);

/* Calls piece() for the bytes that the box at `pointer` occupies, in contiguous pieces. */
void tma_box_pieces(const struct tensor_map_fields *f, struct sim_shared_pointer pointer,
                    void (*piece)(void *object, struct sim_shared_pointer pointer, size_t bytes),
                    void *object);

/* The same for the bytes that a store of the box to (row, column), inside the matrix, brings there.
 * Nothing is known of the rest of the box: a kernel need not write it. */
void tma_box_stored_pieces(
    const struct tensor_map_fields *f, struct sim_shared_pointer pointer, int row, int column,
    void (*piece)(void *object, struct sim_shared_pointer pointer, size_t bytes), void *object);

/* Has the thread of this slot put the store of this epoch into no bulk group yet? store.c */
bool tma_store_uncommitted(const struct sim_cluster *cluster, int slot, uint32_t epoch);
/* global_under_way of global_shadow.h. store.c */
const unsigned char *tma_store_under_way(int cluster, int slot, uint32_t epoch, const void *at);

struct tma_at;
struct tma_map;
/* The map that the running thread's copy uses, for a box that begins there. load.c */
struct tma_map tma_map_at(const struct tensor_map *map, struct tma_at at, int *row, int *column,
                          const char *operation);
/* Contiguous bytes of global memory as a map of one box. load.c */
struct tensor_map_fields bulk_fields(const void *global, uint32_t bytes, const char *operation);

/* Does every row of the box that meets the matrix lie in an allocation? Reported if not. Ends the
 * launch if the box does not begin at a multiple of 16 bytes of a row. */
bool tma_check_global(const struct tensor_map_fields *f, int row, int column,
                      enum sim_access access);

#endif
