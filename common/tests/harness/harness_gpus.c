/*
 * harness_gpus.c: on a GPU other than Hopper a program runs the kernels that have code for it,
 * names the others in one line, and refuses what does not fit into its shared memory before it
 * writes anything. Utilization is told of 9.0 and 8.0 alone.
 *
 *     harness_gpus GPU TOUR DIRECTORY
 *
 * GPU and TOUR are made of the fake kernels, whose first two chapters are for 8.0 and later, the
 * third for 9.0 and later; nothing may appear as DIRECTORY.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/harness_command.h"

#define CHAPTERS_TOO_NEW "04_fourth, 10_tenth, which need 9.0 itself (Hopper: wgmma)"
#define AND_THE_SIMULATOR "; the program of the same name under sim/ simulates them, without a GPU"

static struct outcome outcome;

static void run(const char *environment, const char *program, const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "%s '%s' --size 16 %s", environment, program, arguments);
    run_command(command, &outcome);
}

static void check_tour(const char *tour) {
    static const struct {
        const char *environment;
        int code, kernels, lines; /* of JSON; on stderr */
        const char *says;
    } trials[] = {
        {"FAKE_CAPABILITY=90", 0, 6, 0, NULL},
        {"FAKE_CAPABILITY=80", 0, 3, 1,
         "left out on fake (compute capability 8.0): 03_third, which needs 9.0 or later (TMA, "
         "mbarriers); " CHAPTERS_TOO_NEW AND_THE_SIMULATOR},
        {"FAKE_CAPABILITY=86 FAKE_SMEM=101376", 0, 3, 1, "(compute capability 8.6): 03_third, "},
        {"FAKE_CAPABILITY=120 FAKE_SMEM=101376", 0, 4, 1,
         "left out on fake (compute capability 12.0): " CHAPTERS_TOO_NEW AND_THE_SIMULATOR},
        {"FAKE_CAPABILITY=103", 0, 4, 1, "(compute capability 10.3): 04_fourth, "},
        {"FAKE_CAPABILITY=75 FAKE_SMEM=65536", 3, 0, 1,
         "(compute capability 7.5): 01_first, 02_second:between, 02_second, which need 8.0 or "
         "later; 03_third, which needs 9.0 or later"},
        {"FAKE_CAPABILITY=86 FAKE_SMEM=65536", 3, 0, 4,
         "02_second is left out: it needs 98304 bytes of shared memory for a CTA, and fake has "
         "65536; the program of the same name under sim/ simulates it"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
        run(trials[i].environment, tour, "--timing none --json --chapters 1-4,10");
        expect(outcome.code == trials[i].code && count_lines(outcome.out) == trials[i].kernels &&
                   count_lines(outcome.err) == trials[i].lines,
               "%s: exit code %d, expected %d; %d kernels, expected %d; %d lines, expected %d: %s",
               trials[i].environment, outcome.code, trials[i].code, count_lines(outcome.out),
               trials[i].kernels, count_lines(outcome.err), trials[i].lines, outcome.err);
        if (trials[i].says)
            expect(strstr(outcome.err, trials[i].says) != NULL, "%s: does not say '%s': %s",
                   trials[i].environment, trials[i].says, outcome.err);
    }
}

/* Refused with exit code 3 and one line, and nothing is written. */
static void check_refusal(const char *gpu, const char *directory) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, "--csv '%s.csv' --report '%s'", directory, directory);
    run("FAKE_CAPABILITY=86 FAKE_SMEM=65536", gpu, arguments);
    expect(outcome.code == 3 && !*outcome.out && count_lines(outcome.err) == 1 &&
               strstr(outcome.err, "this kernel needs 98304 bytes of shared memory for a CTA, and "
                                   "fake has 65536"),
           "too much shared memory: exit code %d, stdout '%s', stderr '%s'", outcome.code,
           outcome.out, outcome.err);
    snprintf(arguments, sizeof arguments, "%s/index.html", directory);
    expect(access(arguments, F_OK) != 0, "%s was written", arguments);
    snprintf(arguments, sizeof arguments, "%s.csv", directory);
    expect(access(arguments, F_OK) != 0, "%s was written", arguments);
    run("FAKE_SMEM=98304", gpu, "");
    expect(outcome.code == 0, "as much shared memory as it needs: exit code %d", outcome.code);
}

/* 16^3 in the fake's 20 ms are too few FLOPs for a utilization that shows, so its JSON is asked. */
static void check_utilization(const char *gpu) {
    static const struct {
        const char *environment;
        bool known;
    } trials[] = {{"FAKE_CAPABILITY=90", true},   {"FAKE_CAPABILITY=80", true},
                  {"FAKE_CAPABILITY=86", false},  {"FAKE_CAPABILITY=89", false},
                  {"FAKE_CAPABILITY=100", false}, {"FAKE_CAPABILITY=120", false}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
        run(trials[i].environment, gpu, "--timing burst --iters 1 --json");
        const bool unknown = strstr(outcome.out, "\"tensor_core_utilization\": null") != NULL;
        expect(outcome.code == 0 && unknown != trials[i].known, "%s: exit code %d: %s",
               trials[i].environment, outcome.code, outcome.out);
        run(trials[i].environment, gpu, "--timing burst --iters 1");
        const bool says = strstr(outcome.out, "not known of this GPU") != NULL;
        expect(says != trials[i].known && strstr(outcome.out, "1000"), "%s: the table: %s",
               trials[i].environment, outcome.out);
        expect(strstr(outcome.out, "100.0%") != NULL, "%s: no share of cuBLAS: %s",
               trials[i].environment, outcome.out);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: harness_gpus GPU TOUR DIRECTORY\n");
        return 2;
    }
    check_tour(argv[2]);
    check_refusal(argv[1], argv[3]);
    check_utilization(argv[1]);
    return expectations_met();
}
