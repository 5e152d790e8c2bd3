/*
 * map.h: how the TMA gets at a tensor map: where it may lie, which of its bytes the TMA sees,
 * and when.
 */
#ifndef SIM_UNITS_TMA_MAP_H
#define SIM_UNITS_TMA_MAP_H

#include "sim/core/threads.h"
#include "sim/models/tensor_map.h"

/* A map as a copy of the running thread uses it. */
struct tma_map {
    struct tensor_map_fields fields; /* as they are when the copy is issued */
    const struct tensor_map *global; /* the map, if kernels may write it; NULL: they may not */
    bool late;                       /* the TMA reads it only when the copy completes */
    uint64_t fetch;                  /* cycles until the TMA has it */
};

/* The map that the running thread's copy uses. Ends the launch if it is none ("tensor-map"), or
 * lies where the TMA cannot read it ("tensor-map-copy"); reports one in global memory that this CTA
 * has not acquired (order/map_order.h). `operation` is for the report. */
struct tma_map tma_map_of(const struct tensor_map *map, const char *operation);

/* What is known of a map in global memory that a report about its use should say; map_edit.c
 * sets it when a kernel edits maps. */
extern const char *(*tma_map_story)(const void *map);

/* Where it lies is checked, and a map in global memory is kept as it is. Nothing is ordered. */
void tma_map_prefetch(const struct tensor_map *map);

/* The TMA has read the map when the running thread's cluster reaches `epoch` of `slot`: whoever
 * changes it earlier is reported. */
void tma_map_note_read(const struct tma_map *map, int slot, uint32_t epoch);

/* In a job, when the copy completes: the fields that the TMA uses. A map that has been changed
 * since the issue is another, if this copy reads it late. */
void tma_map_read(struct tma_map *map);

/* An SM forgets what it has read at this address, as an acquire makes it do. */
void tma_map_forget(int sm, const struct tensor_map *map);
void tma_maps_launch_begins(void);

#endif
