/*
 * copy.h: what the TMA copies in all forms: boxes of one to five dimensions, and contiguous
 * bytes without a tensor map.
 *
 * PTX ISA, "Data Movement and Conversion Instructions: Bulk copy", "Tensor copy".
 */
#ifndef SIM_UNITS_TMA_COPY_H
#define SIM_UNITS_TMA_COPY_H

#include "sim/core/shared_memory.h"
#include "sim/models/tensor_map.h"

/* Where a box begins; at[0] is the innermost dimension. */
struct tma_at {
    int rank;
    int32_t at[TENSOR_MAP_MAX_RANK];
};

/* To the same place in each CTA of the mask, from an address in the own CTA's shared memory. */
void tma_load_box(void *shared, const struct tensor_map *map, struct tma_at at, uint64_t *barrier,
                  unsigned cta_mask, const char *operation);
void tma_store_box(const struct tensor_map *map, struct tma_at at, const void *shared, bool add);

/* `bytes`: a multiple of 16, like all addresses. */
void bulk_load(void *shared, const void *global, uint32_t bytes, uint64_t *barrier,
               unsigned cta_mask);
/* `add`: of elements of this type; NULL: a copy. */
void bulk_store(void *global, const void *shared, uint32_t bytes, const enum gemm_type *add);
/* From the own CTA's shared memory to that of another; its mbarrier counts the bytes. */
void bulk_send(struct sim_shared_place to, const void *shared, uint32_t bytes,
               struct sim_shared_place barrier);
/* st.async: at most 16 bytes from registers; the mbarrier is in the same CTA. */
void async_store(struct sim_shared_place to, const void *value, uint32_t bytes,
                 struct sim_shared_place barrier);

#endif
