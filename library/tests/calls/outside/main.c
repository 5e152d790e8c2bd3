/*
 * main.c: the library hopper_gemm in a program of one's own, in the simulator.
 *
 * There a launch is part of a run: memory comes from backend_alloc(), and backend_run() calls back
 * for what is to be enqueued. On a GPU none of this is needed: hopper_gemm(), on a stream.
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "hopper_gemm.h"

enum { M = 70, N = 40, K = 50, LD = 56 /* of all three, a multiple of 8 */ };

static uint16_t *a, *b, *d;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)self, (void)problem;
    const int status = hopper_gemm(stream, HOPPER_GEMM_BF16, M, N, K, a, LD, b, LD, d, LD, NULL);
    return status == HOPPER_GEMM_OK ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

/* bf16 is the upper half of an fp32; exact for small whole numbers. */
static uint16_t bf16(int value) {
    const float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static int value_at(int row, int k) { return (row + 3 * k) % 7 - 3; }

static void fill(uint16_t *matrix, int rows) {
    for (int row = 0; row < rows; ++row)
        for (int k = 0; k < K; ++k)
            matrix[row * LD + k] = bf16(value_at(row, k));
}

/* Elements of D that are not what they ought to be. The squares of seven values are 28 together, so
 * no sum is beyond 7 * 28 + 9, and all are exact in bf16. */
static int count_wrong(void) {
    int wrong = 0;
    for (int row = 0; row < M; ++row)
        for (int column = 0; column < N; ++column) {
            int sum = 0;
            for (int k = 0; k < K; ++k)
                sum += value_at(row, k) * value_at(column, k);
            wrong += d[row * LD + column] != bf16(sum);
        }
    return wrong;
}

int main(void) {
    struct backend_options options;
    struct backend_info info;
    memset(&options, 0, sizeof options); /* no trace */
    if (backend_open(&options, &info) != EXIT_VERIFIED) return EXIT_NO_DEVICE;
    a = (uint16_t *)backend_alloc(sizeof *a * M * LD, "A", false);
    b = (uint16_t *)backend_alloc(sizeof *b * N * LD, "B", false);
    d = (uint16_t *)backend_alloc(sizeof *d * M * LD, "D", true);
    if (!a || !b || !d) return EXIT_NO_DEVICE;
    fill(a, M);
    fill(b, N);

    struct contender contender;
    struct gemm_problem problem; /* hopper_gemm() has its own */
    memset(&contender, 0, sizeof contender);
    memset(&problem, 0, sizeof problem);
    contender.name = "hopper_gemm";
    contender.enqueue = enqueue;
    double cycles;
    const enum run_status status = backend_run(&contender, &problem, &cycles);
    if (status != RUN_OK) return status == RUN_HAZARD ? EXIT_HAZARD : EXIT_WRONG;
    const int wrong = count_wrong();
    printf("%d x %d x %d: %d wrong, %.0f simulated cycles\n", M, N, K, wrong, cycles);
    backend_close();
    return wrong ? EXIT_WRONG : EXIT_VERIFIED;
}
