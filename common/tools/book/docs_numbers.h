/*
 * docs_numbers.h: numbers in prose, held to the records that they come from.
 *
 *   <!-- numbers: results=h200-steps
 *     80 % = cublas(07, 8192x8192x512)
 *     14,600 = cycles(07, 8192x8192x512) / 16
 *     3 % >= 100 * (max(tflops(07, 8192), tflops(08, 8192)) / tflops(07, 8192) - 1)
 *     2.0 = cell(probe.txt, the difference, per line, 2) -->
 *   Chapter 07 reaches 80 % of cuBLAS there. A tile takes 14,600 cycles ...
 *
 * The marker holds the paragraph or list that follows it, up to the next empty line; a table is a
 * grid (docs_grid.h). Each
 * line of the marker is a claim: a text, a relation, and an expression. A line without a relation
 * continues the claim above it. The text begins with a number. It must occur in what follows the
 * marker, as often as the marker has claims with that text.
 *
 * With "=" the expression's value, rounded as the number is, must be the number. A number is
 * rounded to its decimals. A whole number of three digits or more that is no percentage is rounded
 * to its zeros at the end, but to two digits at least: 14,600 is 14,550 to 14,650. With ">=" or
 * "<=" the number is a bound. Prose is never rewritten: if a record changes a number, the sentence
 * around it has to be read again.
 *
 * An expression has numbers, + - * / ( ), min(a, b, ...), max(a, b, ...), abs(a), and
 *
 *   column(kernel, shape)           from docs/results/<results>.jsonl; docs_expression.c lists
 *   column(kernel, shape, record)   the columns. Calls of one claim that name the same record and
 *                                   shape are answered from one run: the last that has all of
 *                                   them. (So 0 * ms(05, 8192) selects a run with 05.)
 *                                   A record may name its type, h200-fp8-rows:e4m3, or a text
 *                                   that its run's command has, h200-two-gpus-curve@DEVICES=0
 *   gain(kernel, other, shape)      by how many percent more TFLOPS the kernel has than the other;
 *   loss(kernel, other, shape)      by how many percent fewer; a record may follow, too
 *   cell(file, text, n)             the n-th number after `text`, in the last line of
 *                                   docs/results/<file> that has the text, which may have commas
 *   round(x, digits)                x with so many decimals, for a sum of rounded numbers
 *
 * `dtype=` in the marker's first line names another type than bf16.
 *
 * A page whose text has the line <!-- numbers: all --> must have a marker before every paragraph
 * that has a digit and the word "measured". <!-- numbers: none: REASON --> is a marker, too.
 */
#ifndef TOOLS_BOOK_DOCS_NUMBERS_H
#define TOOLS_BOOK_DOCS_NUMBERS_H

#include "tools/book/docs_page.h"

/* Complains about every claim of the page that does not hold. Returns the number of claims. */
int numbers_check(const char *root, const struct page *page);

#endif
