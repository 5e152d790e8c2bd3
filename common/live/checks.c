/*
 * checks.c: the runs of --check, for the page, which cannot start a process for each: a line of
 * JSON for each chapter.
 */
#include <stdio.h>

#include "backend.h"
#include "harness/registry.h"
#include "sim/settings.h"

void live_print_checks(void);

static void print_run(const struct check_run *run) {
    const uint64_t *const setting = run->setting;
    printf("{\"m\":%d,\"n\":%d,\"k\":%d,\"input\":%llu,\"sms\":%llu,\"schedule\":\"%s\",\"seed\":%"
           "llu}",
           run->m, run->n, run->k, (unsigned long long)run->seed,
           (unsigned long long)setting[SETTING_SMS],
           backend_settings[SETTING_SCHEDULE].names[setting[SETTING_SCHEDULE]],
           (unsigned long long)setting[SETTING_SEED]);
}

void live_print_checks(void) {
    static struct check_run runs[MOST_CHECK_RUNS];
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        const int count = backend_check_runs(kernel, runs);
        printf("{\"chapter\":\"%s\",\"runs\":[", kernel->name);
        for (int j = 0; j < count; ++j) {
            if (j) putchar(',');
            print_run(&runs[j]);
        }
        puts("]}");
    }
}
