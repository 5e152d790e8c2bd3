/*
 * recorder.h: on the GPU, the cues of a kernel (cues.h).
 *
 * A traced object is compiled with this header in front (nvcc -include); the source stays as it is.
 * Each wrapper below becomes a macro that calls it and leaves a record of 8 bytes, in the first
 * thread of each warpgroup; in kernels for several GPUs also in the first thread of warp 1, which
 * moves data between them. The kernel becomes a function that a kernel of the same name calls
 * between opening and closing the record.
 *
 * Where the next record goes, and which calls are cues (sim/hopper/turns.h), is kept in registers
 * that have names in PTX, so that it need not be passed through the kernel's functions: all of them
 * are inlined, and assembly further down may use what assembly further up has declared. The flags
 * are constants nearly everywhere in the unrolled code, and ptxas knows them, so a call that is no
 * cue costs nothing.
 */
#ifndef TIMELINE_RECORDER_H
#define TIMELINE_RECORDER_H

#include "hopper/thread.h"
#include "services/devices.h"
#include "timeline/trace.h"

DEVICE uint64_t recorder_clock(void) {
    uint64_t clock;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
    return clock;
}

DEVICE uint64_t recorder_time(void) {
    uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

/* `buffer` (gemm_args.trace) may be NULL: nothing is recorded then. */
DEVICE void recorder_open(struct trace_record *buffer, bool several) {
    const bool moves = several && threadIdx.x == 32;
    const uint32_t warpgroup = moves ? (uint32_t)TRACE_THREADS : threadIdx.x / 128;
    const bool first = threadIdx.x % 128 == 0 && warpgroup < TRACE_ROLES;
    const uint32_t cta = blockIdx.x;
    uint64_t next = 0; /* the next record's address; 0: this thread does not record */
    if ((first || moves) && buffer != NULL && cta < TRACE_CTAS) {
        struct trace_record *region = buffer + (cta * TRACE_ROLES + warpgroup) * TRACE_REGION;
        struct trace_header *header = (struct trace_header *)region;
        uint32_t sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        header->sm = sm;
        header->warp = threadIdx.x / 32;
        header->state = TRACE_OPENED;
        header->open_time = recorder_time();
        header->open_clock = recorder_clock();
        next = (uint64_t)(region + TRACE_HEADER);
    }
    asm volatile(".reg .b32 recorder_next, recorder_upper;\n"
                 ".reg .b32 turn_copy, turn_fragments, turn_multiply, turn_barrier, turn_result;\n"
                 "mov.b64 {recorder_next, recorder_upper}, %0;\n"
                 "mov.b32 turn_copy, 1;\n" /* TURNS_AT_FIRST */
                 "mov.b32 turn_fragments, 1;\n"
                 "mov.b32 turn_multiply, 1;\n"
                 "mov.b32 turn_barrier, 0;\n"
                 "mov.b32 turn_result, 0;" ::"l"(next));
}

/* Leaves a record, in PTX: of the register or constant `mark`, and of operands that are TRACE_BYTES
 * - 1 and a record's size. One statement, so that all of it is predicated and nothing branched
 * around: the compiler would serialize wgmmas that stand on both sides of a branch. A region's end
 * is a multiple of TRACE_BYTES: records beyond it are lost. The address is advanced before the
 * store, because what overwrites an operand of a store waits until the store has read it. */
#define RECORD_PTX(mask, size, mark)                                                               \
    "{\n"                                                                                          \
    ".reg .pred p;\n"                                                                              \
    ".reg .b32 clock, place;\n"                                                                    \
    ".reg .b64 behind;\n"                                                                          \
    "and.b32 place, recorder_next, " mask ";\n"                                                    \
    "setp.ne.u32 p, place, 0;\n"                                                                   \
    "@p add.u32 recorder_next, recorder_next, " size ";\n"                                         \
    "mov.b64 behind, {recorder_next, recorder_upper};\n"                                           \
    "mov.u32 clock, %%clock;\n"                                                                    \
    "@p st.global.v2.b32 [behind + -" size "], {clock, " mark "};\n"                               \
    "}"

DEVICE void recorder_cue(enum trace_event event, uint32_t argument) {
    asm volatile(RECORD_PTX("%0", "%1", "%2")::"n"(TRACE_BYTES - 1),
                 "n"((int)sizeof(struct trace_record)),
                 "r"(((uint32_t)event << TRACE_EVENT_SHIFT) + argument));
}

/* A cue if the flag is set. The cue's argument, for which nobody asks, is the record's place: of a
 * constant the compiler would keep a copy in a register through the main loop, and the fullest
 * kernel has none left. */
#define RECORD_TURN_PTX RECORD_PTX("%0", "%1", "mark") "\n"
#define RECORDER_TURN(flag, event)                                                                 \
    asm volatile("{\n"                                                                             \
                 ".reg .pred turns;\n"                                                             \
                 ".reg .b32 mark;\n"                                                               \
                 "setp.ne.u32 turns, turn_" #flag ", 0;\n"                                         \
                 "@!turns bra same;\n"                                                             \
                 "and.b32 mark, recorder_next, %0;\n"                                              \
                 "add.u32 mark, mark, %2;\n" RECORD_TURN_PTX "same:\n}" ::"n"(TRACE_BYTES - 1),    \
                 "n"((int)sizeof(struct trace_record)), "n"((event) << TRACE_EVENT_SHIFT))
#define RECORDER_FLAG(flag, value) asm volatile("mov.b32 turn_" #flag ", " #value ";")

DEVICE void recorder_copies(void) {
    RECORDER_TURN(copy, TRACE_CUE_COPY);
    RECORDER_FLAG(copy, 0);
}
DEVICE void recorder_committed(void) { RECORDER_FLAG(copy, 1); }
DEVICE void recorder_loads_fragments(void) {
    RECORDER_TURN(fragments, TRACE_CUE_FRAGMENTS);
    RECORDER_FLAG(fragments, 0);
    RECORDER_FLAG(multiply, 1);
    RECORDER_FLAG(barrier, 1);
}
DEVICE void recorder_multiplies(void) {
    RECORDER_TURN(multiply, TRACE_CUE_MULTIPLY);
    RECORDER_FLAG(multiply, 0);
    RECORDER_FLAG(fragments, 1);
    RECORDER_FLAG(barrier, 1);
    RECORDER_FLAG(result, 1);
}
DEVICE void recorder_converts(void) {
    RECORDER_TURN(result, TRACE_CUE_RESULT);
    RECORDER_FLAG(result, 0);
}
DEVICE void recorder_adds(void) { RECORDER_FLAG(result, 1); }
DEVICE void recorder_fills(void) { RECORDER_FLAG(barrier, 1); }
DEVICE void recorder_barrier(void) { RECORDER_TURN(barrier, TRACE_CUE_BARRIER); }
DEVICE void recorder_free(void) {
    RECORDER_TURN(barrier, TRACE_CUE_FREE);
    RECORDER_FLAG(barrier, 0);
}
DEVICE void recorder_fence(void) {
    RECORDER_TURN(result, TRACE_CUE_WAIT);
    RECORDER_FLAG(barrier, 0);
}
DEVICE void recorder_waits(void) {
    recorder_cue(TRACE_CUE_WAIT, 0);
    RECORDER_FLAG(barrier, 0);
}

DEVICE void recorder_close(void) {
    uint64_t next;
    asm volatile("mov.b64 %0, {recorder_next, recorder_upper};" : "=l"(next));
    if (next == 0) return;
    const uint64_t last = next - sizeof(struct trace_record);
    struct trace_header *header = (struct trace_header *)(last / TRACE_BYTES * TRACE_BYTES);
    header->marks = last % TRACE_BYTES / sizeof(struct trace_record) + 1 - TRACE_HEADER;
    header->close_time = recorder_time();
    header->close_clock = recorder_clock();
    header->state |= TRACE_CLOSED;
}

/* ---- the kernel ---- */

#undef KERNEL
#pragma push_macro("KERNEL_ARGS_OF")
#undef KERNEL_ARGS_OF
#define KERNEL_ARGS_OF(type) const type &
/* Every parameter begins with a gemm_args. */
template <typename args_of_kernel>
DEVICE struct trace_record *recorder_buffer(const args_of_kernel &args) {
    return ((const struct gemm_args &)args).trace;
}
template <typename args_of_kernel> DEVICE bool recorder_several(const args_of_kernel &) {
    return false;
}
DEVICE bool recorder_several(const struct gemm_device_args &) { return true; }
/* The type of the parameter of recorded(), which takes a reference. */
template <typename function> struct recorder_parameter;
template <typename args_of_kernel> struct recorder_parameter<void(const args_of_kernel &)> {
    typedef args_of_kernel type;
};
#define KERNEL(threads, ctas) enum { RECORDER_THREADS = threads, RECORDER_CTAS = ctas };
/* The parentheses keep the name from being this macro. */
#define kernel(parameter)                                                                          \
    DEVICE void recorded(parameter);                                                               \
    static __global__ void __launch_bounds__(RECORDER_THREADS, RECORDER_CTAS)(kernel)(             \
        const __grid_constant__ recorder_parameter<decltype(recorded)>::type args) {               \
        recorder_open(recorder_buffer(args), recorder_several(args));                              \
        recorded(args);                                                                            \
        recorder_close();                                                                          \
    }                                                                                              \
    DEVICE void recorded(parameter)

/* ---- the wrappers ---- */

#define ON_TILE(number) recorder_cue(TRACE_CUE_TILE, number)

#include "hopper/element.h"
#include "hopper/tma.h"
#pragma push_macro("st_global_b128")
#pragma push_macro("st_shared_b128")
#pragma push_macro("ld_global_element")
#pragma push_macro("float_to_element")
#pragma push_macro("pack_elements")
#pragma push_macro("__syncthreads")
#pragma push_macro("fence_proxy_async")
#define st_global_b128(pointer, value)                                                             \
    (recorder_cue(TRACE_CUE_SEND, 0), st_global_b128(pointer, value))
#define st_shared_b128(pointer, value) (recorder_fills(), st_shared_b128(pointer, value))
#define ld_global_element(pointer) (recorder_adds(), ld_global_element(pointer))
#define float_to_element(f) (recorder_converts(), float_to_element(f))
#define pack_elements(low, high) (recorder_converts(), pack_elements(low, high))
#define __syncthreads() (recorder_barrier(), __syncthreads(), recorder_free())
#define fence_proxy_async() (recorder_fence(), fence_proxy_async())
/* A second kernel of the file leaves no record and has none of the registers. From it on,
 * KERNEL_ARGS_OF() is a parameter in constant memory again, and what such kernels call is the
 * wrapper. */
#undef KERNEL_ASIDE
#define KERNEL_ASIDE(threads, ctas)                                                                \
    _Pragma("pop_macro(\"KERNEL_ARGS_OF\")") _Pragma("pop_macro(\"st_global_b128\")")              \
        _Pragma("pop_macro(\"st_shared_b128\")") _Pragma("pop_macro(\"ld_global_element\")")       \
            _Pragma("pop_macro(\"float_to_element\")") _Pragma("pop_macro(\"pack_elements\")")     \
                _Pragma("pop_macro(\"__syncthreads\")")                                            \
                    _Pragma("pop_macro(\"fence_proxy_async\")") static __global__ void             \
                    __launch_bounds__(threads, ctas)

#include "hopper/cp_async.h"
#define cp_async_16(shared, global, valid_bytes)                                                   \
    (recorder_copies(), cp_async_16(shared, global, valid_bytes))
#define cp_async_commit_group() (cp_async_commit_group(), recorder_committed())
#undef cp_async_wait_group
#define cp_async_wait_group(pending)                                                               \
    do {                                                                                           \
        recorder_waits();                                                                          \
        asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");                         \
    } while (0)

#include "hopper/mma.h"
#define ldmatrix_x4(r, row) (recorder_loads_fragments(), ldmatrix_x4(r, row))
#define mma_m16n8k16(d, a, b) (recorder_multiplies(), mma_m16n8k16(d, a, b))

#include "hopper/mbarrier.h"
#define mbarrier_wait(barrier, parity)                                                             \
    (recorder_cue(TRACE_CUE_WAIT, 0), mbarrier_wait(barrier, parity),                              \
     recorder_cue(TRACE_CUE_PASS, 0))
#define mbarrier_arrive_expect_tx(barrier, bytes)                                                  \
    (mbarrier_arrive_expect_tx(barrier, bytes), recorder_cue(TRACE_CUE_ANNOUNCE, 0))

#define tma_load_multicast(shared, map, row, column, barrier, cta_mask)                            \
    (recorder_cue(TRACE_CUE_MULTICAST, 0),                                                         \
     tma_load_multicast(shared, map, row, column, barrier, cta_mask))
#define bulk_commit_group() (bulk_commit_group(), recorder_cue(TRACE_CUE_STORE, 0))
#undef bulk_wait_group
#define bulk_wait_group(pending)                                                                   \
    do {                                                                                           \
        recorder_cue(TRACE_CUE_STORED, 0);                                                         \
        asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");                    \
    } while (0)

#include "hopper/wgmma.h"
#define wgmma_commit_group() (wgmma_commit_group(), recorder_cue(TRACE_CUE_COMMIT, 0))
#undef wgmma_wait_group
#define wgmma_wait_group(pending)                                                                  \
    do {                                                                                           \
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");               \
        recorder_cue(TRACE_CUE_DRAIN, pending);                                                    \
    } while (0)
/* The compiler computes all of the sums before the cue that says so. */
DEVICE void recorder_promoted(float *sum, int count) {
    wgmma_use_registers(sum, count);
    recorder_cue(TRACE_CUE_PROMOTED, 0);
}
#define wgmma_promote(sum, acc, scale, count)                                                      \
    (recorder_cue(TRACE_CUE_PROMOTE, 0), wgmma_promote(sum, acc, scale, count),                    \
     recorder_promoted(sum, count))
#define wgmma_promote_columns(sum, acc, scale, count)                                              \
    (recorder_cue(TRACE_CUE_PROMOTE, 0), wgmma_promote_columns(sum, acc, scale, count),            \
     recorder_promoted(sum, count))

#endif
