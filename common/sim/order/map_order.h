/*
 * map_order.h: the order of tensor maps in global memory: what the TMA reads through the tensormap
 * proxy, and when that is what was written.
 *
 * A generic write to a map comes before the TMA's reading of it if three things hold. A release of
 * this proxy follows the write, by a thread that the write is ordered before. An acquire of this
 * map follows the release. And in the acquirer's CTA, the copy is ordered after the acquire. Both
 * scopes contain the other side. What was written before the launch needs the acquire alone, of
 * .gpu for a kernel's writes, of .sys for the host's: a launch does not begin with one. A map in a
 * kernel's parameter or in constant memory needs none of this.
 *
 * PTX ISA: "Causality order" (proxy-preserved), "membar/fence" (fence.proxy.tensormap),
 * tensormap.cp_fenceproxy.
 */
#ifndef SIM_ORDER_MAP_ORDER_H
#define SIM_ORDER_MAP_ORDER_H

#include "sim/order/release.h"

void map_order_launch_begins(void);

/* fence.proxy.tensormap::generic.release: of everything that is before T's next access. */
void map_order_release(struct sim_thread *thread, enum sim_scope scope);
/* The same of one write alone, (slot, epoch), of this map, by a warp to which T belongs. */
void map_order_release_copy(struct sim_thread *thread, const void *map, int slot, uint32_t epoch,
                            enum sim_scope scope);
/* fence.proxy.tensormap::generic.acquire of this map. */
void map_order_acquire(struct sim_thread *thread, const void *map, enum sim_scope scope);

/* T issues a copy with this map, in global memory: reports "tensor-map-not-acquired" or
 * "tensor-map-not-released". That the write itself is ordered before the copy, as for any data, is
 * checked when the reading is recorded (GLOBAL_TMA_MAP). */
void map_order_use(struct sim_thread *thread, const void *map, const char *operation);

/* Does this byte of global memory belong to what is used as a tensor map, or was copied there as
 * one, in this launch? */
bool map_order_is_map(const void *pointer);

/* What keeps 128 bytes in global memory from being a map, if that is known: that other threads have
 * not written their parts yet, or have and nothing orders that before `thread`. */
bool map_order_half_written(const struct sim_thread *thread, const void *map, char *text,
                            size_t size);

#endif
