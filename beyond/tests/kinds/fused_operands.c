/*
 * fused_operands.c: where 14's operands may lie. C may be D itself: the kernel leaves the same D as
 * with a C of its own. And a bias ends with its element n - 1: what follows is another's, is not
 * read, and changes nothing, whatever it is. (A NaN would not show in quantize.cu: the greatest of
 * a row drops it.)
 */
#include "14_fused_epilogue/fused.h"
#include "element_codec.h"
#include "memory.h"

extern const struct gemm_kernel kernel_14_fused_epilogue_bf16,
    kernel_14_fused_epilogue_bias_gelu_bf16, kernel_14_fused_epilogue_quantize_bf16;

static void draw(uint16_t *elements, size_t count) {
    for (size_t i = 0; i < count; ++i)
        elements[i] = float_to_bf16((float)(rand() % 201 - 100) / 64);
}

/* What the outputs hold after a run. */
struct outputs {
    uint16_t *d;
    uint8_t *quantized;
    float *scales;
};

struct sizes {
    int m, n, k, ld, ldk, pitch;
    size_t d_bytes, scale_bytes;
};

/* `behind`: how many elements the bias's memory has behind element n - 1, and which. */
static struct outputs run_with(const struct gemm_kernel *kernel, const struct sizes *s,
                               const uint16_t *a, const uint16_t *b, const uint16_t *c,
                               const uint16_t *bias, bool in_place, int behind, uint16_t which) {
    struct outputs got = {filled(s->d_bytes, 0xff), filled(s->d_bytes, 0xff),
                          filled(s->scale_bytes, 0xff)};
    uint16_t *const biases = filled((size_t)(s->n + behind) * 2, 0);
    memcpy(biases, bias, (size_t)s->n * 2);
    for (int i = 0; i < behind; ++i)
        biases[s->n + i] = which;
    struct gemm_problem p = {
        .m = s->m, .n = s->n, .k = s->k, .lda = s->ldk, .ldb = s->ldk, .ldd = s->ld};
    p.a = put(a, (size_t)s->m * (size_t)s->ldk * 2);
    p.b = put(b, (size_t)s->n * (size_t)s->ldk * 2);
    p.d = put(in_place ? c : got.d, s->d_bytes);
    p.matrix[BIAS] = (struct gemm_matrix){put(biases, (size_t)(s->n + behind) * 2), s->ld};
    if (kernel == &kernel_14_fused_epilogue_quantize_bf16) {
        p.matrix[QUANTIZED] = (struct gemm_matrix){put(got.quantized, s->d_bytes), s->ld};
        p.matrix[SCALES] = (struct gemm_matrix){put(got.scales, s->scale_bytes), s->pitch};
    } else {
        p.matrix[C] = (struct gemm_matrix){in_place ? p.d : put(c, s->d_bytes), s->ld};
    }
    run(kernel, &p);
    if (!backend_copy_out(got.d, p.d, s->d_bytes)) exit(1);
    if (kernel == &kernel_14_fused_epilogue_quantize_bf16) {
        if (!backend_copy_out(got.quantized, p.matrix[QUANTIZED].memory, s->d_bytes) ||
            !backend_copy_out(got.scales, p.matrix[SCALES].memory, s->scale_bytes))
            exit(1);
        backend_free(p.matrix[SCALES].memory);
        backend_free(p.matrix[QUANTIZED].memory);
    } else if (!in_place) {
        backend_free(p.matrix[C].memory);
    }
    backend_free(p.matrix[BIAS].memory);
    backend_free(p.d);
    backend_free((void *)(uintptr_t)p.b);
    backend_free((void *)(uintptr_t)p.a);
    free(biases);
    return got;
}

static void expect_equal(const char *what, const struct gemm_kernel *kernel, const struct sizes *s,
                         struct outputs one, struct outputs other) {
    for (int row = 0; row < s->m; ++row) {
        const size_t at = (size_t)row * (size_t)s->ld, n = (size_t)s->n;
        EXPECT(!memcmp(one.d + at, other.d + at, n * 2), "%s, n = %d: row %d of D differs %s",
               kernel->variant ? kernel->variant : "kernel", s->n, row, what);
        EXPECT(!memcmp(one.quantized + at, other.quantized + at, n),
               "quantize, n = %d: row %d differs %s", s->n, row, what);
    }
    EXPECT(!memcmp(one.scales, other.scales, s->scale_bytes), "n = %d: scales differ %s", s->n,
           what);
    free(one.d), free(one.quantized), free(one.scales);
    free(other.d), free(other.quantized), free(other.scales);
}

static void test_size(int m, int n, int k) {
    const int ld = (n + 15) / 16 * 16, pitch = (m + 3) / 4 * 4;
    const struct sizes s = {m,
                            n,
                            k,
                            ld,
                            (k + 7) / 8 * 8,
                            pitch,
                            (size_t)m * (size_t)ld * 2,
                            (size_t)((n + 127) / 128) * (size_t)pitch * sizeof(float)};
    uint16_t *const a = filled((size_t)m * (size_t)s.ldk * 2, 0);
    uint16_t *const b = filled((size_t)n * (size_t)s.ldk * 2, 0);
    uint16_t *const c = filled(s.d_bytes, 0), *const bias = filled((size_t)n * 2, 0);
    draw(a, (size_t)m * (size_t)s.ldk);
    draw(b, (size_t)n * (size_t)s.ldk);
    draw(c, s.d_bytes / 2);
    draw(bias, (size_t)n);
    const struct gemm_kernel *const all[] = {&kernel_14_fused_epilogue_bf16,
                                             &kernel_14_fused_epilogue_bias_gelu_bf16,
                                             &kernel_14_fused_epilogue_quantize_bf16};
    for (int i = 0; i < 3; ++i)
        expect_equal("if the bias ends with its last element", all[i], &s,
                     run_with(all[i], &s, a, b, c, bias, false, 0, 0),
                     run_with(all[i], &s, a, b, c, bias, false, 8, 0x7000));
    expect_equal("if C is D", all[0], &s, run_with(all[0], &s, a, b, c, bias, false, 8, 0x7fa5),
                 run_with(all[0], &s, a, b, c, bias, true, 8, 0x7fa5));
    free(a), free(b), free(c), free(bias);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    test_size(200, 257, 70);
    test_size(300, 129, 64);
    test_size(130, 512, 200); /* rows of whole chunks: stores by the TMA */
    test_size(1, 1, 1);
    backend_close();
    return expect_result();
}
