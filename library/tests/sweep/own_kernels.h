/*
 * own_kernels.h: for a program that runs kernels of its own in the simulator, one problem under one
 * schedule at a time. One file of a program includes it.
 */
#ifndef TESTS_SWEEP_OWN_KERNELS_H
#define TESTS_SWEEP_OWN_KERNELS_H

#include "harness/experiment.h"
#include "harness/options.h"
#include "harness/registry.h"
#include "splitmix64.h"

/* The program needs no table of its kernels. */
const struct kernel_entry kernel_registry[] = {{{NULL}, 0, false, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL, 0}};
const int kernel_registry_count = 0;
const bool program_is_tour = true;

/* From 0 to `count` - 1. */
static inline int draw(uint64_t *random, int count) {
    return (int)(splitmix64(random) % (uint64_t)count);
}

/* Verifies a bf16 kernel at a problem of integers on `sms` SMs. The schedules take turns with
 * `number`, which is the seed, too. */
static inline enum exit_code run(const struct gemm_kernel *kernel, struct problem_size size,
                                 int sms, int number) {
    struct backend_info device = {0};
    struct experiment experiment;
    struct kernel_result result;
    const struct backend_options options = {.type = GEMM_BF16, .gpus = 1};
    struct backend_setting *const schedule = find_setting("--schedule");
    schedule->value = schedule->low + (uint64_t)number % (schedule->high + 1 - schedule->low);
    find_setting("--schedule-seed")->value = 1 + (uint64_t)number;
    find_setting("--sms")->value = (uint64_t)sms;
    enum exit_code code = backend_open(&options, &device);
    if (code != EXIT_VERIFIED) return code;
    code =
        experiment_open(&experiment, &device, size, GEMM_BF16, INPUT_INTEGER, 1, &kernel, 1, false);
    if (code == EXIT_VERIFIED) {
        experiment_verify(&experiment, kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

#endif
