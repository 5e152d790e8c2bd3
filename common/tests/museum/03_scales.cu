/*
 * 03_scales.cu: scales are read by ordinary loads, then the TMA refills the stage.
 *
 * The practice of DeepGEMM, https://github.com/deepseek-ai/DeepGEMM, sm90_fp8_gemm_1d2d.cuh as of
 * commit 54e2261, here in bf16: the stage holds A, B and a scale for each row of A; wgmma reads the
 * first two, the threads read the third. Warp 4 produces.
 *
 * title: Scales between two copies
 * kind: proxy, a practice
 * project: DeepGEMM, https://github.com/deepseek-ai/DeepGEMM
 * symptom: we know of none
 * reports: missing-proxy-fence-after-read
 */
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { CONSUMERS = 128, THREADS = CONSUMERS + 32, STAGES = 2, TILES = 4 };
struct smem {
    struct {
        element_t a[BOX_ELEMENTS], b[BOX_ELEMENTS], scales[BOX_ELEMENTS]; /* the first column */
    } stage[STAGES];
    mbarrier_t full[STAGES], empty[STAGES];
};

KERNEL(THREADS, 1) scaled_gemm(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&shared->full[i], 1);
            mbarrier_init(&shared->empty[i], CONSUMERS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == CONSUMERS)
        for (int k = 0; k < TILES; ++k) {
            const int stage = k % STAGES;
            mbarrier_t *const full = &shared->full[stage];
            mbarrier_wait(&shared->empty[stage], k / STAGES % 2 ^ 1);
            mbarrier_arrive_expect_tx(full, 3 * BOX_BYTES);
            tma_load(shared->stage[stage].a, &args.map_a, 0, k * BOX_ROWS, full);
            tma_load(shared->stage[stage].b, &args.map_b, 0, k * BOX_ROWS, full);
            /* accused: missing-proxy-fence-after-read */
            tma_load(shared->stage[stage].scales, &args.map_b, BOX_ROWS, k * BOX_ROWS, full);
        }
    if (threadIdx.x >= CONSUMERS) return;
    const int row = product_row();
    float acc[BOX_ROWS / 2], sum[BOX_ROWS / 2] = {0};
    NO_UNROLL for (int k = 0; k < TILES; ++k) {
        const int stage = k % STAGES;
        mbarrier_wait(&shared->full[stage], k / STAGES % 2);
        const element_t *const scales = shared->stage[stage].scales;
        const uint32_t low = ld_shared_b32(&scales[BOX_CHUNK(row * 8)]);
        const uint32_t high = ld_shared_b32(&scales[BOX_CHUNK((row + 8) * 8)]);
#if FIXED
        fence_proxy_async();
#endif
        issue_product(acc, shared->stage[stage].a, shared->stage[stage].b, false);
        wgmma_wait_group(0);
        wgmma_use_registers(acc, BOX_ROWS / 2);
        mbarrier_arrive(&shared->empty[stage]);
        const float scale[2] = {element_to_float(first_of_pair(low)),
                                element_to_float(first_of_pair(high))};
        UNROLL for (int i = 0; i < BOX_ROWS / 2; ++i)
            sum[i] += scale[i % 4 / 2] * acc[i];
    }
    UNROLL for (int i = 0; i < BOX_ROWS / 2; i += 2)
        st_global_b32(&args.d[product_place(i)], pack_elements(sum[i], sum[i + 1]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < BOX_ELEMENTS; ++i) {
        const int row = i / BOX_ROWS, column = i % BOX_ROWS;
        float sum = 0;
        for (int k = 0; k < TILES; ++k)
            sum += bf16_to_float(b[(BOX_ROWS + row) * MUSEUM_EXTENT + k * BOX_ROWS]) *
                   product_of(a, b, row, column, k, k + 1);
        wrong += d[row * MUSEUM_EXTENT + column] != float_to_bf16(sum);
    }
    return wrong;
}

EXHIBIT(scaled_gemm, 1, 1, THREADS, struct smem, count_wrong);
