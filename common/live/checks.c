/*
 * checks.c: the runs of --check, for the page, which cannot start a process for each: a line of
 * JSON for each chapter.
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "kind_options.h"
#include "harness/options.h"
#include "harness/problem_kind.h"
#include "harness/registry.h"
#include "sim/settings.h"

void live_print_checks(void);

static void print_run(const struct gemm_kernel *kernel, const struct check_run *run) {
    const uint64_t *const setting = run->setting;
    struct kind_set options;
    memcpy(options.value, run->option, sizeof options.value);
    kind_set_options(kernel, &options);
    printf("{\"m\":%d,\"n\":%d,\"k\":%d,\"input\":%llu,\"sms\":%llu,\"schedule\":\"%s\",\"seed\":%"
           "llu",
           run->m, run->n, run->k, (unsigned long long)run->seed,
           (unsigned long long)setting[SETTING_SMS],
           backend_settings[SETTING_SCHEDULE].names[setting[SETTING_SCHEDULE]],
           (unsigned long long)setting[SETTING_SEED]);
    for (int i = 0; i < kind_of(kernel)->option_count; ++i) {
        const struct backend_setting *const option = &kind_of(kernel)->options[i];
        const char *const quote = option->names ? "\"" : "";
        char number[24];
        printf(",\"%s\":%s%s%s", option->option + 2, quote,
               setting_word(option, option->value, number), quote);
    }
    putchar('}');
}

/* But for the padding. */
static bool are_alike(const struct check_run *a, const struct check_run *b) {
    return a->m == b->m && a->n == b->n && a->k == b->k && a->seed == b->seed && a->far == b->far &&
           a->input == b->input && !memcmp(a->setting, b->setting, sizeof a->setting) &&
           !memcmp(a->option, b->option, sizeof a->option);
}

/* The page has whole numbers alone, and one padding. */
static bool is_for_page(const struct check_run *runs, int index) {
    for (int i = 0; i < index; ++i)
        if (are_alike(&runs[i], &runs[index])) return false;
    return runs[index].input == INPUT_INTEGER;
}

void live_print_checks(void) {
    static struct check_run runs[MOST_CHECK_RUNS];
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        const int count = backend_check_runs(kernel, runs);
        printf("{\"chapter\":\"%s\",\"runs\":[", kernel->name);
        for (int j = 0, printed = 0; j < count; ++j) {
            if (!is_for_page(runs, j)) continue;
            if (printed++) putchar(',');
            print_run(kernel, &runs[j]);
        }
        puts("]}");
    }
}
