/* library_products.c: inputs, calls, and checks. */
#include "tests/gpu/library_products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"

const struct shape shapes[SHAPES] = {
    {768, 768, 768, 768, 768, 768, 0, false},     /* several tiles */
    {16, 1024, 2048, 2048, 2048, 1024, 0, false}, /* few rows */
    {333, 517, 705, 712, 720, 528, 16, false},    /* odd, and rows with padding */
    {128, 256, 65536, 65536, 65536, 256, 0, true},
};
int checks, wrong_checks;

/* A product's two sets of inputs and what they give, in page-locked memory. */
static struct {
    uint16_t *a[SETS], *b[SETS], *d[SETS]; /* with padding, as on the device */
} host[INPUTS];
static uint16_t *got; /* room for any D */

static int input_of(int index) { return index % INPUTS; }
size_t bytes_of(int rows, int ld) { return (size_t)rows * (size_t)ld * sizeof(uint16_t); }

static void *page_locked(size_t bytes) {
    void *memory = NULL;
    must(cudaMallocHost(&memory, bytes), "allocating page-locked memory");
    return memory;
}

uint16_t *matrix_on_device(int off, int rows, int ld) {
    return (uint16_t *)((char *)on_device((size_t)off + bytes_of(rows, ld)) + off);
}

uint16_t *unit_on_device(int type, int k, int ld) {
    const uint16_t one = encode_element(1, type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16);
    uint16_t *const unit = malloc(bytes_of(k, ld));
    if (!unit) must(cudaErrorMemoryAllocation, "allocating a matrix");
    memset(unit, 0xff, bytes_of(k, ld));
    for (int row = 0; row < k; ++row) {
        memset(&unit[(size_t)row * ld], 0, bytes_of(1, k));
        unit[(size_t)row * ld + row] = one;
    }
    uint16_t *const matrix = matrix_on_device(0, k, ld);
    must(cudaMemcpy(matrix, unit, bytes_of(k, ld), cudaMemcpyHostToDevice), "copying a matrix");
    free(unit);
    return matrix;
}

void wait_for(cudaStream_t stream) { must(cudaStreamSynchronize(stream), "waiting for a stream"); }

/* ---- inputs and what they give ---- */

/* Whole numbers from -3 to 3. */
static int16_t *random_values(int rows, int columns) {
    const size_t count = (size_t)rows * (size_t)columns;
    int16_t *values = malloc(count * sizeof *values);
    if (!values) must(cudaErrorMemoryAllocation, "allocating a matrix");
    for (size_t i = 0; i < count; ++i)
        values[i] = (int16_t)(rand() % 7 - 3);
    return values;
}

/* Into page-locked memory, with NaN between the rows. */
static uint16_t *encoded(const int16_t *values, int type, int rows, int columns, int ld) {
    uint16_t *matrix = page_locked(bytes_of(rows, ld));
    memset(matrix, 0xff, bytes_of(rows, ld));
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            matrix[(size_t)row * ld + column] =
                encode_element(values[(size_t)row * columns + column],
                               type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16);
    return matrix;
}

