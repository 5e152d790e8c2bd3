/*
 * shadow.h: who touched each 16 bytes of shared memory last.
 */
#ifndef SIM_ORDER_SHADOW_H
#define SIM_ORDER_SHADOW_H

#include "sim/core/global_memory.h"
#include "sim/core/threads.h"

/* The shadow of a CTA's shared memory, 64 bytes for 16: made with the CTA's memory, cleared when a
 * CTA begins in it, freed with it. */
void shadow_new(struct sim_cta *cta);
void shadow_clear(struct sim_cta *cta);
void shadow_free(struct sim_cta *cta);

/* A generic access by T, now: checked and recorded. `offset` counts from the CTA's shared base
 * pointer (not the 32-bit address). */
void sim_shadow_generic(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                        enum sim_access access);
/* The same of a write of bytes that are known, before they are in memory. */
void sim_shadow_store(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                      const void *value);
/* The same of a strong access (PTX ISA, "Memory Consistency Model"): two of them do not race,
 * unless they are of different CTAs, and the scope of one is its CTA. */
void sim_shadow_strong(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                       enum sim_access access, bool cta_scope);
/* An access that an async unit makes some time after T issues it here: checked against what T has
 * ordered, recorded as (slot, epoch), ordered for no thread until its clock reaches the epoch.
 * The proxy is the slot's. T may belong to another CTA of the cluster (multicast). For each
 * contiguous piece; any alignment. */
void sim_shadow_async(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                      enum sim_access access, int slot, uint32_t epoch);
/* A write of that kind through this proxy, whatever the slot's is. `reduces`: a reduction, strong;
 * those of one proxy do not race, wherever in the cluster they come from. */
void sim_shadow_async_store(struct sim_thread *thread, struct sim_cta *cta, size_t offset,
                            size_t bytes, int slot, uint32_t epoch, bool async_proxy, bool reduces);
/* The same, issued by all lanes of a warp together, each of which has to have ordered it. No lane
 * knows what another has waited for. In the warp's own CTA. */
void sim_shadow_async_warp(struct sim_warp *warp, size_t offset, size_t bytes,
                           enum sim_access access, int slot, uint32_t epoch);

/* T makes an mbarrier of these 8 bytes, or (not `valid`) plain memory again: a generic write. In
 * between, every access to them is a hazard, "mbarrier-not-invalidated". */
void sim_shadow_mbarrier(struct sim_thread *thread, struct sim_cta *cta, size_t offset, bool valid);

/* Does (slot, epoch) of this cluster belong to a TMA store that its thread has put into no bulk
 * group? hooks.c sets it. */
extern bool (*shadow_uncommitted)(const struct sim_cluster *cluster, int slot, uint32_t epoch);
#define SHADOW_UNCOMMITTED                                                                         \
    "The store belongs to no bulk group: its own thread has to call bulk_commit_group(), and "     \
    "then\n"                                                                                       \
    "    to wait. What another thread commits, or waits for, does not contain it."

/* For the report that nothing orders (slot, epoch) before T: has T waited for an arrival from
 * another CTA that would, if its scope, or the wait's, were the cluster, or at a barrier of the
 * cluster that is relaxed? Then `text` says so. hooks.c sets it. */
extern bool (*shadow_too_weak)(const struct sim_thread *thread, int slot, uint32_t epoch,
                               char *text, size_t size);

#endif
