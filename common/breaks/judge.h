/*
 * judge.h: whether an answer in the practice is right; for build/sim/practice (judge_main.c) and
 * for the pages, which have it as WebAssembly. What is right is data of the case: its rule, and the
 * numbers of right answers. What the rule decides by runs it decides by their outcomes.
 */
#ifndef BREAKS_JUDGE_H
#define BREAKS_JUDGE_H

/* The first letter of a rule's name:
 *
 *     named    the answer is one of the right ones
 *     repaired it is, and its run passes
 *     caught   the run that is given as the answer fails
 *     between  the number that is given lies from the first of the right ones to the last
 *     fewest   of all answers' runs its has the fewest simulated cycles, by a margin
 *     most     the most
 *     alone    of all answers' runs only its fails
 */
enum judgement { UNDECIDED = -1, WRONG, RIGHT };

/* Begins with a rule. */
void judge_open(int rule);
/* The number of a right answer. */
void judge_right(double number);
/* What a run came to: its exit code, and simulated cycles, 0 if there are none. Where the answers'
 * runs are compared, of each in order; else of the one that was run. */
void judge_run(int code, double cycles);
/* Of an answer, by its number. UNDECIDED: not one of the runs is as the rule wants it. */
enum judgement judge_answer(double given);

#endif
