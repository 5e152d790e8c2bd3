/*
 * harness_rejects.c: the harness accepts right kernels and rejects each broken one, and says why.
 *
 *     harness_rejects GPU SIM TOUR        the programs made of the fake kernels; in the tour
 *                                          chapter 3 is wrong and chapter 4 a hazard
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/harness_command.h"
#include "tests/harness/harness_fake.h"

struct trial {
    const char *arguments; /* without the variant */
    const char *variant;   /* NULL: the right kernel */
    int code;
    const char *says; /* must be on stderr; NULL: stderr must be empty */
};

#define REAL "--timing none --m 130 --n 70 --k 77"
#define WHOLE REAL " --input integer"
#define E4M3 "--timing none --m 130 --n 270 --k 300 --dtype e4m3"
#define W4A8 "--timing none --m 130 --n 270 --k 300 --dtype w4a8"

static const struct trial trials[] = {
    /* right kernels, whatever the input, the type and the size */
    {REAL, NULL, 0, NULL},
    {WHOLE, NULL, 0, NULL},
    {REAL " --input normal --dtype fp16", NULL, 0, NULL},
    {REAL " --input zeros", NULL, 0, NULL},
    {WHOLE " --dtype fp16", NULL, 0, NULL},
    {"--timing none --size 1", NULL, 0, NULL},
    {"--timing none --size 1 --dtype fp16", NULL, 0, NULL},
    {WHOLE " --pitches drawn", NULL, 0, NULL},
    {WHOLE " --pitches drawn --seed 2 --dtype fp16", NULL, 0, NULL},
    {"--timing none --m 3 --n 9 --k 20000 --input normal", NULL, 0, NULL},
    {"--timing none --m 3 --n 9 --k 20000 --input integer", NULL, 0, NULL},
    {"--timing none --m 1500 --n 1500 --k 120", NULL, 0, NULL},
    {"--timing both --m 65 --n 33 --k 40", NULL, 0, NULL},
    /* also the ones that add as the Tensor Core does */
    {REAL, "truncating", 0, NULL},
    {WHOLE, "truncating", 0, NULL},
    {REAL " --dtype fp16", "truncating", 0, NULL},
    {"--timing none --m 40 --n 50 --k 6000 --dtype fp16", "truncating", 0, NULL},
    {"--timing none --m 40 --n 50 --k 6000 --input normal", "truncating", 0, NULL},
    /* broken ones */
    {REAL, "unwritten-tile", 1, "not written"},
    {REAL " --input zeros", "unwritten-tile", 1, "not written"},
    {REAL, "nan-output", 1, "got nan"},
    {REAL " --dtype fp16", "nan-output", 1, "got nan"},
    {REAL, "infinite", 1, "got inf"},
    {REAL " --dtype fp16", "infinite", 1, "got inf"},
    {REAL, "past-last-column", 1, "padding after the last column of row 65"},
    {REAL " --input zeros", "past-last-column", 1, "wrote outside of D"},
    {REAL, "guard-before", 1, "guard before D"},
    {REAL, "guard-after", 1, "guard after D"},
    {REAL, "k-tail-unmasked", 1, "9100 of 9100 elements"},
    {REAL, "k-tail-dropped", 1, "fp64 reference"},
    {WHOLE, "k-tail-dropped", 1, "exact sum"},
    {"--timing none --size 64", "swapped", 1, "fp64 reference"},
    {REAL, "swapped", 1, "fp64 reference"},
    {REAL " --input zeros", "only-zeros", 0, NULL}, /* here it is right */
    {REAL, "only-zeros", 1, "got 0 "},
    {WHOLE, "only-zeros", 1, "got 0 "},
    {"--timing none --size 64", "only-square", 0, NULL}, /* here, too */
    {REAL, "only-square", 1, "wrong result"},
    {WHOLE, "pitch-of-a", 0, NULL}, /* and here */
    {WHOLE " --pitches drawn", "pitch-of-a", 1, "wrong result"},
    {WHOLE " --pitches drawn --seed 2", "pitch-of-a", 1, "wrong result"},
    {REAL, "one-element", 1, "1 of 9100 elements, in 1 of 9 tiles"},
    {REAL, "one-element", 1, "first: row 65, column 35: "},
    {REAL, "one-element", 1, "tile (1, 1) of 64 x 32: row 1, column 3 in the tile"},
    {REAL, "one-element", 1, "rows 0..63, warp 0, lane 5, register 1\n"},
    {WHOLE, "one-ulp", 1, "1 of 9100 elements"},
    {WHOLE " --dtype fp16", "one-ulp", 1, "exact sum"},
    {"--timing none --m 1500 --n 1500 --k 120", "hidden-element", 1, "library's result"},
    {REAL, "timed-wrong", 0, NULL}, /* without a timed run nobody can know */
    {"--m 65 --n 33 --k 40", "timed-wrong", 1, "timed runs, buffer 0: wrong result"},
    {"--timing sustained --m 65 --n 33 --k 40", "timed-wrong", 1, "timed runs"},
    {"--m 65 --n 33 --k 40", "timed-silent", 1, "not written"},
    {"--size 200", "timed-silent", 1, "buffer 0: wrong result: 40000 of 40000"}, /* one buffer */
    {"--timing none --m 40 --n 50 --k 16", "cut-output", 1, "fp64 reference"},
    {"--m 65 --n 33 --k 40", "past-last-column", 1, "wrote outside of D"},
    {REAL, "transposed", 1, "fp64 reference"},
    {WHOLE, "transposed", 1, "exact sum"},
    {REAL, "wrong-type", 1, "wrong result"},
    {REAL " --dtype fp16", "wrong-type", 1, "wrong result"},
    {"--timing none --m 40 --n 50 --k 300 --input normal --dtype fp16", "fp16-sum", 1,
     "fp64 reference"},
    {"--timing none --m 40 --n 50 --k 300 --input normal", "rounded-sums", 1, "fp64 reference"},
    {"--timing none --m 40 --n 50 --k 6000 --input integer", "rounded-sums", 1, "exact sum"},
    /* scales: right ones, also where sums are cut as by the Tensor Core, and wrong ones */
    {E4M3, NULL, 0, NULL},
    {E4M3 " --input normal", NULL, 0, NULL},
    {E4M3 " --input integer", NULL, 0, NULL},
    {E4M3 " --input zeros", NULL, 0, NULL},
    {"--timing none --size 1 --dtype e4m3", NULL, 0, NULL},
    {"--timing none --m 700 --n 900 --k 600 --dtype e4m3 --input normal", NULL, 0, NULL},
    {"--timing both --m 65 --n 33 --k 140 --dtype e4m3", NULL, 0, NULL},
    {E4M3 " --pitches drawn", NULL, 0, NULL},
    {E4M3 " --pitches drawn", "pitch-of-a", 1, "wrong result"},
    {E4M3, "truncating", 0, NULL},
    {E4M3 " --input integer", "truncating", 0, NULL},
    {"--timing none --m 40 --n 50 --k 6000 --dtype e4m3 --input normal", "truncating", 0, NULL},
    {E4M3, "tensor-scales", 0, NULL},
    {E4M3 " --input integer", "tensor-scales", 0, NULL},
    {"--timing none --m 40 --n 50 --k 16384 --dtype e4m3 --input integer", "tensor-scales", 0,
     NULL},
    {"--timing none --m 40 --n 50 --k 6000 --dtype e4m3", "tensor-scales", 0, NULL},
    {E4M3, "other-block", 1, "fp64 reference"},
    {E4M3 " --input normal", "other-block", 1, "fp64 reference"},
    {E4M3 " --input integer", "other-block", 1, "exact sum"},
    {E4M3, "other-row", 1, "fp64 reference"},
    {E4M3 " --input integer", "other-row", 1, "exact sum"},
    {E4M3, "other-columns", 1, "fp64 reference"},
    {E4M3 " --input integer", "other-columns", 1, "exact sum"},
    {E4M3, "unscaled", 1, "fp64 reference"},
    {E4M3 " --input integer", "unscaled", 1, "exact sum"},
    {E4M3, "first-scales", 1, "fp64 reference"},
    {E4M3 " --input integer", "first-scales", 1, "exact sum"},
    {"--timing none --m 40 --n 300 --k 6000 --dtype e4m3", "other-block", 1, "fp64 reference"},
    {"--timing none --m 40 --n 300 --k 6000 --dtype e4m3", "other-columns", 1, "fp64 reference"},
    {E4M3, "k-tail-unmasked", 1, "got nan"},
    {E4M3, "k-tail-dropped", 1, "fp64 reference"},
    {E4M3, "transposed", 1, "fp64 reference"},
    {E4M3, "unwritten-tile", 1, "not written"},
    {"--timing none --m 1500 --n 1500 --k 120 --dtype e4m3", "hidden-element", 1,
     "library's result"},
    {W4A8, NULL, 0, NULL},
    {W4A8 " --input normal", NULL, 0, NULL},
    {W4A8 " --input integer", NULL, 0, NULL},
    {W4A8 " --input zeros", NULL, 0, NULL},
    {"--timing none --size 1 --dtype w4a8", NULL, 0, NULL},
    {"--timing none --m 700 --n 900 --k 600 --dtype w4a8 --input normal", NULL, 0, NULL},
    {"--timing both --m 65 --n 33 --k 140 --dtype w4a8", NULL, 0, NULL},
    {W4A8, "truncating", 0, NULL},
    /* Only a library that is known to round its weights may do so. Over a long k the errors of the
     * Tensor Core's sums are greater. */
    {"--timing none --m 130 --n 270 --k 16 --dtype w4a8", "e4m3-weights", 1, "fp64 reference"},
    {"--timing none --m 40 --n 50 --k 6000 --dtype w4a8 --input normal", "truncating", 0, NULL},
    {W4A8, "other-block", 1, "fp64 reference"},
    {W4A8 " --input integer", "other-block", 1, "exact sum"},
    {W4A8, "other-row", 1, "fp64 reference"},
    {W4A8 " --input integer", "other-row", 1, "exact sum"},
    {W4A8, "other-columns", 1, "fp64 reference"},
    {W4A8 " --input integer", "other-columns", 1, "exact sum"},
    {W4A8, "unscaled", 1, "fp64 reference"},
    {W4A8 " --input integer", "first-scales", 1, "exact sum"},
    {W4A8, "k-tail-unmasked", 1, "got nan"},
    {W4A8, "k-tail-dropped", 1, "fp64 reference"},
    {W4A8, "transposed", 1, "fp64 reference"},
    {W4A8, "unwritten-tile", 1, "not written"},
    {REAL, "counter", 1, "tile counter"},
    {REAL, "launch-fails", 1, "no result"},
    {REAL, "hazard", 4, NULL},
};

