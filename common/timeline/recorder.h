/*
 * recorder.h: on the GPU, the cues of a kernel that has no marks (cues.h).
 *
 * A traced object is compiled with this header in front (nvcc -include) unless its source has marks
 * of its own; the source stays as it is. Each wrapper below becomes a macro that calls it and
 * leaves a record, in the first thread of each warpgroup; in kernels for several GPUs also in the
 * first thread of warp 1, which moves data between them. The kernel becomes a function that a
 * kernel of the same name calls between opening and closing the record.
 *
 * Where the next record goes is kept in two registers that have names in PTX, so that it need not
 * be passed through the kernel's functions: all of them are inlined, and assembly further down may
 * use what assembly further up has declared.
 */
#ifndef TIMELINE_RECORDER_H
#define TIMELINE_RECORDER_H

#include "services/devices.h"
#include "timeline/trace.h"

DEVICE void recorder_open(struct trace_record *buffer, bool several) {
    const bool moves = several && threadIdx.x == 32;
    const uint32_t warpgroup = moves ? (uint32_t)TRACE_THREADS : threadIdx.x / 128;
    const bool first = threadIdx.x % 128 == 0 && warpgroup < TRACE_ROLES;
    const struct trace trace = trace_open(buffer, warpgroup, first || moves);
    if (trace.next != 0) {
        const uint64_t next = (uint64_t)trace.upper << 32 | trace.next;
        struct trace_header *header = (struct trace_header *)next - 1;
        header->state |= TRACE_CUES;
    }
    asm volatile(".reg .b32 recorder_next, recorder_upper;\n"
                 "mov.b32 recorder_next, %0;\n"
                 "mov.b32 recorder_upper, %1;" ::"r"(trace.next),
                 "r"(trace.upper));
}

/* As trace_mark(). */
DEVICE void recorder_cue(enum trace_event event, uint32_t argument) {
    asm volatile(
        TRACE_MARK_PTX("recorder_next", "recorder_upper", "%0", "%1", "%2")::"n"(TRACE_BYTES - 1),
        "n"((int)sizeof(struct trace_record)),
        "r"(((uint32_t)event << TRACE_EVENT_SHIFT) + argument));
}

DEVICE void recorder_close(void) {
    struct trace trace;
    asm volatile("mov.b32 %0, recorder_next;\nmov.b32 %1, recorder_upper;"
                 : "=r"(trace.next), "=r"(trace.upper));
    trace_close(&trace);
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

#pragma push_macro("st_global_b128")
#define st_global_b128(pointer, value)                                                             \
    (recorder_cue(TRACE_CUE_SEND, 0), st_global_b128(pointer, value))
/* A second kernel of the file leaves no record and has none of the two registers. From it on,
 * KERNEL_ARGS_OF() is a parameter in constant memory again, and st_global_b128 the wrapper. */
#undef KERNEL_ASIDE
#define KERNEL_ASIDE(threads, ctas)                                                                \
    _Pragma("pop_macro(\"KERNEL_ARGS_OF\")")                                                       \
        _Pragma("pop_macro(\"st_global_b128\")") static __global__ void                            \
        __launch_bounds__(threads, ctas)

#include "hopper/mbarrier.h"
#define mbarrier_wait(barrier, parity)                                                             \
    (recorder_cue(TRACE_CUE_WAIT, 0), mbarrier_wait(barrier, parity),                              \
     recorder_cue(TRACE_CUE_PASS, 0))
#define mbarrier_arrive_expect_tx(barrier, bytes)                                                  \
    (mbarrier_arrive_expect_tx(barrier, bytes), recorder_cue(TRACE_CUE_ANNOUNCE, 0))

#include "hopper/tma.h"
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
