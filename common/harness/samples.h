/*
 * samples.h: which elements of an output have a reference.
 *
 * All of a small output; of a large one the first, the last and a random row and column, and one
 * random element of every 128 x 128 block.
 */
#ifndef HARNESS_SAMPLES_H
#define HARNESS_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

/* One element and what it should be. */
struct sample {
    int row, column;
    double value;
};

/* `cost` is everywhere what one element's reference takes, in multiplications. Are the samples all
 * elements? */
bool samples_are_all(int rows, int columns, double cost);
/* At most so many are placed. */
int64_t samples_room(int rows, int columns, double cost);
/* Chooses the elements, row by row if they are all. Returns how many. */
int64_t samples_place(struct sample *samples, int rows, int columns, double cost, uint64_t seed);

#endif