static struct outcome outcome;

static void run_variant(const char *program, const char *arguments, const char *variant, int code,
                        const char *says) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s%s%s", program, arguments,
             variant ? " --variant " : "", variant ? variant : "");
    run_command(command, &outcome);
    expect(outcome.code == code, "%s: exit code %d, expected %d; stderr: %s", command, outcome.code,
           code, outcome.err);
    if (says)
        expect(strstr(outcome.err, says) != NULL, "%s: stderr does not say '%s': %s", command, says,
               outcome.err);
    else
        expect(!*outcome.err, "%s: stderr is not empty: %s", command, outcome.err);
}

/* The worst kernel decides the tour's exit code; the others still run, and are verified. Chapter 2
 * has two steps. */
static void check_tour(const char *tour) {
    static const struct {
        const char *kernels;
        int code, lines;
    } trials[] = {{"1-2", 0, 3}, {"1-3", 1, 4}, {"1,2,4", 4, 4}, {"4,3", 4, 2}, {"1-4", 4, 5}};
    for (int i = 0; i < 5; ++i) {
        char command[1024];
        snprintf(command, sizeof command, "'%s' --timing none --size 70 --json --chapters %s", tour,
                 trials[i].kernels);
        run_command(command, &outcome);
        expect(outcome.code == trials[i].code && count_lines(outcome.out) == trials[i].lines,
               "%s: exit code %d, expected %d; %d lines, expected %d", command, outcome.code,
               trials[i].code, count_lines(outcome.out), trials[i].lines);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: harness_rejects GPU SIM TOUR\n");
        return 2;
    }
    bool tried[DEFECTS] = {true};
    const int count = (int)(sizeof trials / sizeof *trials);
    for (int i = 0; i < count; ++i) {
        const struct trial *t = &trials[i];
        run_variant(argv[1], t->arguments, t->variant, t->code, t->says);
        for (int defect = 1; defect < DEFECTS; ++defect)
            if (t->variant && strcmp(t->variant, defect_names[defect]) == 0) tried[defect] = true;
    }
    for (int defect = 0; defect < DEFECTS; ++defect)
        expect(tried[defect], "the defect '%s' was never tried", defect_names[defect]);

    /* Without a library every element must still have been written, with a number. */
    run_variant(argv[2], "--m 1500 --n 1500 --k 120", NULL, 0, NULL);
    run_variant(argv[2], "--m 1500 --n 1500 --k 120", "unwritten-tile", 1,
                "784 of 2250000 elements");
    run_variant(argv[2], "--m 1500 --n 1500 --k 120", "nan-output", 1, "1 of 2250000 elements");
    check_tour(argv[3]);
    return expectations_met();
}
