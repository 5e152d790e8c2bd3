/*
 * harness_check.c: --check runs what the backend lists and draws, stops at the first run that
 * fails, shows it and how to repeat it, and ends with its exit code, also if the kernel takes its
 * process with it.
 *
 *     harness_check SIM
 *
 * SIM is made of the fake kernels; its backend lists the problems 8 x 8 x 8 and 8 x 9 x 8.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/harness_command.h"

static struct outcome outcome;

static void run(const char *before, const char *program, const char *arguments, int code) {
    char command[1024];
    snprintf(command, sizeof command, "%s '%s' %s", before, program, arguments);
    run_command(command, &outcome);
    expect(outcome.code == code, "%s: exit code %d, expected %d: %s%s", command, outcome.code, code,
           outcome.out, outcome.err);
}

static void says(const char *what) {
    expect(strstr(outcome.out, what) != NULL, "stdout does not say '%s': %s", what, outcome.out);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: harness_check SIM\n");
        return 2;
    }
    run("", argv[1], "--check", 0);
    says("       8      9      8     2   early\n");
    says("drawn by --seed 1, up to 8 x 9 x 8: ");
    says("01_fake, fp16 and bf16: all ");
    expect(!*outcome.err, "a kernel that is right is complained of: %s", outcome.err);
    run("", argv[1], "--check --seed 5 --dtype fp16", 0);
    says("drawn by --seed 5");
    says("01_fake, fp16: all ");

    run("", argv[1], "--check --variant hazard --dtype fp16", 4);
    says("The first of ");
    says(
        " --variant hazard --m 8 --n 8 --k 8 --sms 1 --pitches drawn --padding nan --input integer "
        "--dtype fp16\n");
    says("\n01_fake:hazard "); /* what the command itself prints */
    /* What was asked for goes into the command, too. */
    run("", argv[1], "--check --variant hazard --dtype fp16 --hazards all", 4);
    says(" --sms 1 --hazards all --pitches drawn ");
    /* Right in square problems: the second run of the list is the first that fails, always. */
    for (int i = 0; i < 10; ++i) {
        run("", argv[1], "--check --variant only-square", 1);
        says("Runs 1 to 1 of ");
        says(" --m 8 --n 9 --k 8 --sms 2 --schedule early --pitches drawn --padding finite --input "
             "integer\n");
        expect(strstr(outcome.err, "wrong result") != NULL, "no report: %s", outcome.err);
    }
    run("FAKE_CRASH=1", argv[1], "--check", 1);
    says(" --m 8 --n 8 --k 8 --sms 1 --pitches drawn --padding nan --input integer\n");
    expect(strstr(outcome.err, "that run was ended by signal") != NULL, "a crash: %s", outcome.err);
    return expectations_met();
}
