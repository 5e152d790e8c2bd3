#include "breaks/judge.h"

#include <stdbool.h>

enum { MOST = 64 };
static const double margin = 0.05; /* at least, between the right run and the next */

static int rule, rights, runs;
static double right[MOST];
static struct {
    int code;
    double cycles;
} run[MOST];

void judge_open(int name) {
    rule = name;
    rights = runs = 0;
}

void judge_right(double number) {
    if (rights < MOST) right[rights++] = number;
}

void judge_run(int code, double cycles) {
    if (runs == MOST) return;
    run[runs].code = code;
    run[runs++].cycles = cycles;
}

static bool is_named(double given) {
    for (int i = 0; i < rights; ++i)
        if (right[i] == given) return true;
    return false;
}

/* The only run that fails, or -1. */
static int only_failing(void) {
    int found = -1;
    for (int i = 0; i < runs; ++i) {
        if (run[i].code == 0) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

/* Whether run i is better than run j: 1, if by the margin, 2. */
static int is_better(int i, int j) {
    const double a = run[i].cycles, b = run[j].cycles, larger = a > b ? a : b;
    const double ahead = rule == 'f' ? b - a : a - b;
    return ahead <= 0 ? 0 : ahead < margin * larger ? 1 : 2;
}

/* The run that is better than all others by the margin, or -1. */
static int best(void) {
    int found = 0;
    for (int i = 0; i < runs; ++i) {
        if (run[i].cycles == 0) return -1;
        if (is_better(i, found)) found = i;
    }
    for (int i = 0; i < runs; ++i)
        if (i != found && is_better(found, i) < 2) return -1;
    return found;
}

enum judgement judge_answer(double given) {
    switch (rule) {
    case 'n':
        return is_named(given);
    case 'r':
        return is_named(given) && runs > 0 && run[0].code == 0;
    case 'c':
        return runs > 0 && run[0].code != 0;
    case 'b':
        return rights > 0 && right[0] <= given && given <= right[rights - 1];
    }
    const int wanted = rule == 'a' ? only_failing() : best();
    return wanted < 0 ? UNDECIDED : wanted == given;
}
