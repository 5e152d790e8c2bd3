/*
 * reader_sets.h: who has read 16 bytes of global memory since they were written.
 *
 * Inputs are read by hundreds of threads, and neighbouring cells by the same ones in the same
 * order. So a set is kept once, however many cells have it: a list whose newest record names the
 * set without it. A set is never changed. Adding a reader gives another set, most often one that
 * the neighbouring cell has made.
 */
#ifndef SIM_ORDER_READER_SETS_H
#define SIM_ORDER_READER_SETS_H

#include "sim/order/global_shadow.h"

/* 0 is the empty set. A cell holds its set: each function that returns one takes the cell's old set
 * in return. */
typedef uint32_t reader_set;

void reader_sets_launch_begins(void);

/* With this read, the newest. What its actor has read of these bytes before is left out, at once or
 * by settled_readers(). */
reader_set readers_and(reader_set set, const struct global_record *read);
/* Without these bytes. */
reader_set readers_of_other_bytes(reader_set set, unsigned bytes);
/* Each byte once for each actor: what a write is judged by. */
reader_set settled_readers(reader_set set);

/* The newest record of a set that is not empty; `next` is the set without it. The pointer holds
 * until a set is made. */
const struct global_record *newest_reader(reader_set set);

/* Do two records belong to the same thread or unit, and are of the same kind? */
static inline bool same_actor(const struct global_record *a, const struct global_record *b) {
    return a->slot == b->slot && a->cluster == b->cluster && a->how == b->how &&
           a->write == b->write;
}

#endif
