/*
 * copy.h: what the TMA copies in all forms: boxes of one to five dimensions, and contiguous
 * bytes without a tensor map.
 *
 * PTX ISA, "Data Movement and Conversion Instructions: Bulk copy", "Tensor copy".
 */
#ifndef SIM_UNITS_TMA_COPY_H
#define SIM_UNITS_TMA_COPY_H

#include <string.h>

#include "sim/core/shared_memory.h"
#include "sim/models/tensor_map.h"

/* Where a box begins; at[0] is the innermost dimension. */
struct tma_at {
    int rank;
    int32_t at[TENSOR_MAP_MAX_RANK];
    bool im2col;                       /* and not tile */
    uint16_t offset[TENSOR_MAP_SPACE]; /* of each pixel, then */
};

/* What is checked when a copy begins there; nothing is copied. */
void tma_prefetch_box(const struct tensor_map *map, struct tma_at at);
/* To the same place in each CTA of the mask, from an address in the own CTA's shared memory. */
void tma_load_box(void *shared, const struct tensor_map *map, struct tma_at at, uint64_t *barrier,
                  unsigned cta_mask, const char *operation);

/* What a reduction makes of an element in memory and of one that comes. */
struct tma_reduction {
    void (*reduce)(int function, void *element, const void *operand); /* NULL: it is a copy */
    int function;
    int bytes; /* of an element */
};
/* Copies the bytes, or reduces each element of theirs. */
static inline void tma_bring(const struct tma_reduction *reduction, unsigned char *to,
                             const unsigned char *from, size_t bytes) {
    if (!reduction->reduce) memcpy(to, from, bytes);
    for (size_t at = 0; reduction->reduce && at < bytes; at += (size_t)reduction->bytes)
        reduction->reduce(reduction->function, to + at, from + at);
}
/* That of the map's elements; `reduce` is NULL if there is none of this function. */
typedef struct tma_reduction tma_reduction_of(const struct tensor_map_fields *fields, int function);
/* `reduction`: NULL for a copy. */
void tma_store_box(const struct tensor_map *map, struct tma_at at, const void *shared,
                   tma_reduction_of *reduction, int function);

/* `bytes`: a multiple of 16, like all addresses. */
void bulk_load(void *shared, const void *global, uint32_t bytes, uint64_t *barrier,
               unsigned cta_mask);
void bulk_store(void *global, const void *shared, uint32_t bytes, struct tma_reduction reduction);
/* From the own CTA's shared memory to that of another; its mbarrier counts the bytes. */
void bulk_send(struct sim_shared_pointer to, const void *shared, uint32_t bytes,
               struct sim_shared_pointer barrier, struct tma_reduction reduction);
/* st.async and red.async: at most 16 bytes from registers; the mbarrier is in the same CTA. */
void async_store(struct sim_shared_pointer to, const void *value, uint32_t bytes,
                 struct sim_shared_pointer barrier, struct tma_reduction reduction);

#endif
