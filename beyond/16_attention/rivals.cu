/*
 * rivals.cu: what the kernels of this chapter are timed beside; on the GPU alone. Here is cuDNN's
 * attention, in a build that names cuDNN and the headers of its front end (HOPPER_CUDNN,
 * HOPPER_CUDNN_FRONTEND). The library itself is loaded at run time.
 */
#include "attention.h"
#include "gpu/baselines.h"

#ifdef HOPPER_CUDNN

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#include <cudnn_frontend.h>
#include <dlfcn.h>
#include <stdio.h>

#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

namespace cudnn_frontend {
void *cudnn_dlhandle;
}
namespace fe = cudnn_frontend;

enum { Q = 1, K, V, O, SUMS }; /* names of the graph's tensors */

enum { FORMS = 2 }; /* in which the front end can put the operation */
static const fe::AttentionImplementation_t forms[FORMS] = {fe::AttentionImplementation_t::COMPOSITE,
                                                           fe::AttentionImplementation_t::UNIFIED};

/* Of one problem and one form. */
struct plan {
    std::shared_ptr<fe::graph::Graph> graph;
    void *workspace;
};

static struct {
    cudnnHandle_t handle;
    struct plan plans[FORMS];
} cudnn;

static bool fe_ok(fe::error_t error, const char *attempt) {
    if (error.is_good()) return true;
    fprintf(stderr, "cuDNN: %s: %s\n", attempt, error.get_message().c_str());
    return false;
}

static bool open_library(void) {
    if (cudnn.handle) return true;
    fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW);
    if (!fe::cudnn_dlhandle)
        fe::cudnn_dlhandle = dlopen(HOPPER_CUDNN "/lib/libcudnn.so.9", RTLD_NOW);
    if (!fe::cudnn_dlhandle) {
        fprintf(stderr, "cuDNN: %s\n", dlerror());
        return false;
    }
    return fe::detail::create_handle(&cudnn.handle) == CUDNN_STATUS_SUCCESS &&
           fe::detail::set_stream(cudnn.handle, gpu_state.stream) == CUDNN_STATUS_SUCCESS;
}

/* A matrix [batch][rows][heads * d] as cuDNN counts its dimensions: batch, head, row, column. */
static fe::graph::Tensor_attributes tensor(int64_t name, int batch, int heads, int rows, int d,
                                           int64_t stride, int64_t ld) {
    fe::graph::Tensor_attributes t;
    t.set_uid(name).set_dim({batch, heads, rows, d}).set_stride({stride, d, ld, 1});
    return t;
}

/* Makes the plan of a form. One that needs more memory than this keeps the scores there. */
enum { MOST_WORKSPACE = 256 << 20 };
static bool make_plan(struct plan *plan, const struct gemm_problem *p,
                      fe::AttentionImplementation_t form) {
    const struct attention_problem *const of = attention_of(p);
    const fe::DataType_t type =
        gpu_state.type == GEMM_BF16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF;
    const struct attention_strides *const strides = &of->strides;
    const int d = p->k, batch = of->batch, heads = of->heads, kv_heads = of->kv_heads;
    const struct gemm_matrix *v = &p->matrix[VALUES], *lse = &p->matrix[LSE];
    auto graph = std::make_shared<fe::graph::Graph>();
    graph->set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    fe::graph::SDPA_attributes sdpa;
    sdpa.set_generate_stats(true).set_attn_scale(of->scale * 0.6931471806f); /* ln 2 */
    sdpa.set_implementation(form);
    if (of->causal)
        sdpa.set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT)
            .set_diagonal_band_right_bound(0);
    auto made = graph->sdpa(graph->tensor(tensor(Q, batch, heads, p->m, d, strides->q, p->lda)),
                            graph->tensor(tensor(K, batch, kv_heads, p->n, d, strides->k, p->ldb)),
                            graph->tensor(tensor(V, batch, kv_heads, p->n, d, strides->v, v->ld)),
                            sdpa);
    made[0]->set_output(true).set_uid(O).set_dim({batch, heads, p->m, d});
    made[0]->set_stride({strides->o, d, p->ldd, 1});
    made[1]->set_output(true).set_uid(SUMS).set_data_type(fe::DataType_t::FLOAT);
    made[1]->set_dim({batch, heads, p->m, 1}).set_stride({heads * lse->ld, lse->ld, 1, 1});
    if (!fe_ok(graph->validate(), "validating the graph") ||
        !fe_ok(graph->build_operation_graph(cudnn.handle), "building the graph") ||
        !fe_ok(graph->create_execution_plans({fe::HeurMode_t::A}), "asking for plans"))
        return false;
    graph->deselect_workspace_greater_than(MOST_WORKSPACE);
    int64_t bytes = 0;
    if (!fe_ok(graph->check_support(cudnn.handle), "looking for a plan") ||
        !fe_ok(graph->build_plans(cudnn.handle), "building a plan") ||
        !fe_ok(graph->get_workspace_size(bytes), "asking for the workspace"))
        return false;
    if (plan->workspace) cudaFree(plan->workspace);
    plan->workspace = NULL;
    if (bytes && !cuda_ok(cudaMalloc(&plan->workspace, (size_t)bytes), "allocating a workspace"))
        return false;
    plan->graph = graph;
    return true;
}

static enum gemm_status call_library(const struct contender *self, const struct gemm_problem *p,
                                     void *stream) {
    const struct plan *const plan = (const struct plan *)self->state;
    std::unordered_map<int64_t, void *> memory = {{Q, (void *)(uintptr_t)p->a},
                                                  {K, (void *)(uintptr_t)p->b},
                                                  {V, p->matrix[VALUES].memory},
                                                  {O, p->d},
                                                  {SUMS, p->matrix[LSE].memory}};
    return fe::detail::set_stream(cudnn.handle, (cudaStream_t)stream) == CUDNN_STATUS_SUCCESS &&
                   fe_ok(plan->graph->execute(cudnn.handle, memory, plan->workspace), "attention")
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static bool cudnn_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    struct contender candidates[FORMS];
    int made = 0;
    (void)count;
    if (!open_library()) return false;
    for (int i = 0; i < FORMS; ++i)
        if (make_plan(&cudnn.plans[i], problems, forms[i]))
            candidates[made++] =
                contender_of("cudnn", RESULT_PRODUCT, call_library, &cudnn.plans[i]);
    const int winner = made ? fastest_candidate(candidates, made, problems) : -1;
    if (winner >= 0) *out = candidates[winner];
    return winner >= 0;
}

#endif

int attention_rivals(const struct gemm_problem *problems, int count, uint32_t wanted,
                     struct contender *out, int room) {
    int made = 0;
    (void)problems, (void)count, (void)out, (void)room;
#ifdef HOPPER_CUDNN
    made += cudnn_contender(problems, count, &out[made]);
#endif
#ifdef HOPPER_FLASH_ATTENTION
    made += flash_attention_contender(problems, count, &out[made]);
#endif
    return made;
}
