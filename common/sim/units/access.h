/*
 * access.h: an ordinary load or store of the running thread, of any size that its address is a
 * multiple of. It is checked, recorded and charged here; the caller moves the bytes.
 */
#ifndef SIM_UNITS_ACCESS_H
#define SIM_UNITS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/core/global_memory.h"
#include "sim/core/shared_memory.h"

/* Of the CTA's own shared memory: where the bytes lie. Ends the launch if they do not lie in it. */
unsigned char *sim_access_shared(const void *pointer, size_t bytes, enum sim_access access);
/* A store of bytes that are known, and written here: two of the same bytes may be in doubt. */
void sim_store_shared(void *pointer, const void *value, size_t bytes);
/* Of global memory. False: the access is outside of it, which has been reported; leave it out. */
bool sim_access_global(const void *pointer, size_t bytes, enum sim_access access);
void sim_store_global(void *pointer, const void *value, size_t bytes);
/* Of the shared memory of any CTA of the cluster, likewise. Ends the launch if that CTA has. */
unsigned char *sim_access_cluster(struct sim_shared_pointer target, size_t bytes,
                                  enum sim_access access);
void sim_store_cluster(struct sim_shared_pointer target, const void *value, size_t bytes);
/* All of it but the order: for accesses that have one of their own. */
void cluster_access_begins(struct sim_shared_pointer target, size_t bytes, enum sim_access access);

#endif
