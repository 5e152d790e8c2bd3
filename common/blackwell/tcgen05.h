/*
 * tcgen05.h: Blackwell's Tensor Core, which one thread starts, and tensor memory, where the
 * accumulators are.
 *
 * A CTA has 128 lanes x 512 columns of 32-bit words of tensor memory. An address has the lane in
 * its upper 16 bits and the column in the lower 16. A kernel allocates columns, multiplies into
 * them, loads them into registers, and frees them.
 *
 * tcgen05.mma, tcgen05.ld and tcgen05.st are asynchronous: neither the same thread nor another has
 * any order between two of them, except in the pairs that the ISA lists: two tcgen05.mma with the
 * same accumulators, shape and kind execute in the order in which they are issued. In all other
 * pairs, the first must be complete, and both sides of the wait for it need a fence:
 *
 *   mma -> ld    tcgen05_commit() to an mbarrier, a wait for its phase, tcgen05_fence_after()
 *   ld -> mma    tcgen05_wait_load(), tcgen05_fence_before(), an arrival; in the other thread a
 *                wait and tcgen05_fence_after()
 *
 * With these fences relaxed arrivals and waits will do (mbarrier_arrive_relaxed()). Whether the
 * fences can be left out where arrival and wait are release and acquire is in doubt:
 * docs/rules-in-doubt.md.
 *
 * `group`, a literal, is the number of CTAs that multiply together: 1, or 2 for a CTA pair, the two
 * CTAs of a cluster whose ranks differ in the last bit. All instructions of a kernel have the same.
 *
 * PTX ISA: "TensorCore 5th Generation Family Instructions": "Tensor Memory", "Matrix Descriptors",
 * "Issue Granularity", "Memory Consistency Model for 5th generation of TensorCore operations",
 * tcgen05.alloc, .dealloc, .relinquish_alloc_permit, .ld, .wait, .mma, .commit, .fence.
 */
#ifndef BLACKWELL_TCGEN05_H
#define BLACKWELL_TCGEN05_H

#include "hopper/element.h"
#include "hopper/mbarrier.h"
#include "hopper/thread.h"

enum { TENSOR_LANES = 128, TENSOR_COLUMNS = 512 };

#ifdef __CUDACC__
#define TCGEN05_CONSTANT static inline __device__ __host__
#else
#define TCGEN05_CONSTANT static inline
#endif

/*
 * The place of an operand tile in shared memory, as 64 bits. Fields and strides are those of wgmma
 * (hopper/wgmma.h), with three differences:
 *
 *   bits 46-48  0b001
 *   bit  52     0: the leading dimension's stride is relative
 *   bits 61-63  0 no swizzle, 2 128 B, 4 64 B, 6 32 B
 *
 * A wgmma descriptor is not one: its bits 62-63 mean another swizzle here. Any thread.
 */
TCGEN05_CONSTANT uint64_t tcgen05_descriptor(uint32_t shared_address, uint32_t lbo_bytes,
                                             uint32_t sbo_bytes, enum gemm_swizzle swizzle) {
    return (uint64_t)((shared_address & 0x3ffff) >> 4) |
           (uint64_t)((lbo_bytes & 0x3ffff) >> 4) << 16 |
           (uint64_t)((sbo_bytes & 0x3ffff) >> 4) << 32 | (uint64_t)1 << 46 |
           (uint64_t)((4 - swizzle) & 3) << 62;
}

/*
 * The instruction descriptor of .kind::f16 with fp32 accumulators and K-major operands of the
 * element type, as 32 bits: 4-5 type of D (1: fp32), 7-9 and 10-12 types of A and B (0 fp16, 1
 * bf16), 15 and 16 MN-major A and B, 17-22 n / 8, 24-28 m / 16. m: 64 or 128, of a pair 128 or 256.
 * n: a multiple of 8 up to 256, of a pair of 16. k is 16. Any thread.
 */
TCGEN05_CONSTANT uint32_t tcgen05_instruction_of(int m, int n, int bf16) {
    return 1u << 4 | (uint32_t)bf16 << 7 | (uint32_t)bf16 << 10 | (uint32_t)(n >> 3) << 17 |
           (uint32_t)(m >> 4) << 24;
}
#define tcgen05_instruction(m, n) tcgen05_instruction_of(m, n, GEMM_BF16_ELEMENTS)

#ifdef __CUDACC__
#include "hopper/wgmma.h" /* ACC_n, the numbers of registers; no wgmma is issued */

/* The functions of group 1 and group 2. */
#define TCGEN05_DEFINE(group)                                                                      \
    DEVICE void tcgen05_alloc_##group(uint32_t *address, int columns) {                            \
        asm volatile("tcgen05.alloc.cta_group::" #group                                            \
                     ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(address)),     \
                     "r"(columns)                                                                  \
                     : "memory");                                                                  \
    }                                                                                              \
    DEVICE void tcgen05_relinquish_##group(void) {                                                 \
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" #group ".sync.aligned;");       \
    }                                                                                              \
    DEVICE void tcgen05_dealloc_##group(uint32_t address, int columns) {                           \
        asm volatile("tcgen05.dealloc.cta_group::" #group ".sync.aligned.b32 %0, %1;" ::"r"(       \
                         address),                                                                 \
                     "r"(columns)                                                                  \
                     : "memory");                                                                  \
    }                                                                                              \
    DEVICE void tcgen05_mma_##group(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,      \
                                    bool accumulate) {                                             \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n\t"                                   \
                     "tcgen05.mma.cta_group::" #group ".kind::f16 [%0], %1, %2, %3, p; }"          \
                     ::"r"(d), "l"(a), "l"(b), "r"(instruction), "r"((int)accumulate)              \
                     : "memory");                                                                  \
    }                                                                                              \
    DEVICE void tcgen05_commit_##group(mbarrier_t *barrier) {                                      \
        asm volatile("tcgen05.commit.cta_group::" #group                                           \
                     ".mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(                     \
                         shared_address(barrier))                                                  \
                     : "memory");                                                                  \
    }                                                                                              \
    DEVICE void tcgen05_commit_multicast_##group(mbarrier_t *barrier, uint16_t cta_mask) {         \
        asm volatile("tcgen05.commit.cta_group::" #group                                           \
                     ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"     \
                     ::"r"(shared_address(barrier)), "h"(cta_mask)                                 \
                     : "memory");                                                                  \
    }
