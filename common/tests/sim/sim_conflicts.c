/*
 * sim_conflicts.c: kernels that swizzle or pad their tiles must cost no bank conflict at all,
 * neither in their fragment loads nor in their copies.
 *
 *     sim_conflicts 02_smem_tiled 08_persistent_pingpong:persistent
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "harness/experiment.h"
#include "harness/registry.h"
#include "scaled/scales.h"
#include "sim/core/events.h"
#include "sim/core/simulation.h"

/* The kernel of this name, NULL: none. */
static const struct gemm_kernel *find(const char *name) {
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        char label[64];
        if (strcmp(kernel_label(kernel, label, sizeof label), name) == 0) return kernel;
    }
    return NULL;
}

int main(int argc, char **argv) {
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
    problem.matrix[MATRIX_SCALES_A].memory = a;
    problem.d = backend_alloc(BYTES, "D", true);
    problem.tile_counter = backend_alloc(256, "counter", true);
    backend_fill(a, 0x3f80, SIZE * SIZE);
    backend_fill(b, 0x3f80, SIZE * SIZE);
    backend_fill(problem.tile_counter, 0, 128);

    int failures = 0;
    for (int i = 1; i < argc; ++i) {
        const struct gemm_kernel *const kernel = find(argv[i]);
        if (!kernel) {
            fprintf(stderr, "there is no %s\n", argv[i]);
            return 2;
        }
        const struct contender contender = contender_of_kernel(kernel);
        double cycles;
        memset(&sim_statistics, 0, sizeof sim_statistics);
        if (backend_run(&contender, &problem, &cycles) != RUN_OK) return 1;
        const struct sim_statistics *s = &sim_statistics;
        const unsigned long long conflicts = s->ldmatrix_conflicts + s->stmatrix_conflicts +
                                             s->cp_async_conflicts + s->st_shared_conflicts;
        printf("%s: %llu bank conflicts\n", argv[i], conflicts);
        failures += conflicts != 0;
    }
    backend_close();
    return failures != 0 || argc < 2;
}
