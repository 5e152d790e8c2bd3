/*
 * harness_rejects.c: the harness accepts right kernels and rejects each broken one, and says why.
 *
 *     harness_rejects CARD TOUR_WRONG        paths of the programs made of the fake kernels
 */
#include <stdio.h>
#include <string.h>

#include "harness_command.h"
#include "harness_fake.h"

struct trial {
    const char *arguments; /* without the variant */
    const char *variant;   /* NULL: the right kernel */
    int code;
    const char *says; /* must be on stderr; NULL: stderr must be empty */
};

#define REAL "--timing none --m 130 --n 70 --k 77"
#define WHOLE REAL " --input integer"

static const struct trial trials[] = {
    /* right kernels, whatever the input, the type and the size */
    {REAL, NULL, 0, NULL},
    {WHOLE, NULL, 0, NULL},
    {REAL " --input normal --dtype fp16", NULL, 0, NULL},
    {REAL " --input zeros", NULL, 0, NULL},
    {WHOLE " --dtype fp16", NULL, 0, NULL},
    {"--timing none --size 1", NULL, 0, NULL},
    {"--timing none --size 1 --dtype fp16", NULL, 0, NULL},
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
    {"--m 65 --n 33 --k 40", "past-last-column", 1, "wrote outside of D"},
    {REAL, "transposed", 1, "fp64 reference"},
    {WHOLE, "transposed", 1, "exact sum"},
    {REAL, "wrong-type", 1, "wrong result"},
    {REAL " --dtype fp16", "wrong-type", 1, "wrong result"},
    {"--timing none --m 40 --n 50 --k 300 --input normal --dtype fp16", "fp16-sum", 1,
     "fp64 reference"},
    {REAL, "counter", 1, "tile counter"},
    {REAL, "launch-fails", 1, "no result"},
    {REAL, "hazard", 4, NULL},
};

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: harness_rejects CARD TOUR\n");
        return 2;
    }
    static struct outcome outcome;
    char command[1024];
    bool tried[DEFECTS] = {true};
    const int count = (int)(sizeof trials / sizeof *trials);
    for (int i = 0; i < count; ++i) {
        const struct trial *t = &trials[i];
        snprintf(command, sizeof command, "'%s' %s%s%s", argv[1], t->arguments,
                 t->variant ? " --variant " : "", t->variant ? t->variant : "");
        run_command(command, &outcome);
        expect(outcome.code == t->code, "%s: exit code %d, expected %d; stderr: %s", command,
               outcome.code, t->code, outcome.err);
        if (t->says)
            expect(strstr(outcome.err, t->says) != NULL, "%s: stderr does not say '%s': %s",
                   command, t->says, outcome.err);
        else
            expect(!*outcome.err, "%s: stderr is not empty: %s", command, outcome.err);
        for (int defect = 1; defect < DEFECTS; ++defect)
            if (t->variant && strcmp(t->variant, defect_names[defect]) == 0) tried[defect] = true;
    }
    for (int defect = 0; defect < DEFECTS; ++defect)
        expect(tried[defect], "the defect '%s' was never tried", defect_names[defect]);

    /* One broken stage decides the tour's exit code; the others still run and are verified. */
    snprintf(command, sizeof command, "'%s' --timing none --size 70 --json", argv[2]);
    run_command(command, &outcome);
    expect(outcome.code == 1 && count_lines(outcome.out) == 4, "%s: exit code %d, %d lines",
           command, outcome.code, count_lines(outcome.out));
    expect(strstr(outcome.out, "\"04_fourth\"") != NULL, "%s: stopped at the broken stage",
           command);
    snprintf(command, sizeof command, "'%s' --timing none --size 70 --stages 1-2,4", argv[2]);
    run_command(command, &outcome);
    expect(outcome.code == 0, "%s: exit code %d: %s", command, outcome.code, outcome.err);
    return expectations_met();
}
