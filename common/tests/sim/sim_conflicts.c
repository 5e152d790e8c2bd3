/*
 * sim_conflicts.c: chapters that swizzle or pad their tiles must cost no bank conflict at all,
 * neither in their fragment loads nor in their copies.
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "harness/experiment.h"
#include "sim/core/events.h"
#include "sim/core/simulation.h"

extern const struct gemm_kernel kernel_02_smem_tiled_bf16, kernel_03_cp_async_multistage_bf16,
    kernel_04_rf_double_buffer_bf16, kernel_05_tma_mbarrier_bf16,
    kernel_08_persistent_pingpong_persistent_bf16, kernel_08_persistent_pingpong_bf16,
    kernel_09_cluster_multicast_bf16, kernel_10_stream_k_coop224_bf16,
    kernel_10_stream_k_coop200_four_bf16, kernel_12_w4a8_through_smem_w4a8,
    kernel_12_w4a8_rows16_w4a8, kernel_12_w4a8_wide_w4a8;

int main(void) {
    const struct gemm_kernel *const kernels[] = {
        &kernel_02_smem_tiled_bf16, &kernel_03_cp_async_multistage_bf16,
        &kernel_04_rf_double_buffer_bf16, &kernel_05_tma_mbarrier_bf16,
        /* Epilogue tiles of 64 columns on their way to D, then of 32 and of 40. */
        &kernel_08_persistent_pingpong_persistent_bf16, &kernel_08_persistent_pingpong_bf16,
        &kernel_09_cluster_multicast_bf16, &kernel_10_stream_k_coop224_bf16,
        &kernel_10_stream_k_coop200_four_bf16,
        /* Unpacked weights; sums that are transposed on their way, without stmatrix and with it. */
        &kernel_12_w4a8_through_smem_w4a8, &kernel_12_w4a8_rows16_w4a8, &kernel_12_w4a8_wide_w4a8};
    enum { SIZE = 256, BYTES = SIZE * SIZE * 2 };
    const struct backend_options options = {.type = GEMM_BF16};
    sim_configure(4, SCHEDULE_TIME, 1);
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    struct gemm_problem problem = {
        .m = SIZE, .n = SIZE, .k = SIZE, .lda = SIZE, .ldb = SIZE, .ldd = SIZE};
    void *const a = backend_alloc(BYTES, "A", false), *const b = backend_alloc(BYTES, "B", false);
    problem.a = a;
    problem.b = b; /* of w4a8 its blocks, and any numbers are scales */
    problem.scales.a = a;
    problem.d = backend_alloc(BYTES, "D", true);
    problem.tile_counter = backend_alloc(256, "counter", true);
    backend_fill(a, 0x3f80, SIZE * SIZE);
    backend_fill(b, 0x3f80, SIZE * SIZE);
    backend_fill(problem.tile_counter, 0, 128);

    int failures = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        const struct contender contender = contender_of_kernel(kernels[i]);
        double cycles;
        memset(&sim_statistics, 0, sizeof sim_statistics);
        if (backend_run(&contender, &problem, &cycles) != RUN_OK) return 1;
        const struct sim_statistics *s = &sim_statistics;
        const unsigned long long conflicts = s->ldmatrix_conflicts + s->stmatrix_conflicts +
                                             s->cp_async_conflicts + s->st_shared_conflicts;
        printf("%s %s: %llu bank conflicts\n", kernels[i]->name,
               kernels[i]->variant ? kernels[i]->variant : "", conflicts);
        failures += conflicts != 0;
    }
    backend_close();
    return failures != 0;
}
