/*
 * tma.h: the Tensor Memory Accelerator: boxes of a matrix to shared memory and back.
 *
 * One thread issues the copy. The unit computes all addresses and applies the swizzle. A load fills
 * what lies outside the matrix with zeros; a store leaves it out. A load completes on an mbarrier,
 * whose tx-count it lowers by the bytes of the whole box, out-of-bounds elements included. A store
 * completes through the issuing thread's bulk groups. Both belong to the async proxy. After
 * ordinary accesses to the same shared memory, fence_proxy_async() and a barrier come before the
 * copy. After the copy, the wait for its completion is enough.
 *
 * PTX ISA: "Data Movement and Conversion Instructions: Tensor copy" (cp.async.bulk.tensor), "Async
 * proxy".
 */
#ifndef HOPPER_TMA_H
#define HOPPER_TMA_H

#include "hopper/mbarrier.h"

#ifdef __CUDACC__

/* Starts fetching the tensor map, which the TMA reads before it copies the first box. Copies need
 * no wait for it, and nothing is ordered. Any thread; one is enough for a map. PTX ISA: prefetch
 * (.tensormap). */
DEVICE void tma_prefetch_map(const struct tensor_map *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Starts loading the box whose first element is (row, column) into `shared` (128-byte aligned;
 * 1024 with the 128 B swizzle). `column` is a whole number of 16 bytes, or the GPU reports an
 * illegal instruction. Counts the box's bytes down on `barrier`. One thread. */
DEVICE void tma_load(void *shared, const struct tensor_map *map, int row, int column,
                     mbarrier_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row),
                 "r"(shared_address(barrier))
                 : "memory");
}

/* The same for a map of several matrices (services/batch.h), from matrix number `matrix`. One
 * thread. */
DEVICE void tma_load_3d(void *shared, const struct tensor_map *map, int matrix, int row, int column,
                        mbarrier_t *barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row), "r"(matrix),
                 "r"(shared_address(barrier))
                 : "memory");
}

/* Loads the box of tma_load() into every CTA of the cluster whose bit is set in `cta_mask`, at the
 * same offset of each CTA's shared memory, and signals each CTA's own barrier at the offset of
 * `barrier`. One thread of one CTA. */
DEVICE void tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                               mbarrier_t *barrier, uint16_t cta_mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row),
                 "r"(shared_address(barrier)), "h"(cta_mask)
                 : "memory");
}

/* Starts storing the box at `shared` to (row, column); part of the thread's current bulk group.
 * `shared` is aligned as for tma_load(). `column` is a whole number of 16 bytes, and neither it
 * nor `row` is negative, or the GPU reports an illegal instruction (seen on an H100). Writes whole
 * chunks of 16 bytes: where a row of the matrix ends inside a chunk, the rest of that chunk goes
 * into the padding (seen on an H200). One thread. */
DEVICE void tma_store(const struct tensor_map *map, int row, int column, const void *shared) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(column), "r"(row), "r"(shared_address(shared))
                 : "memory");
}

/* The same for a map of several matrices (services/batch.h), to matrix number `matrix`. One
 * thread. */
DEVICE void tma_store_3d(const struct tensor_map *map, int matrix, int row, int column,
                         const void *shared) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(map), "r"(column), "r"(row), "r"(matrix), "r"(shared_address(shared))
                 : "memory");
}

/* As tma_store(), but adds to the elements of the matrix, in no particular order. They have the
 * map's type, here fp32, and are defined before. One thread. */
DEVICE void tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group "
                 "[%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(column), "r"(row), "r"(shared_address(shared))
                 : "memory");
}

/* Closes the thread's current bulk group. The thread that issued the stores. */
DEVICE void bulk_commit_group(void) { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* Waits until at most the `pending` youngest bulk groups of this thread (a constant) are still
 * reading shared memory. Afterwards this thread, and threads that a later barrier orders after it,
 * may overwrite what the older groups have read. The issuing thread. */
#define bulk_wait_group_read(pending)                                                              \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"((int)(pending)) : "memory")

/* Waits until at most the `pending` youngest groups are not complete. Older groups have
 * written, visibly to this thread, which may release the writes to others. The issuing thread. */
#define bulk_wait_group(pending)                                                                   \
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"((int)(pending)) : "memory")

/* Orders this thread's accesses to shared memory through the generic proxy (ld, st, ldmatrix,
 * stmatrix, and cp.async that this thread has waited for) before accesses through the async proxy
 * (TMA, wgmma) that a barrier or program order places after the fence. It covers both cases: data
 * written, then read by the TMA; and data read, then overwritten by the TMA. Each thread that
 * accessed the memory calls it, before the barrier. Does not wait for other threads. PTX ISA:
 * fence.proxy.async. */
DEVICE void fence_proxy_async(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* The same for global memory: for data stored by st in this launch before the TMA loads it, or
 * loaded by ld before the TMA overwrites it. Either each thread that stored calls it before it
 * signals others; or one thread ordered after all the stores, such as the thread that has acquired
 * them and issues the load. The other direction needs no fence: bulk_wait_group() completes a store
 * for both proxies. PTX ISA: fence.proxy.async. */
DEVICE void fence_proxy_async_global(void) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

#else
#include "sim/hopper/tma.h"
#endif

#endif
