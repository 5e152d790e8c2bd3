/*
 * cutlass_launch.h: what the adapters of CUTLASS's kernels have in common.
 */
#ifndef GPU_RIVALS_CUTLASS_LAUNCH_H
#define GPU_RIVALS_CUTLASS_LAUNCH_H

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include <cstdio>

#include "gpu/gpu_state.h"
#include "gpu/rivals/cutlass.h"

enum { MAX_SWIZZLE = 8 }; // tiles of a band, at most

/* The members of a kernel's arguments that depend on nothing but the GPU. CUTLASS's documentation
 * advises to state how many clusters fit the GPU; otherwise the persistent grid is computed from a
 * usual number of SMs in a GPC. */
template <class Gemm> static typename Gemm::Arguments arguments_for_gpu() {
    static const cutlass::KernelHardwareInfo info =
        cutlass::KernelHardwareInfo::make_kernel_hardware_info<typename Gemm::GemmKernel>(
            gpu_state.ordinal, gpu_state.sm_count);
    typename Gemm::Arguments arguments{};
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.hw_info = info;
    arguments.scheduler.max_swizzle_size = MAX_SWIZZLE;
    return arguments;
}

/* The arguments of row-major A times B transposed, which share a type, without scales. */
template <class Gemm> static typename Gemm::Arguments arguments_of_product(const gemm_problem *p) {
    typename Gemm::Arguments arguments = arguments_for_gpu<Gemm>();
    arguments.problem_shape = {p->m, p->n, p->k, 1};
    arguments.mainloop.ptr_A = reinterpret_cast<const typename Gemm::ElementA *>(p->a);
    arguments.mainloop.dA = {p->lda, {}, 0};
    arguments.mainloop.ptr_B = reinterpret_cast<const typename Gemm::ElementB *>(p->b);
    arguments.mainloop.dB = {p->ldb, {}, 0};
    arguments.epilogue.thread.alpha = 1.0f;
    arguments.epilogue.thread.beta = 0.0f;
    arguments.epilogue.ptr_D = reinterpret_cast<typename Gemm::ElementD *>(p->d);
    arguments.epilogue.dD = {p->ldd, {}, 0};
    return arguments;
}

/* Without a workspace: these kernels need none. */
template <class Gemm> static bool can_compute(const typename Gemm::Arguments &arguments) {
    return Gemm::can_implement(arguments) == cutlass::Status::kSuccess &&
           Gemm::get_workspace_size(arguments) == 0;
}

template <class Gemm>
static gemm_status enqueue_gemm(const contender *self, const typename Gemm::Arguments &arguments,
                                void *stream) {
    Gemm gemm;
    const auto on = static_cast<cudaStream_t>(stream);
    cutlass::Status status = gemm.initialize(arguments, nullptr, on);
    if (status == cutlass::Status::kSuccess) status = gemm.run(on);
    if (status == cutlass::Status::kSuccess) return GEMM_OK;
    fprintf(stderr, "CUTLASS: %s: %s\n", self->name, cutlassGetStatusString(status));
    return GEMM_LAUNCH_FAILED;
}

#endif
