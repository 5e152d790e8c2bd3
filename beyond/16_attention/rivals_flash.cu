/*
 * rivals_flash.cu: FlashAttention-3, which the kernels of this chapter are timed beside; on the
 * GPU, in a build that names a checkout (HOPPER_FLASH_ATTENTION). beyond/cmake compiles its
 * kernels. Here they are called as its Python interface calls them if flash_attn_func() is given
 * the operands, the scale and the mask.
 */
#include "attention.h"

#ifdef HOPPER_FLASH_ATTENTION

#include <cutlass/numeric_types.h>
#include <flash.h>
#include <heuristics.h>
#include <stdio.h>
#include <tile_size.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

/* Causal kernels draw their tiles from a counter, which is 0 when a kernel begins. */
static int *next_tile;

/* Of a single query a mask hides nothing. */
static bool is_causal(const struct gemm_problem *p) {
    return attention_of(p)->causal && p->m > 1;
}

/* Strides in elements; what is not set is not used, or is 0. */
static Flash_fwd_params params_of(const struct gemm_problem *p) {
    const struct attention_problem *const of = attention_of(p);
    const struct gemm_matrix *const v = &p->matrix[VALUES];
    Flash_fwd_params f = {};
    f.q_ptr = (void *)(uintptr_t)p->a;
    f.k_ptr = (void *)(uintptr_t)p->b;
    f.v_ptr = v->memory;
    f.o_ptr = p->d;
    f.softmax_lse_ptr = p->matrix[LSE].memory;
    f.q_row_stride = p->lda;
    f.k_row_stride = p->ldb;
    f.v_row_stride = v->ld;
    f.o_row_stride = p->ldd;
    f.q_head_stride = f.k_head_stride = f.v_head_stride = f.o_head_stride = p->k;
    f.q_batch_stride = of->strides.q;
    f.k_batch_stride = of->strides.k;
    f.v_batch_stride = of->strides.v;
    f.o_batch_stride = of->strides.o;
    f.v_dim_stride = 1;
    f.b = of->batch;
    f.h = of->heads;
    f.h_k = of->kv_heads;
    f.seqlen_q = p->m;
    f.seqlen_k = p->n;
    f.d = f.dv = p->k;
    f.scale_softmax = of->scale * 0.6931471806f; /* ln 2 */
    f.is_causal = is_causal(p);
    f.window_size_left = p->n - 1;
    f.window_size_right = f.is_causal ? 0 : p->m - 1;
    f.num_splits = 1;
    f.tile_count_semaphore = next_tile;
    f.num_sm = gpu_state.sm_count;
    return f;
}

template <typename Element> static void run(Flash_fwd_params &f, cudaStream_t stream) {
    if (f.d == 64)
        run_mha_fwd_<90, Element, 64, 64, false, false, false, false>(f, stream);
    else
        run_mha_fwd_<90, Element, 128, 128, false, false, false, false>(f, stream);
}

/* A launch that fails ends the program, with a message: their code does that. */
static enum gemm_status call_flash_attention(const struct contender *self,
                                             const struct gemm_problem *p, void *stream) {
    (void)self;
    Flash_fwd_params f = params_of(p);
    if (f.is_causal) {
        const enum gemm_status status = gemm_zero(next_tile, sizeof *next_tile, stream);
        if (status != GEMM_OK) return status;
    }
    if (gpu_state.type == GEMM_BF16)
        run<cutlass::bfloat16_t>(f, (cudaStream_t)stream);
    else
        run<cutlass::half_t>(f, (cudaStream_t)stream);
    return GEMM_OK;
}

/* Would their interface put the queries of heads that share keys into one tile? */
static bool packs_heads(const struct gemm_problem *p) {
    const struct attention_problem *const of = attention_of(p);
    const int sharing = of->heads / of->kv_heads;
    const int tile_m = std::get<0>(tile_size_fwd_sm90(p->k, p->k, is_causal(p), false));
    return sharing > 1 && should_pack_gqa(false, p->m, sharing, tile_m);
}

bool flash_attention_contender(const struct gemm_problem *problems, int count,
                               struct contender *out) {
    (void)count;
    if (problems->matrix[LSE].ld != problems->m) {
        fprintf(stderr, "FlashAttention: writes LSE without padding: m must be a multiple of 4\n");
        return false;
    }
    if (packs_heads(problems)) {
        fprintf(stderr,
                "FlashAttention: packs the heads of so many queries into tiles; its kernels "
                "for that are not compiled\n");
        return false;
    }
    if (!next_tile && !cuda_ok(cudaMalloc((void **)&next_tile, sizeof *next_tile),
                               "allocating FlashAttention's counter"))
        return false;
    *out = contender_of("flash-attention-3", RESULT_PRODUCT, call_flash_attention, NULL);
    return true;
}

#endif