static int dot(const int16_t *a, const int16_t *b, int k) {
    int sum = 0;
    for (int i = 0; i < k; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* Makes one set of one shape's inputs, for both types. A sum of k products is 4 sqrt(k) or so, so
 * that 16 bits are ample; the program ends if they are not. */
static void make_set(int shape, int set) {
    const struct shape *s = &shapes[shape];
    int16_t *a = random_values(s->m, s->k), *b = random_values(s->n, s->k);
    int16_t *d = random_values(s->m, s->n); /* overwritten */
    for (int row = 0; row < s->m; ++row)
        for (int column = 0; column < s->n; ++column) {
            const int sum = dot(&a[(size_t)row * s->k], &b[(size_t)column * s->k], s->k);
            if (sum != (int16_t)sum) must(cudaErrorInvalidValue, "a sum beyond 16 bits");
            d[(size_t)row * s->n + column] = (int16_t)sum;
        }
    for (int type = 0; type < TYPES; ++type) {
        const int index = type * SHAPES + shape;
        host[index].a[set] = encoded(a, type, s->m, s->k, s->lda);
        host[index].b[set] = encoded(b, type, s->n, s->k, s->ldb);
        host[index].d[set] = encoded(d, type, s->m, s->n, s->ldd);
    }
    free(a), free(b), free(d);
}

void make_inputs(void) {
    size_t largest = 0;
    for (int shape = 0; shape < SHAPES; ++shape) {
        for (int set = 0; set < SETS; ++set)
            make_set(shape, set);
        const size_t bytes = bytes_of(shapes[shape].m, shapes[shape].ldd);
        if (bytes > largest) largest = bytes;
    }
    got = page_locked(largest);
}

/* ---- one call ---- */

void load(const struct product *p, int set, cudaStream_t stream) {
    const struct shape *s = shape_of(p->index);
    must(cudaMemcpyAsync(p->a, host[input_of(p->index)].a[set], bytes_of(s->m, s->lda),
                         cudaMemcpyDefault, stream),
         "copying A");
    must(cudaMemcpyAsync(p->b, host[input_of(p->index)].b[set], bytes_of(s->n, s->ldb),
                         cudaMemcpyDefault, stream),
         "copying B");
    must(cudaMemsetAsync(p->d, 0xff, bytes_of(s->m, s->ldd), stream), "clearing D");
    if (p->workspace)
        must(cudaMemsetAsync(p->workspace, 0xff, p->workspace_bytes, stream), "clearing");
}

int multiply_by(const struct product *by, const struct product *p, bool workspace,
                cudaStream_t stream) {
    const struct shape *s = shape_of(p->index);
    void *const space = workspace ? p->workspace : NULL;
    if (by->plan)
        return hopper_gemm_plan_run(workspace ? by->plan : by->frugal, stream, p->a, p->b, p->d,
                                    space);
    return hopper_gemm(stream, type_of(p->index), s->m, s->n, s->k, p->a, s->lda, p->b, s->ldb,
                       p->d, s->ldd, space);
}

int multiply(const struct product *p, bool workspace, cudaStream_t stream) {
    return multiply_by(p, p, workspace, stream);
}

void check(const struct gpu *gpu, const struct product *p, int set, cudaStream_t stream, int status,
           const char *what) {
    const struct shape *s = shape_of(p->index);
    const uint16_t *expected = host[input_of(p->index)].d[set];
    int wrong = 0;
    must(cudaSetDevice(gpu->device), "choosing a device");
    wait_for(stream);
    must(cudaMemcpy(got, p->d, bytes_of(s->m, s->ldd), cudaMemcpyDeviceToHost), "copying D");
    for (size_t i = 0; i < (size_t)s->m * (size_t)s->ldd; ++i)
        wrong += got[i] != expected[i];
    printf("device %d, %s, %d x %d x %d, %s%s: ", gpu->device,
           type_of(p->index) == HOPPER_GEMM_FP16 ? "fp16" : "bf16", s->m, s->n, s->k, what,
           p->plan ? ", by a plan" : "");
    if (status != HOPPER_GEMM_OK) printf("status %d, ", status);
    if (wrong)
        printf("%d elements wrong\n", wrong);
    else
        printf("%s\n", status == HOPPER_GEMM_OK ? "ok" : "yet the result is there");
    fflush(stdout);
    ++checks;
    wrong_checks += wrong || status != HOPPER_GEMM_OK;
}

void state(const struct gpu *gpu, int index, bool right, const char *what) {
    const struct shape *s = shape_of(index);
    printf("device %d, %s, %d x %d x %d, %s: %s\n", gpu->device,
           type_of(index) == HOPPER_GEMM_FP16 ? "fp16" : "bf16", s->m, s->n, s->k, what,
           right ? "ok" : "wrong");
    ++checks;
    wrong_checks += !right;
}
