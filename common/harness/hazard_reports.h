/*
 * hazard_reports.h: what the simulator has reported, behind the table: wrapped, and with where to
 * read on.
 */
#ifndef HARNESS_HAZARD_REPORTS_H
#define HARNESS_HAZARD_REPORTS_H

#include <stddef.h>

/* Prints backend_report() on stderr. */
void say_reports(void);

/* The book's folder docs/, as the way there from a directory, which need not exist yet; NULL: it
 * is not where it was when this was compiled. Returns text. */
const char *docs_from(const char *directory, char *text, size_t size);

#endif
