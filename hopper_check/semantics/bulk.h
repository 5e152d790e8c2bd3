/*
 * bulk.h: what the asynchronous copies of the TMA, st.async and red.async have in common.
 */
#ifndef SEMANTICS_BULK_H
#define SEMANTICS_BULK_H

#include "program/instructions.h"
#include "semantics/address.h"
#include "semantics/reduction.h"
#include "sim/units/tma/copy.h"

/* In op->list. An address has a register, its bits, and an offset. */
enum {
    PART_MAP,
    PART_SHARED,
    PART_BARRIER = PART_SHARED + 3,
    PART_TARGET = PART_BARRIER + 3,
    PART_SIZE = PART_TARGET + 3,
    PART_MASK,
    PART_AT,
    PART_PIXEL = PART_AT + TENSOR_MAP_MAX_RANK, /* im2col: what is added to each pixel's place */
    PARTS = PART_PIXEL + TENSOR_MAP_SPACE
};
enum {
    BULK_MULTICAST,
    BULK_REDUCES,
    BULK_RANK,
    BULK_FUNCTION, /* of the reduction */
    BULK_TYPE,     /* of its elements, where the instruction says it */
    BULK_IM2COL = BULK_TYPE
};

/* ---- decoding ---- */

int *bulk_new_parts(struct decoder *d);
void bulk_take_address(struct decoder *d, const struct ptx_operand *operand, int *part);
/* .shared::cluster, .shared::cta */
bool bulk_take_shared(struct decoder *d);
/* The next word as the function of a bulk reduction; refuses another. */
int bulk_take_function(struct decoder *d);
/* Is there a bulk reduction of this function and type, in global memory or in shared memory? */
bool bulk_reduction_exists(int function, enum reduction_type type, bool global);

/* ---- execution ---- */

uint64_t bulk_address(const struct operation *op, const struct frame *frame, int part);
/* In the own CTA's shared memory. */
void *bulk_shared(const struct operation *op, const struct frame *frame, int part);
void *bulk_global(const struct operation *op, const struct frame *frame, int part);
/* Where a load goes, at the place in the own CTA, its mbarrier likewise, and which CTAs get it:
 * bits. Without a mask that may be another CTA. */
struct bulk_destination {
    void *shared;
    uint64_t *barrier;
    unsigned mask;
};
struct bulk_destination bulk_destination(const struct operation *op, const struct frame *frame);
struct tma_reduction bulk_reduction(int function, enum reduction_type type);

#endif
