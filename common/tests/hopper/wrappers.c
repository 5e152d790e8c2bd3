/*
 * wrappers.c: runs the kernels of wrappers.cu and checks what they leave, on whichever backend it
 * is linked with: build/sim/wrappers, under every schedule, and build/gpu/wrappers.
 *
 * Values are small whole numbers, so that sums are exact. Exit code: 0 all right, 1 wrong, 3 no
 * device, 4 a hazard.
 */
#include "tests/hopper/wrappers.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "element_codec.h"
#include "tests/support/expect.h"

enum {
    EXTENT = WRAPPER_EXTENT,
    BOX = EXTENT * EXTENT,
    ELEMENTS = WRAPPER_BOXES * BOX,
    ROUNDS = 20, /* under each schedule */
};

enum { COUNTERS = 10 };
static element_t *a, *b, *d, *workspace;
static uint32_t *counters;
static const struct wrapper_kernel *current;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)self, (void)problem;
    struct gemm_args args = {.a = a,
                             .b = b,
                             .d = d,
                             .lda = EXTENT,
                             .ldb = EXTENT,
                             .ldd = EXTENT,
                             .workspace = (float *)(void *)workspace,
                             .tile_counter = counters};
    const element_t *const second = current->ctas > 1 ? workspace : b;
    const struct gemm_launch launch = {.kernel = current->function,
                                       .name = current->name,
                                       .grid = current->ctas,
                                       .cluster = 1,
                                       .threads = current->threads,
                                       .smem_bytes = current->smem_bytes,
                                       .stream = stream};
    if (gemm_tensor_map(&args.map_a, GEMM_BF16, a, ELEMENTS / EXTENT, EXTENT, EXTENT, EXTENT,
                        EXTENT, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_BF16, second, (second == b ? BOX : ELEMENTS) / EXTENT,
                        EXTENT, EXTENT, EXTENT, EXTENT, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, GEMM_BF16, d, ELEMENTS / EXTENT, EXTENT, EXTENT, EXTENT,
                        EXTENT, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_kernel(&launch, &args);
}

static int value_of_a(int i) { return (i * 7 + i / EXTENT * 3) % 5 - 2; }
static int value_of_b(int i) { return (i * 3 + i / EXTENT * 5) % 7 - 3; }

/* Elements of D that are not what they ought to be. */
static int count_wrong(const uint16_t *got) {
    int wrong = 0;
    for (int i = 0; i < (current->multiplies ? BOX : ELEMENTS); ++i) {
        int expected = value_of_a(i);
        if (current->multiplies) {
            expected = 0;
            for (int k = 0; k < EXTENT; ++k)
                expected +=
                    value_of_a(k * EXTENT + i / EXTENT) * value_of_b(k * EXTENT + i % EXTENT);
        }
        wrong += got[i] != float_to_bf16((float)expected);
    }
    return wrong;
}

static enum exit_code run_all(void) {
    struct backend_info info = {0};
    const enum exit_code code = backend_open(&(struct backend_options){.type = GEMM_BF16}, &info);
    if (code != EXIT_VERIFIED) return code;
    static uint16_t host_a[ELEMENTS], host_b[BOX], host_d[ELEMENTS];
    for (int i = 0; i < ELEMENTS; ++i) {
        host_a[i] = float_to_bf16((float)value_of_a(i));
        if (i < BOX) host_b[i] = float_to_bf16((float)value_of_b(i));
    }
    a = backend_alloc(sizeof host_a, "A", false);
    b = backend_alloc(sizeof host_b, "B", false);
    d = backend_alloc(sizeof host_d, "D", true);
    workspace = backend_alloc(sizeof host_d, "workspace", true);
    counters = backend_alloc(COUNTERS * sizeof *counters, "tile counter", true);
    if (!a || !b || !d || !workspace || !counters ||
        !backend_fill(counters, 0, COUNTERS * sizeof *counters / 2) ||
        !backend_copy_in(a, host_a, sizeof host_a) || !backend_copy_in(b, host_b, sizeof host_b))
        return EXIT_NO_DEVICE;
    enum exit_code worst = EXIT_VERIFIED;
    for (int i = 0; i < ROUNDS * wrapper_kernel_count; ++i) {
        const struct contender contender = {.name = "wrappers", .enqueue = enqueue};
        const struct gemm_problem problem = {.m = EXTENT, .n = EXTENT, .k = EXTENT};
        double cycles;
        current = &wrapper_kernels[i % wrapper_kernel_count];
        backend_fill(d, 0x7fff, ELEMENTS);
        backend_fill(workspace, 0x7fff, ELEMENTS);
        const enum run_status status = backend_run(&contender, &problem, &cycles);
        EXPECT(status == RUN_OK, "%s: status %d", current->name, status);
        if (status == RUN_HAZARD) worst = EXIT_HAZARD;
        if (status != RUN_OK || !backend_copy_out(host_d, d, sizeof host_d)) continue;
        const int wrong = count_wrong(host_d);
        EXPECT(wrong == 0, "%s: %d elements are wrong", current->name, wrong);
        uint32_t left[COUNTERS];
        if (!backend_copy_out(left, counters, sizeof left)) continue;
        for (int c = 0; c < COUNTERS; ++c)
            EXPECT(left[c] == 0, "%s: leaves counter %d at %u", current->name, c, left[c]);
    }
    backend_close();
    return worst;
}

int main(void) {
    struct backend_setting *schedule = NULL;
    for (int i = 0; i < backend_setting_count; ++i)
        if (backend_settings[i].names) schedule = &backend_settings[i];
    enum exit_code worst = EXIT_VERIFIED;
    for (uint64_t order = 0; order <= (schedule ? schedule->high : 0); ++order) {
        if (schedule) schedule->value = order;
        const enum exit_code code = run_all();
        if (code > worst) worst = code;
        if (code == EXIT_NO_DEVICE) return code;
    }
    const int failed = expect_result();
    return worst ? (int)worst : failed;
}
