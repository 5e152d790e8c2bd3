/*
 * nearest_name.h: the name that a misspelt one was meant to be.
 */
#ifndef HARNESS_NEAREST_NAME_H
#define HARNESS_NEAREST_NAME_H

/* Begin with {.text = what was typed}; then consider every name there is. */
struct near {
    const char *text;
    const char *name; /* the nearest so far that is near enough; NULL: none */
    int edits;        /* that lead from the one to the other */
};

void near_consider(struct near *near, const char *name);

#endif
