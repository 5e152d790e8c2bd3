/*
 * museum_run.h: runs an exhibit once, on whichever backend the program is linked with.
 */
#ifndef TESTS_MUSEUM_MUSEUM_RUN_H
#define TESTS_MUSEUM_MUSEUM_RUN_H

#include "backend.h"
#include "tests/museum/museum.h"

/* Opens the backend for this exhibit and fills A and B with small whole numbers, whose sums are
 * exact. Returns EXIT_VERIFIED, or the exit code to leave with. */
enum exit_code museum_open(const struct museum_exhibit *exhibit);
void museum_close(void);

/* Runs one form with D full of NaN, and zeros in front of A's map in args.tile_counter. `wrong`:
 * elements of D that are wrong, if the run has ended well. */
enum run_status museum_run(const struct museum_exhibit *exhibit, int fixed, int *wrong);

#endif
