/* museum_run.c: memory, tensor maps and launch of an exhibit. */
#include "tests/museum/museum_run.h"

#include "element_codec.h"

enum { ELEMENTS = MUSEUM_EXTENT * MUSEUM_EXTENT };

static uint16_t host_a[ELEMENTS], host_b[ELEMENTS], host_d[ELEMENTS];
static element_t *a, *b, *d;
static uint32_t *counter;
static struct tensor_map map_a, map_b, map_d;
static const struct museum_form *current;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    struct gemm_args args = {.a = a,
                             .b = b,
                             .d = d,
                             .lda = MUSEUM_EXTENT,
                             .ldb = MUSEUM_EXTENT,
                             .ldd = MUSEUM_EXTENT,
                             .m = problem->m,
                             .n = problem->n,
                             .k = problem->k,
                             .map_a = map_a,
                             .map_b = map_b,
                             .map_d = map_d,
                             .tile_counter = counter};
    const struct gemm_launch launch = {.kernel = current->kernel,
                                       .name = self->name,
                                       .grid = current->grid,
                                       .cluster = current->cluster,
                                       .threads = current->threads,
                                       .smem_bytes = current->smem_bytes,
                                       .stream = stream};
    return gemm_launch_kernel(&launch, &args);
}

/* The maps of A, B and D; that of A in global memory, too. */
static bool make_maps(void) {
    struct tensor_map *const maps[] = {&map_a, &map_b, &map_d};
    const void *const matrices[] = {a, b, d};
    for (int i = 0; i < 3; ++i)
        if (gemm_tensor_map(maps[i], GEMM_BF16, matrices[i], MUSEUM_EXTENT, MUSEUM_EXTENT,
                            MUSEUM_EXTENT, BOX_ROWS, BOX_ROWS, SWIZZLE_128B))
            return false;
    return backend_copy_in(counter + MUSEUM_MAP_WORD, &map_a, sizeof map_a);
}

enum exit_code museum_open(const struct museum_exhibit *exhibit) {
    struct backend_info info = {0};
    const struct backend_options options = {.type = GEMM_BF16,
                                            .machine = exhibit->form[0]->machine};
    const enum exit_code code = backend_open(&options, &info);
    if (code != EXIT_VERIFIED) return code;
    for (int i = 0; i < ELEMENTS; ++i) {
        const int row = i / MUSEUM_EXTENT, column = i % MUSEUM_EXTENT;
        host_a[i] = float_to_bf16((float)((row * 7 + column * 3 + row / 64 + column / 64) % 5 - 2));
        host_b[i] = float_to_bf16((float)((row * 3 + column * 5 + row / 8) % 7 - 3));
    }
    a = backend_alloc(sizeof host_a, "A", false);
    b = backend_alloc(sizeof host_b, "B", false);
    d = backend_alloc(sizeof host_d, "D", true);
    counter = backend_alloc(256, "tile counter", true);
    if (!a || !b || !d || !counter || !backend_copy_in(a, host_a, sizeof host_a) ||
        !backend_copy_in(b, host_b, sizeof host_b))
        return EXIT_NO_DEVICE;
    return EXIT_VERIFIED;
}

void museum_close(void) {
    void *const memory[] = {a, b, d, counter};
    for (int i = 0; i < 4; ++i)
        backend_free(memory[i]);
    backend_close();
}

enum run_status museum_run(const struct museum_exhibit *exhibit, int fixed, int *wrong) {
    const struct contender contender = {.name = exhibit->name, .enqueue = enqueue};
    const struct gemm_problem problem = {
        .m = MUSEUM_EXTENT, .n = MUSEUM_EXTENT, .k = MUSEUM_EXTENT};
    double cycles;
    current = exhibit->form[fixed];
    if (!backend_fill(d, 0x7fff, ELEMENTS) || !backend_fill(counter, 0, 128) || !make_maps())
        return RUN_FAILED;
    const enum run_status status = backend_run(&contender, &problem, &cycles);
    if (status != RUN_OK) return status;
    if (!backend_copy_out(host_d, d, sizeof host_d)) return RUN_FAILED;
    *wrong = current->count_wrong(host_a, host_b, host_d);
    return RUN_OK;
}
