/*
 * random_delays.h: every synchronizing call of a kernel first sleeps for a random time.
 *
 * A kernel with a missing wait passes as long as its warps happen to run in step. Compiled with
 * this header in front (nvcc -include), the warps of a CTA drift: mostly by nothing, often by a
 * microsecond, now and then by tens of them; and for stretches of a kernel's life one warpgroup, a
 * producer or a consumer, sleeps more often than the others. All lanes of a warp sleep equally
 * long, since many of these instructions want the whole warp at once. The sources stay as they are:
 * each name below becomes a macro that sleeps and then calls the function it hides.
 */
#ifndef TESTS_GPU_RANDOM_DELAYS_H
#define TESTS_GPU_RANDOM_DELAYS_H

#include "hopper/thread.h"

/* PTX ISA: nanosleep. */
DEVICE void random_delay(void) {
    uint32_t clock, time;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(time));
    const uint32_t warp = threadIdx.x / 32, warpgroup = warp / 4;
    uint32_t random = (clock ^ blockIdx.x * 0x9e3779b9u ^ warp * 0x85ebca6bu) * 0x2c1b3c6du;
    random = (random ^ random >> 15) * 0x297a2d39u;
    random ^= random >> 13;
    /* In every 16 us one of four warpgroups of a CTA is slow. */
    const uint32_t slow = ((time >> 14) * 0x9e3779b9u >> 20 ^ blockIdx.x) % 4 == warpgroup;
    const uint32_t rarely = random % 512 == 0, often = random % (slow ? 4 : 16) == 0;
    const uint32_t nanoseconds = rarely ? random >> 9 & 0x3fff : often ? random >> 9 & 0x3ff : 0;
    asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

#define __syncthreads() (random_delay(), __syncthreads())
#define __syncwarp() (random_delay(), __syncwarp())
#define named_barrier_sync(id, threads) (random_delay(), named_barrier_sync(id, threads))
#define named_barrier_arrive(id, threads) (random_delay(), named_barrier_arrive(id, threads))

/* The movers of chapter 13 move parts by these. */
#define ld_global_b128(pointer) (random_delay(), ld_global_b128(pointer))
#define st_global_b128(pointer, value) (random_delay(), st_global_b128(pointer, value))

#include "hopper/atomics.h"
#define ld_global_acquire(word, scope) (random_delay(), ld_global_acquire(word, scope))
#define st_global_relaxed(word, value, scope)                                                      \
    (random_delay(), st_global_relaxed(word, value, scope))
#define st_global_release(word, value, scope)                                                      \
    (random_delay(), st_global_release(word, value, scope))
#define atomic_add_relaxed(word, value, scope)                                                     \
    (random_delay(), atomic_add_relaxed(word, value, scope))
#define atomic_add_acq_rel(word, value, scope)                                                     \
    (random_delay(), atomic_add_acq_rel(word, value, scope))
#define atomic_add_acq_rel_b64(word, value, scope)                                                 \
    (random_delay(), atomic_add_acq_rel_b64(word, value, scope))
#define atomic_cas_relaxed_b64(word, expected, value, scope)                                       \
    (random_delay(), atomic_cas_relaxed_b64(word, expected, value, scope))
#define red_add_relaxed(word, value, scope) (random_delay(), red_add_relaxed(word, value, scope))
#define red_add_release(word, value, scope) (random_delay(), red_add_release(word, value, scope))
#define fence_acq_rel(scope) (random_delay(), fence_acq_rel(scope))

#include "hopper/mbarrier.h"
#define mbarrier_arrive(barrier) (random_delay(), mbarrier_arrive(barrier))
#define mbarrier_arrive_expect_tx(barrier, bytes)                                                  \
    (random_delay(), mbarrier_arrive_expect_tx(barrier, bytes))
#define mbarrier_test_wait(barrier, parity) (random_delay(), mbarrier_test_wait(barrier, parity))
#define mbarrier_try_wait(barrier, parity) (random_delay(), mbarrier_try_wait(barrier, parity))
#define mbarrier_wait(barrier, parity) (random_delay(), mbarrier_wait(barrier, parity))
#define mbarrier_wait_cluster(barrier, parity)                                                     \
    (random_delay(), mbarrier_wait_cluster(barrier, parity))

#include "hopper/cp_async.h"
#define cp_async_commit_group() (random_delay(), cp_async_commit_group())
#define cp_async_mbarrier_arrive_noinc(barrier)                                                    \
    (random_delay(), cp_async_mbarrier_arrive_noinc(barrier))

#include "hopper/tma.h"
#define tma_load(shared, map, row, column, barrier)                                                \
    (random_delay(), tma_load(shared, map, row, column, barrier))
#define tma_load_multicast(shared, map, row, column, barrier, cta_mask)                            \
    (random_delay(), tma_load_multicast(shared, map, row, column, barrier, cta_mask))
#define tma_store(map, row, column, shared) (random_delay(), tma_store(map, row, column, shared))
#define tma_reduce_add(map, row, column, shared)                                                   \
    (random_delay(), tma_reduce_add(map, row, column, shared))
#define bulk_commit_group() (random_delay(), bulk_commit_group())
#define fence_proxy_async() (random_delay(), fence_proxy_async())

#include "hopper/wgmma.h"
#define wgmma_fence() (random_delay(), wgmma_fence())
#define wgmma_commit_group() (random_delay(), wgmma_commit_group())

#include "hopper/cluster.h"
#define cluster_sync() (random_delay(), cluster_sync())
#define cluster_sync_relaxed() (random_delay(), cluster_sync_relaxed())
#define cluster_arrive() (random_delay(), cluster_arrive())
#define cluster_wait() (random_delay(), cluster_wait())
#define mbarrier_arrive_remote(barrier, rank)                                                      \
    (random_delay(), mbarrier_arrive_remote(barrier, rank))
#define mbarrier_arrive_remote_release(barrier, rank)                                              \
    (random_delay(), mbarrier_arrive_remote_release(barrier, rank))

#endif
