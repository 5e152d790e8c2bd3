/*
 * tma.h: the Tensor Memory Accelerator: boxes of a matrix to shared memory and back.
 *
 * One thread issues; the unit computes all addresses, applies the swizzle, fills what lies outside
 * the matrix with zeros (load) or leaves it out (store). A load completes on an mbarrier: the
 * bytes of the whole box, out-of-bounds elements included, are counted down from its tx-count. A
 * store completes through the issuing thread's bulk groups. Both belong to the async proxy:
 * ordinary accesses to the same shared memory need fence_proxy_async().
 *
 * PTX ISA: "Data Movement and Conversion Instructions: Tensor copy" (cp.async.bulk.tensor), "Async
 * proxy".
 */
#ifndef HOPPER_TMA_H
#define HOPPER_TMA_H

#include "hopper/mbarrier.h"

#ifdef __CUDACC__

/* Starts loading the box whose first element is (row, column) into `shared` (128-byte aligned;
 * 1024 with the 128 B swizzle). Counts the box's bytes down on `barrier`. One thread. */
DEVICE void tma_load(void *shared, const struct tensor_map *map, int row, int column,
                     mbarrier_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row),
                 "r"(shared_address(barrier))
                 : "memory");
}

/* The same box into every CTA of the cluster whose bit is set in `cta_mask`, at the same offset
 * of each one's shared memory; each one's own barrier at the same offset as `barrier` is
 * signalled. One thread of one CTA. */
DEVICE void tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                               mbarrier_t *barrier, uint16_t cta_mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row),
                 "r"(shared_address(barrier)), "h"(cta_mask)
                 : "memory");
}

/* Starts storing the box at `shared` to (row, column); part of the thread's current bulk group.
 * Writes whole chunks of 16 bytes: where a row of the matrix ends inside one, what the box holds
 * for the rest of it goes into the padding (seen on an H200). One thread. */
DEVICE void tma_store(const struct tensor_map *map, int row, int column, const void *shared) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(column), "r"(row), "r"(shared_address(shared))
                 : "memory");
}

/* The same, adding to what the matrix holds, element by element, in no particular order. One
 * thread. */
DEVICE void tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group "
                 "[%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(column), "r"(row), "r"(shared_address(shared))
                 : "memory");
}

/* Closes the thread's current bulk group. The thread that issued the stores. */
DEVICE void bulk_commit_group(void) { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* Waits until at most the `pending` youngest bulk groups of this thread (a constant) are still
 * reading shared memory: afterwards the thread, and whoever it tells by a barrier, may
 * overwrite what they read. The issuing thread. */
#define bulk_wait_group_read(pending)                                                              \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory")

/* Waits until at most the `pending` youngest groups are not complete: their writes are done, and
 * visible to this thread, which may release them to others. The issuing thread. */
#define bulk_wait_group(pending)                                                                   \
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory")

/* Orders this thread's accesses to shared memory through the generic proxy (ld, st, ldmatrix,
 * stmatrix) before later accesses through the async proxy (TMA, wgmma) that a barrier or
 * program order puts behind it. Both directions: written, then read by the TMA; and read, then
 * overwritten by the TMA. Each thread that accessed, before the barrier. Does not wait for
 * other threads. PTX ISA: fence.proxy.async. */
DEVICE void fence_proxy_async(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* The same for global memory: what was stored there by st in this launch, before the TMA loads it
 * (or was loaded by ld, before the TMA overwrites it). Either each thread that stored, before it
 * tells others; or one thread for which all the stores are ordered, such as the one that has
 * acquired them and issues the load. Nothing is needed the other way: bulk_wait_group() ends a
 * store for both proxies. PTX ISA: fence.proxy.async. */
DEVICE void fence_proxy_async_global(void) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

#else
#include "sim/hopper/tma.h"
#endif

#endif
