/*
 * judge_main.c: build/sim/judge, for the practice and its tests.
 *
 *     judge RULE GIVEN [NUMBER...] [-- CODE CYCLES...]
 *
 * NUMBER are the right answers, CODE and CYCLES what runs came to. Exit code: 0 right, 1 wrong, 3
 * undecided, 2 usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breaks/judge.h"

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "judge RULE GIVEN [NUMBER...] [-- CODE CYCLES...]\n");
        return 2;
    }
    int i = 3;
    judge_open(argv[1][0]);
    for (; i < argc && strcmp(argv[i], "--"); ++i)
        judge_right(atof(argv[i]));
    for (++i; i + 1 < argc; i += 2)
        judge_run(atoi(argv[i]), atof(argv[i + 1]));
    const enum judgement judgement = judge_answer(atof(argv[2]));
    return judgement == RIGHT ? 0 : judgement == WRONG ? 1 : 3;
}
