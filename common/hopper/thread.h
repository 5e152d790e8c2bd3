/*
 * thread.h: the CUDA thread: its indices, CTA and warp barriers, loads and stores.
 *
 * Every chapter includes this file. Under nvcc a wrapper is the instruction itself. In the
 * simulator it is a call that checks the access, adds its cost and records the line of the chapter
 * that made it. Kernels use threadIdx, blockIdx, blockDim, gridDim, __syncthreads(), __syncwarp()
 * and __shfl_sync() as in any CUDA program. This file adds wrappers for memory accesses, because
 * the simulator must see every one.
 */
#ifndef HOPPER_THREAD_H
#define HOPPER_THREAD_H

#include "gemm.h"

/* 16 bytes, the most that one thread moves in one instruction; and half of them. */
struct b128 {
    uint32_t word[4];
} __attribute__((aligned(16)));
struct b64 {
    uint32_t word[2];
} __attribute__((aligned(8)));

#ifdef __CUDACC__

#define DEVICE static __device__ __forceinline__
/* The same, of a function that a file calls with many constants: the simulator's compiler makes one
 * body of it. */
#define DEVICE_ONCE DEVICE
/* A kernel of `threads` threads of which `ctas` CTAs should fit an SM. Its warps are spread over
 * four sub-partitions of 16384 registers each, so a thread has at most 16384 / (32 * the most warps
 * in one of them), rounded down to a multiple of 8, and never more than 255 (docs/machine.md; CUDA
 * C++ Programming Guide, "Launch Bounds"). With both numbers ptxas can derive a thread's registers
 * at entry, which setmaxnreg needs. With `threads` alone it can do so only if the code uses all of
 * them; otherwise it ignores setmaxnreg (note C7508). */
#define KERNEL(threads, ctas) static __global__ void __launch_bounds__(threads, ctas)
/* One that leaves no timeline, beside the chapter's own. */
#define KERNEL_ASIDE(threads, ctas) static __global__ void __launch_bounds__(threads, ctas)
/* The kernel's parameter stays in constant memory, where the TMA can read a tensor map from it. One
 * of a kernel's own type begins with a struct gemm_args. */
#define KERNEL_ARGS_OF(type) const __grid_constant__ type
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
/* The CTA's dynamic shared memory, laid out as `type`; 1024-byte aligned, as a 128 B swizzle
 * needs. In a kernel whose parameter is called `args`. */
#define SHARED_MEMORY(type)                                                                        \
    extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];                       \
    type *const shared = (type *)dynamic_shared_memory

/* Shared-memory address for a PTX instruction: a pointer into the CTA's own shared memory, as
 * 32 bits. */
DEVICE uint32_t shared_address(const void *pointer) {
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* True in one thread of the warp, the same one in every call; all 32 call. PTX ISA: elect.sync. */
DEVICE bool elect_one(void) {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(elected));
    return elected != 0;
}

/* The warp's index in the CTA, in a form that the compiler can prove to be the same in all lanes.
 * All 32 lanes call. */
DEVICE int warp_index(void) { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }

/* Global memory. `pointer` is aligned to the size of the access; it may be any address of an
 * operand's allocation, its padding included. Conflicting accesses of another CTA in the same
 * launch must be ordered with it: hopper/atomics.h. Any thread. PTX ISA: ld.global, st.global. */
DEVICE element_t ld_global_element(const element_t *pointer) { return *pointer; }
DEVICE uint32_t ld_global_b32(const void *pointer) { return *(const uint32_t *)pointer; }
DEVICE struct b128 ld_global_b128(const void *pointer) { return *(const struct b128 *)pointer; }
DEVICE void st_global_element(element_t *pointer, element_t value) { *pointer = value; }
DEVICE void st_global_b8(void *pointer, uint32_t value) { *(uint8_t *)pointer = (uint8_t)value; }
DEVICE void st_global_b32(void *pointer, uint32_t value) { *(uint32_t *)pointer = value; }
DEVICE void st_global_b128(void *pointer, struct b128 value) { *(struct b128 *)pointer = value; }

/* Shared memory, generic proxy. A word may be a message to another thread, so the compiler keeps
 * every access to a word; accesses to chunks rely on the barriers around them. Any thread. PTX ISA:
 * ld.shared, st.shared. */
DEVICE uint32_t ld_shared_b32(const void *pointer) { return *(const volatile uint32_t *)pointer; }
DEVICE struct b64 ld_shared_b64(const void *pointer) { return *(const struct b64 *)pointer; }
DEVICE struct b128 ld_shared_b128(const void *pointer) { return *(const struct b128 *)pointer; }
DEVICE void st_shared_b32(void *pointer, uint32_t value) { *(volatile uint32_t *)pointer = value; }
DEVICE void st_shared_b128(void *pointer, struct b128 value) { *(struct b128 *)pointer = value; }

/* Waits until `threads` threads (a multiple of 32) have arrived at barrier `id` (1..15; 0 is
 * __syncthreads), and orders their memory accesses. Whole warps call. PTX ISA: bar.sync. */
DEVICE void named_barrier_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Arrives at the barrier without waiting. Whole warps call. PTX ISA: bar.arrive. */
DEVICE void named_barrier_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* A call of a function made of wrappers, such as the verbs of pipeline.h. The simulator's reports
 * also name the line of the call. */
#define VERB(call) call
#define VERB_VALUE(call) call
#define VERB_OF(name, alias, array, call) call

#else
#include "sim/hopper/thread.h"
#endif

/* The parameter of a kernel that needs no more than a struct gemm_args. */
#define KERNEL_ARGS KERNEL_ARGS_OF(struct gemm_args)

#endif
