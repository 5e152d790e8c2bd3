/*
 * fake_bias.c: kernels on the host for the problem of 90_bias, with the fake GPU of
 * tests/harness/harness_fake_backend.c: the right one, one that is wrong when it is launched again,
 * and one that then writes behind the second output.
 */
#include "element_codec.h"
#include "harness/registry.h"
#include "tests/harness/harness_fake.h"
#include "tests/kinds/90_bias/bias.h"

enum mistake { NONE, TIMED, AROUND };

static enum gemm_status add_up(const struct gemm_problem *p, enum mistake mistake) {
    static int launches;
    const bool again = launches++ > 0;
    const element_t *const bias = p->matrix[BIAS].memory;
    float *const first = p->matrix[FIRST].memory;
    for (int row = 0; row < p->m; ++row)
        for (int column = 0; column < p->n; ++column) {
            float sum = 0;
            for (int i = 0; i < p->k; ++i)
                sum += bf16_to_float(p->a[row * p->lda + i].bits) *
                       bf16_to_float(p->b[column * p->ldb + i].bits);
            if (mistake != TIMED || !again || column > 0) sum += bf16_to_float(bias[column].bits);
            p->d[row * p->ldd + column].bits = float_to_bf16(sum);
            if (column == 0) first[row * p->matrix[FIRST].ld] = sum;
        }
    if (mistake == AROUND && again) first[p->m * p->matrix[FIRST].ld] = 0;
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    (void)stream;
    return add_up(p, NONE);
}
static enum gemm_status launch_timed(const struct gemm_problem *p, void *stream) {
    (void)stream;
    return add_up(p, TIMED);
}
static enum gemm_status launch_around(const struct gemm_problem *p, void *stream) {
    (void)stream;
    return add_up(p, AROUND);
}

static const struct gemm_kernel kernels[] = {{.name = "90_bias",
                                              .technique = "",
                                              .tile_m = 8,
                                              .tile_n = 8,
                                              .launch = launch,
                                              .kind = &bias_kind},
                                             {.name = "90_bias",
                                              .variant = "timed",
                                              .technique = "",
                                              .tile_m = 8,
                                              .tile_n = 8,
                                              .launch = launch_timed,
                                              .kind = &bias_kind},
                                             {.name = "90_bias",
                                              .variant = "around",
                                              .technique = "",
                                              .tile_m = 8,
                                              .tile_n = 8,
                                              .launch = launch_around,
                                              .kind = &bias_kind}};
const struct kernel_entry kernel_registry[] = {{{[GEMM_BF16] = &kernels[0]}, 1, true, NULL, 0},
                                               {{[GEMM_BF16] = &kernels[1]}, 1, true, NULL, 0},
                                               {{[GEMM_BF16] = &kernels[2]}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {
    {{NULL}, 0, false, NULL, 0}, {{NULL}, 0, false, NULL, 0}, {{NULL}, 0, false, NULL, 0}};
const char *const kernel_sources[sizeof kernel_registry / sizeof *kernel_registry];
const char *const program_target = NULL;
const int kernel_registry_count = 3;
const bool program_is_tour = false;

/* What the fake libraries would compute; no kind of problem asks for them. */
const char *const defect_names[DEFECTS];
enum defect fake_last_defect;
enum gemm_status fake_gemm(const struct gemm_problem *p, enum gemm_type type, enum defect defect) {
    (void)p, (void)type, (void)defect;
    return GEMM_UNSUPPORTED;
}
