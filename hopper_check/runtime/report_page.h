/*
 * report_page.h: hopper_check --report: the page of one launch, with what was reported of it, the
 * lives of its mbarriers and what was in flight. The order of events is that of the run; no time is
 * kept.
 */
#ifndef RUNTIME_REPORT_PAGE_H
#define RUNTIME_REPORT_PAGE_H

/* Around a launch, the number-th of the program (1: the first), with clusters of so many CTAs.
 * Nothing happens unless the command has asked for this one. page_end() writes the page, or
 * refuses. */
void page_begin(const char *kernel, int cluster, int number);
void page_end(void);

#endif
