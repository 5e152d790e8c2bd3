/*
 * baseline_list.h: which baselines join the rotation.
 */
#ifndef HARNESS_BASELINE_LIST_H
#define HARNESS_BASELINE_LIST_H

#include "backend.h"

/* What a tour compares with, in the form in which --baselines takes it. */
#define USUAL_BASELINES "libraries,ceilings"

/* Reads a list, separated by commas, of names of baselines, of their groups, and of the words none
 * and all, into a mask for backend_baselines(). A group and `all` leave out what the build lacks.
 * False after a complaint that begins with `option`: a word that is not known, or what it stands
 * for is not in this build. */
bool baselines_choose(const char *option, const char *list, uint32_t *wanted);

/* The mask of one baseline; 0 if the backend has no such name. */
uint32_t baseline_mask(const char *name);

#endif
