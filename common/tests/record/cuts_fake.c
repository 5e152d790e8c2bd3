/*
 * cuts_fake.c: kernels for build/gpu/cuts on the harness's fake GPU, whose memory is the host's and
 * whose launches all take 20 ms. The product does not depend on the cut. But tiles 32 wide are
 * wrong in one element of every copy of D except the first, and tiles 24 wide fail to launch there.
 * Of the configurations there are two, and what one of them computes is wrong.
 */
#include "element_codec.h"
#include "tests/harness/harness_fake.h"
#include "tools/cuts/cuts.h"

struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);

int gemm_sm_count(void) { return 132; }
struct gemm_rates gemm_device_rates(void) {
    return (struct gemm_rates){1, 1};
}
int gemm_resident_clusters(const struct gemm_launch *launch) {
    return (launch->cluster == 4 ? 30 : 132 / launch->cluster) * (launch->threads < 200 ? 2 : 1);
}
bool gemm_questions_failed(void) { return false; }

/* What the fake GPU's cuBLAS calls; it has no defect here. */
const char *const defect_names[DEFECTS] = {"none"};
enum defect fake_last_defect;

enum gemm_status fake_gemm(const struct gemm_problem *p, enum gemm_type type, enum defect defect) {
    (void)defect;
    for (int row = 0; row < p->m; ++row)
        for (int column = 0; column < p->n; ++column) {
            float sum = 0;
            for (int k = 0; k < p->k; ++k)
                sum += decode_element(((const uint16_t *)p->a)[row * p->lda + k], type) *
                       decode_element(((const uint16_t *)p->b)[column * p->ldb + k], type);
            ((uint16_t *)p->d)[row * p->ldd + column] = encode_element(sum, type);
        }
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    static const void *first; /* copy of the operands of this shape */
    static int m;
    const struct fit fit = forced_fit(p, NULL, true);
    (void)stream;
    if (m != p->m) first = p->a;
    m = p->m;
    if (fit.width == 24 && p->a != first) return GEMM_LAUNCH_FAILED;
    fake_gemm(p, GEMM_BF16, DEFECT_NONE);
    if (fit.width == 32 && p->a != first) ++*(uint16_t *)p->d;
    return GEMM_OK;
}

/* As fitted.cu needs it; the harness fills it with NaN before every cut. */
static size_t workspace_bytes(const struct gemm_problem *p) {
    const struct fit fit = forced_fit(p, NULL, true);
    return fit.splits > fit.splits_in_cluster ? (size_t)fit.splits * 4096 : 0;
}

static enum gemm_status launch_right(const struct gemm_problem *p, void *stream) {
    (void)stream;
    return fake_gemm(p, GEMM_BF16, DEFECT_NONE);
}

static enum gemm_status launch_wrong(const struct gemm_problem *p, void *stream) {
    launch_right(p, stream);
    ++*(uint16_t *)p->d;
    return GEMM_OK;
}

/* They take the places of the empty records in configurations.c. */
extern const struct gemm_kernel kernel_10_stream_k_direct_16x32_bf16,
    kernel_10_stream_k_direct_16x16_bf16;
const struct gemm_kernel kernel_10_stream_k_direct_16x32_bf16 = {.name = "fake",
                                                                 .tile_m = 16,
                                                                 .tile_n = 32,
                                                                 .tile_k = 32,
                                                                 .threads = 256,
                                                                 .cluster = 1,
                                                                 .launch = launch_right};
const struct gemm_kernel kernel_10_stream_k_direct_16x16_bf16 = {.name = "fake",
                                                                 .tile_m = 16,
                                                                 .tile_n = 16,
                                                                 .tile_k = 32,
                                                                 .threads = 256,
                                                                 .cluster = 1,
                                                                 .launch = launch_wrong};

#define FAKE(slabs)                                                                                \
    extern const struct gemm_kernel forced_fit_##slabs;                                            \
    const struct gemm_kernel forced_fit_##slabs = {.name = "fake",                                 \
                                                   .tile_m = 64 * slabs,                           \
                                                   .tile_n = 64,                                   \
                                                   .tile_k = 64,                                   \
                                                   .threads = 128 * slabs + 32,                    \
                                                   .cluster = 1,                                   \
                                                   .launch = launch,                               \
                                                   .workspace_bytes = workspace_bytes,             \
                                                   .counters = true}
FAKE(1);
FAKE(2);
FAKE(3);
FAKE(4);
