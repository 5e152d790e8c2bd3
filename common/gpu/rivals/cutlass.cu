/*
 * cutlass.cu: CUTLASS's warp-specialized persistent kernels, cooperative and ping-pong, as its
 * builders assemble them by default: the stages that fit, clusters of 2 x 1, bands of up to 8 tiles
 * ("max swizzle"). Of each kind the fastest of its usual tiles is the contender.
 */
#include <cutlass/cutlass.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include <cstdio>

#include "gpu/baselines.h"
#include "gpu/gpu_state.h"

using cute::_1;
using cute::_128;
using cute::_2;
using cute::_256;
using cute::_64;

enum { MAX_SWIZZLE = 8 };

/* ---- one kernel ---- */

template <class Element, class Tile, class MainLoop, class Epilogue>
struct assembled {
    static constexpr int alignment = 8; // elements: 16 bytes
    using row_major = cutlass::layout::RowMajor;
    using column_major = cutlass::layout::ColumnMajor;
    using cluster = cute::Shape<_2, _1, _1>;
    // There is no C: void.
    using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, row_major, alignment,
        Element, row_major, alignment, Epilogue>::CollectiveOp;
    using main_loop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, row_major, alignment, Element,
        column_major, alignment, float, Tile, cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
            sizeof(typename epilogue::SharedStorage))>,
        MainLoop>::CollectiveOp;
    using kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, main_loop,
                                                        epilogue>;
    using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;
};

template <class Gemm> static typename Gemm::Arguments arguments_of(const gemm_problem *p) {
    typename Gemm::Arguments arguments{};
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape = {p->m, p->n, p->k, 1};
    arguments.mainloop.ptr_A = reinterpret_cast<const typename Gemm::ElementA *>(p->a);
    arguments.mainloop.dA = {p->lda, {}, 0};
    arguments.mainloop.ptr_B = reinterpret_cast<const typename Gemm::ElementB *>(p->b);
    arguments.mainloop.dB = {p->ldb, {}, 0};
    arguments.epilogue.thread.alpha = 1.0f;
    arguments.epilogue.thread.beta = 0.0f;
    arguments.epilogue.ptr_D = reinterpret_cast<typename Gemm::ElementD *>(p->d);
    arguments.epilogue.dD = {p->ldd, {}, 0};
    arguments.hw_info.device_id = gpu_state.ordinal;
    arguments.hw_info.sm_count = gpu_state.sm_count;
    arguments.scheduler.max_swizzle_size = MAX_SWIZZLE;
    return arguments;
}

template <class Gemm>
static gemm_status enqueue(const contender *self, const gemm_problem *p, void *stream) {
    Gemm gemm;
    cutlass::Status status = gemm.initialize(arguments_of<Gemm>(p), nullptr,
                                             static_cast<cudaStream_t>(stream));
    if (status == cutlass::Status::kSuccess) status = gemm.run(static_cast<cudaStream_t>(stream));
    if (status == cutlass::Status::kSuccess) return GEMM_OK;
    fprintf(stderr, "CUTLASS: %s: %s\n", self->name, cutlassGetStatusString(status));
    return GEMM_LAUNCH_FAILED;
}

/* ---- choosing one ---- */

/* The kernels of one kind that can compute the problem. */
struct candidates {
    contender list[MOST_CANDIDATES];
    int count;
};

template <class Tile, class MainLoop, class Epilogue, class Element>
static void add(candidates *c, const char *name, const gemm_problem *p) {
    using made = assembled<Element, Tile, MainLoop, Epilogue>;
    using gemm = typename made::gemm;
    // Without a workspace: these kernels need none.
    if (gemm::can_implement(arguments_of<gemm>(p)) != cutlass::Status::kSuccess ||
        gemm::get_workspace_size(arguments_of<gemm>(p)) != 0)
        return;
    contender *out = &c->list[c->count++];
    *out = contender{};
    out->name = name;
    out->result = RESULT_PRODUCT;
    out->enqueue = enqueue<gemm>;
    out->algorithm.name = "CollectiveBuilder";
    out->algorithm.tile_m = cute::size<0>(Tile{});
    out->algorithm.tile_n = cute::size<1>(Tile{});
    out->algorithm.tile_k = cute::size<2>(Tile{});
    out->algorithm.stages = made::main_loop::DispatchPolicy::Stages;
    out->algorithm.cluster_m = 2;
    out->algorithm.cluster_n = 1;
    out->algorithm.splits = 1;
    out->algorithm.reduction = "none";
}

template <class Element>
static void add_cooperative(candidates *c, const char *name, const gemm_problem *p) {
    using main_loop = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
    add<cute::Shape<_128, _256, _64>, main_loop, epilogue, Element>(c, name, p);
    add<cute::Shape<_256, _128, _64>, main_loop, epilogue, Element>(c, name, p);
}

template <class Element>
static void add_pingpong(candidates *c, const char *name, const gemm_problem *p) {
    using main_loop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using epilogue = cutlass::epilogue::TmaWarpSpecialized;
    add<cute::Shape<_64, _128, _64>, main_loop, epilogue, Element>(c, name, p);
    add<cute::Shape<_64, _256, _64>, main_loop, epilogue, Element>(c, name, p);
    add<cute::Shape<_128, _128, _64>, main_loop, epilogue, Element>(c, name, p);
}

static bool choose(const candidates *c, const char *name, const gemm_problem *p, contender *out) {
    const int winner = c->count ? fastest_candidate(c->list, c->count, p) : -1;
    if (winner < 0) {
        fprintf(stderr, "CUTLASS: %s: no kernel for %d x %d x %d; n and k must be multiples of 8\n",
                name, p->m, p->n, p->k);
        return false;
    }
    *out = c->list[winner];
    return true;
}

extern "C" bool cutlass_cooperative_contender(const gemm_problem *problems, int count,
                                              contender *out) {
    (void)count;
    static const char name[] = "cutlass-cooperative";
    candidates c{};
    if (gpu_state.type == GEMM_BF16)
        add_cooperative<cutlass::bfloat16_t>(&c, name, problems);
    else
        add_cooperative<cutlass::half_t>(&c, name, problems);
    return choose(&c, name, problems, out);
}

extern "C" bool cutlass_pingpong_contender(const gemm_problem *problems, int count,
                                           contender *out) {
    (void)count;
    static const char name[] = "cutlass-pingpong";
    candidates c{};
    if (gpu_state.type == GEMM_BF16)
        add_pingpong<cutlass::bfloat16_t>(&c, name, problems);
    else
        add_pingpong<cutlass::half_t>(&c, name, problems);
    return choose(&c, name, problems, out);
}