TCGEN05_DEFINE(1)
TCGEN05_DEFINE(2)

#define TCGEN05_PASTE(name, number) tcgen05_##name##_##number
#define TCGEN05_CALL(name, number) TCGEN05_PASTE(name, number)

/* Allocates all 128 lanes of `columns` columns, a power of two from 32 to 512 and no more than the
 * allocation before, and writes their address to shared memory: an ordinary store. Waits while the
 * SM has none left. A whole warp; of a pair, a warp of each CTA, after both have begun. */
#define tcgen05_alloc(group, address, columns) TCGEN05_CALL(alloc, group)(address, columns)
/* This CTA allocates no more. A whole warp. */
#define tcgen05_relinquish(group) TCGEN05_CALL(relinquish, group)()
/* Frees an allocation, after all accesses to it. Every allocation, before the kernel ends. A whole
 * warp; of a pair, a warp of each CTA. */
#define tcgen05_dealloc(group, address, columns) TCGEN05_CALL(dealloc, group)(address, columns)
/* Starts D = A * B, or D += A * B if `accumulate`: m x n x 16. `d`: the tensor memory of the
 * accumulators, fp32; row i is lane i. `a` and `b` are descriptors of shared memory, [m][16] and
 * [n][16]. Of a pair, each CTA has half of A's rows and half of B's rows (columns of the product)
 * at these places of its shared memory, and its half of D's rows. One thread. */
#define tcgen05_mma(group, d, a, b, instruction, accumulate)                                       \
    TCGEN05_CALL(mma, group)(d, a, b, instruction, accumulate)
/* One arrival at the barrier when all multiplications are complete that this thread has issued so
 * far. Contains a tcgen05_fence_before(). One thread. */
#define tcgen05_commit(group, barrier) TCGEN05_CALL(commit, group)(barrier)
/* The same at the barriers of all CTAs in the mask, at the same offset. */
#define tcgen05_commit_multicast(group, barrier, cta_mask)                                         \
    TCGEN05_CALL(commit_multicast, group)(barrier, cta_mask)

/* What this thread has done with tensor memory comes before the arrival, or barrier, that follows.
 * Each thread for its own accesses. */
DEVICE void tcgen05_fence_before(void) {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
/* What this thread will do with tensor memory comes after the wait that precedes. */
DEVICE void tcgen05_fence_after(void) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

#define TCGEN05_FIRST_LOADED(i) "=f"(values[i])
#define TCGEN05_NEXT_LOADED(i) , "=f"(values[i])
#define TCGEN05_DEFINE_LOAD(n)                                                                     \
    DEVICE void tcgen05_load_##n(float *values, uint32_t address) {                                \
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #n ".b32 {"                                \
                     ACC_##n(WGMMA_FIRST_NAME, WGMMA_NEXT_NAME) "}, [%" #n "];"                    \
                     : ACC_##n(TCGEN05_FIRST_LOADED, TCGEN05_NEXT_LOADED)                          \
                     : "r"(address));                                                              \
    }
TCGEN05_DEFINE_LOAD(8)
TCGEN05_DEFINE_LOAD(16)
TCGEN05_DEFINE_LOAD(32)
TCGEN05_DEFINE_LOAD(64)
TCGEN05_DEFINE_LOAD(128)

/* Loads n columns (8, 16, 32, 64 or 128) of the warp's 32 lanes: values[i] of a thread is column i
 * of its lane. The lane in `address` is the first of the warp's: 32 * (warp % 4); a warp reaches no
 * other lanes. A use of a value waits for it, and tells nothing of when the columns have been read.
 * A whole warp. */
#define tcgen05_load(n, values, address) TCGEN05_CALL(load, n)(values, address)
/* This thread's loads are complete: the columns may be overwritten, once other threads know. A
 * whole warp. */
DEVICE void tcgen05_wait_load(void) {
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

/* tma_load() by a CTA of a pair, which counts the bytes down on the barrier of the pair's even CTA,
 * at the offset of `barrier`. One thread. PTX ISA: cp.async.bulk.tensor (.cta_group::2), mapa. */
DEVICE void tma_load_pair(void *shared, const struct tensor_map *map, int row, int column,
                          mbarrier_t *barrier) {
    asm volatile("{ .reg .b32 rank, even; mov.u32 rank, %%cluster_ctarank; and.b32 rank, rank, -2;"
                 "mapa.shared::cluster.u32 even, %4, rank;\n\t"
                 "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [even]; }"
                 ::"r"(shared_address(shared)), "l"(map), "r"(column), "r"(row),
                 "r"(shared_address(barrier))
                 : "memory");
}

#else
#include "sim/blackwell/tcgen05.h"
#endif

#endif
