/*
 * thread.h: the simulator's half of hopper/thread.h.
 */
#ifndef SIM_HOPPER_THREAD_H
#define SIM_HOPPER_THREAD_H

#include "gemm.h"
#include "sim/hopper/call.h"

struct b128;

void *sim_shared_memory(size_t bytes);
uint32_t sim_shared_address(const void *pointer);
bool sim_elect_one(void);
void sim_sync_threads(void);
void sim_sync_warp(void);
void sim_sync_lanes(uint32_t mask);
int sim_shuffle(uint32_t mask, int value, int lane);
void sim_named_barrier_sync(int id, int threads);
void sim_named_barrier_arrive(int id, int threads);
element_t sim_ld_global_element(const element_t *pointer);
uint32_t sim_ld_global_b32(const void *pointer);
struct b128 sim_ld_global_b128(const void *pointer);
void sim_st_global_element(element_t *pointer, element_t value);
void sim_st_global_b8(void *pointer, uint32_t value);
void sim_st_global_b32(void *pointer, uint32_t value);
void sim_st_global_b128(void *pointer, struct b128 value);
void sim_tile(int number);
uint32_t sim_ld_shared_b32(const void *pointer);
struct b64 sim_ld_shared_b64(const void *pointer);
struct b128 sim_ld_shared_b128(const void *pointer);
void sim_st_shared_b32(void *pointer, uint32_t value);
void sim_st_shared_b128(void *pointer, struct b128 value);

/* ---- the language ---- */

#ifdef HOPPER_BRANCHES /* inlined where gcc likes, after it has put the counters into it */
#define DEVICE static inline __attribute__((unused))
#else
#define DEVICE static inline __attribute__((always_inline, unused))
#endif
#define DEVICE_ONCE static __attribute__((noinline, unused))
/* The launch bounds are data for the simulator: registers at entry are 65536 / (threads * ctas). In
 * ELF the kernel's section tells them. WebAssembly's functions have neither address nor section, so
 * there a record names the file's kernel. */
struct sim_launch_bounds {
    const struct gemm_kernel *kernel;
    int ctas;
};
#ifdef __ELF__
#define KERNEL_IN_SECTION(ctas) __attribute__((section("sim_kernels_" #ctas))) static void
#define KERNEL(threads, ctas) KERNEL_IN_SECTION(ctas)
#elif defined(__wasm__) && defined(GEMM_KERNEL)
#define BOUNDS_OF_(kernel) bounds_of_##kernel
#define BOUNDS_OF(kernel) BOUNDS_OF_(kernel)
#define KERNEL(threads, ctas)                                                                      \
    /* not static: LLVM 14's linker drops what is only `used` */                                   \
    const struct sim_launch_bounds BOUNDS_OF(GEMM_KERNEL)                                          \
        __attribute__((section("sim_launch_bounds"), used)) = {&GEMM_KERNEL, ctas};                \
    static void
#else
#define KERNEL(threads, ctas) static void
#endif
#ifdef __wasm__
#define KERNEL_ASIDE(threads, ctas) static void
#else
#define KERNEL_ASIDE(threads, ctas) KERNEL(threads, ctas)
#endif
#define KERNEL_ARGS_OF(type) const type
#define UNROLL
#define NO_UNROLL
/* WebAssembly's caller copies the parameter into its own frame, which lies above the kernel's. */
#ifdef __wasm__
#define KERNEL_FRAME_ENDS() ((const void *)&args)
#else
#define KERNEL_FRAME_ENDS() __builtin_dwarf_cfa()
#endif
#define SHARED_MEMORY(type)                                                                        \
    type *const shared = (type *)SIM(sim_shared_memory(sizeof(type)));                             \
    sim_self->arguments = &args;                                                                   \
    sim_self->parameters = KERNEL_FRAME_ENDS()

#define threadIdx (sim_self->thread_index)
#define blockIdx (sim_self->block_index)
#define blockDim (sim_self->block_dim)
#define gridDim (sim_self->grid_dim)
#define __syncthreads() SIM(sim_sync_threads())
#define __syncwarp() SIM(sim_sync_warp())
#define __shfl_sync(mask, value, lane) SIM(sim_shuffle(mask, value, lane))

/* ---- the wrappers ---- */

#define ON_TILE(number) sim_tile(number)
#define shared_address(pointer) sim_shared_address(pointer)
#define elect_one() SIM(sim_elect_one())
#define warp_index() ((int)sim_self->thread_index.x / 32)
#define ld_global_element(pointer) SIM(sim_ld_global_element(pointer))
#define ld_global_b32(pointer) SIM(sim_ld_global_b32(pointer))
#define ld_global_b128(pointer) SIM(sim_ld_global_b128(pointer))
#define st_global_element(pointer, value) SIM(sim_st_global_element(pointer, value))
#define st_global_b8(pointer, value) SIM(sim_st_global_b8(pointer, value))
#define st_global_b32(pointer, value) SIM(sim_st_global_b32(pointer, value))
#define st_global_b128(pointer, value) SIM(sim_st_global_b128(pointer, value))
#define ld_shared_b32(pointer) SIM(sim_ld_shared_b32(pointer))
#define ld_shared_b64(pointer) SIM(sim_ld_shared_b64(pointer))
#define ld_shared_b128(pointer) SIM(sim_ld_shared_b128(pointer))
#define st_shared_b32(pointer, value) SIM(sim_st_shared_b32(pointer, value))
#define st_shared_b128(pointer, value) SIM(sim_st_shared_b128(pointer, value))
#define named_barrier_sync(id, threads) SIM(sim_named_barrier_sync(id, threads))
#define named_barrier_arrive(id, threads) SIM(sim_named_barrier_arrive(id, threads))

#endif
