/*
 * museum.c: runs an exhibit of docs/museum.md: build/sim/museum in the simulator, build/gpu/museum
 * on the GPU, by itself or under compute-sanitizer.
 *
 *     museum list
 *     museum NAME broken|fixed [RUNS] [--schedule NAME] [--schedule-seed N] [--sms N]
 *
 * RUNS is 1 unless given; the program stops at a hazard or a failed launch. On the GPU some of the
 * broken forms never end: give the program a time limit. Exit code: 0 every result was right, 1 one
 * was wrong or a launch failed, 2 usage, 3 no device, 4 a hazard.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/museum/museum_run.h"

static int usage(void) {
    fprintf(stderr, "usage: museum list | museum NAME broken|fixed [RUNS] [--schedule NAME] "
                    "[--schedule-seed N] [--sms N]\n");
    return EXIT_USAGE;
}

/* A number from `low` to `high`; false if the text is none. */
static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *value >= low && *value <= high;
}

/* Sets an option that the backend has. */
static bool set_option(const char *option, const char *value) {
    for (int i = 0; i < backend_setting_count; ++i) {
        struct backend_setting *const setting = &backend_settings[i];
        if (strcmp(option, setting->option) != 0) continue;
        if (!setting->names)
            return parse_number(value, setting->low, setting->high, &setting->value);
        for (uint64_t choice = setting->low; choice <= setting->high; ++choice)
            if (strcmp(value, setting->names[choice]) == 0) {
                setting->value = choice;
                return true;
            }
    }
    return false;
}

static const struct museum_exhibit *find(const char *name) {
    for (int i = 0; i < museum_exhibit_count; ++i)
        if (strcmp(name, museum_exhibits[i].name) == 0) return &museum_exhibits[i];
    return NULL;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < museum_exhibit_count; ++i)
            puts(museum_exhibits[i].name);
        return EXIT_VERIFIED;
    }
    const struct museum_exhibit *const exhibit = argc >= 3 ? find(argv[1]) : NULL;
    const bool fixed = exhibit && strcmp(argv[2], "fixed") == 0;
    if (!exhibit || (!fixed && strcmp(argv[2], "broken") != 0)) return usage();
    uint64_t runs = 1;
    int at = 3;
    if (at < argc && argv[at][0] != '-' && !parse_number(argv[at++], 1, 1000000, &runs))
        return usage();
    for (; at < argc; at += 2)
        if (at + 1 == argc || !set_option(argv[at], argv[at + 1])) return usage();
    const enum exit_code code = museum_open(exhibit);
    if (code != EXIT_VERIFIED) return code;
    uint64_t done = 0, spoiled = 0;
    enum run_status status = RUN_OK;
    while (done < runs && status == RUN_OK) {
        int wrong = 0;
        status = museum_run(exhibit, fixed, &wrong);
        spoiled += wrong != 0;
        done += status == RUN_OK;
    }
    printf("%s %s: %d runs, %d wrong%s\n", exhibit->name, argv[2], (int)done, (int)spoiled,
           status == RUN_FAILED ? ", then one failed" : "");
    museum_close();
    return status == RUN_HAZARD              ? EXIT_HAZARD
           : spoiled || status == RUN_FAILED ? EXIT_WRONG
                                             : EXIT_VERIFIED;
}
