/*
 * terms.h: reports in the terms of those who know neither the book nor its wrappers: what rule a
 * hazard breaks, where the ISA has it, and what the wrappers are called elsewhere.
 */
#ifndef COMMAND_TERMS_H
#define COMMAND_TERMS_H

/* Of the PTX ISA, or of the CUDA programming guide; NULL: there is none. */
const char *terms_section(const char *rule);

/* The i-th wrapper that a report's text names, in PTX and in cuda::ptx. */
struct term {
    const char *wrapper, *ptx, *cuda; /* cuda NULL: it has none */
};
const struct term *terms_in(const char *text, int i);

#endif
