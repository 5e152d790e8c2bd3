/*
 * probe_run.c: memory and tensor maps for the probes, running one, reporting a value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"
#include "tools/probe/probe_report.h"

enum { MOST_CTAS = 4096 };
static const size_t A_BYTES = (size_t)256 << 20, D_BYTES = (size_t)64 << 20; /* the L2 has 60 MB */

static struct {
    unsigned char *a, *d, *flush;
    uint64_t *results, *host;
    struct tensor_map box, small_box, store_box;
} memory;

static bool map(struct tensor_map *tensor_map, const void *base, size_t bytes, int box_rows) {
    return gemm_tensor_map(tensor_map, GEMM_BF16, base, (int)(bytes / ROW_BYTES), BOX_COLUMNS,
                           BOX_COLUMNS, box_rows, BOX_COLUMNS, SWIZZLE_128B) == GEMM_OK;
}

enum exit_code probe_open(void) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "probe: no CUDA device: there is nothing to measure\n");
        return EXIT_NO_DEVICE;
    }
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info info;
    const enum exit_code code = backend_open(&options, &info);
    if (code != EXIT_VERIFIED) return code;
    const size_t result_bytes = sizeof(uint64_t) * RESULTS * MOST_CTAS;
    memory.a = backend_alloc(A_BYTES, "A", true);
    memory.d = backend_alloc(D_BYTES, "D", true);
    memory.flush = backend_alloc(A_BYTES, "flush", true);
    memory.results = backend_alloc(result_bytes, "results", true);
    memory.host = malloc(result_bytes);
    if (!memory.a || !memory.d || !memory.flush || !memory.results || !memory.host) {
        fprintf(stderr, "probe: not enough memory on the GPU\n");
        return EXIT_NO_DEVICE;
    }
    const bool good = backend_fill(memory.a, 0, A_BYTES / 2) &&
                      backend_fill(memory.d, 0, D_BYTES / 2) &&
                      map(&memory.box, memory.a, A_BYTES, BOX_ROWS) &&
                      map(&memory.small_box, memory.a, A_BYTES, SMALL_BOX_ROWS) &&
                      map(&memory.store_box, memory.d, D_BYTES, STORE_BOX_ROWS);
    return good ? EXIT_VERIFIED : EXIT_WRONG;
}

int probe_sms(void) { return gemm_sm_count(); }

static bool run_once(const struct probe_kernel *kernel, const struct gemm_launch *launch,
                     const struct gemm_args *args) {
    return gemm_launch_kernel(launch, args) == GEMM_OK &&
           cuda_ok(cudaStreamSynchronize(gpu_state.stream), kernel->name);
}

const uint64_t *probe_run(const struct probe_kernel *kernel, struct probe_call call) {
    const int grid = call.grid ? call.grid : 1;
    const struct gemm_launch launch = {.kernel = kernel->kernel,
                                       .name = kernel->name,
                                       .grid = grid,
                                       .cluster = call.cluster ? call.cluster : 1,
                                       .threads = call.threads ? call.threads : kernel->threads,
                                       .smem_bytes = kernel->smem_bytes,
                                       .stream = gpu_state.stream};
    struct gemm_args args;
    memset(&args, 0, sizeof args);
    args.map_a = memory.box;
    args.map_b = memory.small_box;
    args.map_d = memory.store_box;
    args.a = (const element_t *)memory.a;
    args.d = (element_t *)memory.d;
    args.k = call.k;
    args.m = call.m ? call.m : (int)(A_BYTES / BOX_BYTES);
    args.items = call.items;
    args.splits = call.splits;
    args.workspace = (float *)memory.results;
    const size_t bytes = sizeof(uint64_t) * RESULTS * (size_t)grid;
    bool good = grid <= MOST_CTAS;
    if (!call.cold) good = good && run_once(kernel, &launch, &args);
    good = good && backend_fill(memory.results, 0, bytes / 2);
    if (call.cold) good = good && backend_fill(memory.flush, 0, A_BYTES / 2);
    good = good && run_once(kernel, &launch, &args) &&
           backend_copy_out(memory.host, memory.results, bytes);
    if (!good) {
        fprintf(stderr, "probe: %s: no result\n", kernel->name);
        exit(EXIT_WRONG);
    }
    return memory.host;
}

/* ---- reporting ---- */

void probe_report(const char *what, double value, const char *unit, const char *constant,
                  double model) {
    printf("%-58s %9.1f %-16s", what, value, unit);
    if (constant) printf(" %-26s %7.1f", constant, model);
    putchar('\n');
    fflush(stdout); /* what is found stays, whatever comes after */
}
