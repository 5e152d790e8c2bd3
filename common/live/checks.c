/*
 * checks.c: the runs of --check, for the page, which cannot start a process for each: a line of
 * JSON for each chapter.
 */
#include <stdio.h>

#include "backend.h"
#include "harness/options.h"
#include "harness/problem_kind.h"
#include "harness/registry.h"
#include "sim/settings.h"

void live_print_checks(void);

static void print_run(const struct gemm_kernel *kernel, const struct check_run *run) {
    const uint64_t *const setting = run->setting;
    const int k = kind_drawn_k(kernel, run->k, run->seed); /* and its kind's options */
    printf("{\"m\":%d,\"n\":%d,\"k\":%d,\"input\":%llu,\"sms\":%llu,\"schedule\":\"%s\",\"seed\":%"
           "llu",
           run->m, run->n, k, (unsigned long long)run->seed,
           (unsigned long long)setting[SETTING_SMS],
           backend_settings[SETTING_SCHEDULE].names[setting[SETTING_SCHEDULE]],
           (unsigned long long)setting[SETTING_SEED]);
    for (int i = 0; kernel->kind && i < kernel->kind->option_count; ++i) {
        const struct backend_setting *const option = &kernel->kind->options[i];
        const char *const quote = option->names ? "\"" : "";
        char number[24];
        printf(",\"%s\":%s%s%s", option->option + 2, quote,
               setting_word(option, option->value, number), quote);
    }
    putchar('}');
}

void live_print_checks(void) {
    static struct check_run runs[MOST_CHECK_RUNS];
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        const int count = backend_check_runs(kernel, runs);
        printf("{\"chapter\":\"%s\",\"runs\":[", kernel->name);
        for (int j = 0; j < count; ++j) {
            if (j) putchar(',');
            print_run(kernel, &runs[j]);
        }
        puts("]}");
    }
}
