/*
 * held_reports.h: the simulator's reports, at once or later.
 *
 * A program whose results make a table prints the reports behind it, so that they are the last on
 * the screen: backend_hold_reports(). All others print them at once.
 */
#ifndef SIM_CORE_HELD_REPORTS_H
#define SIM_CORE_HELD_REPORTS_H

/* Prints a report, or keeps it. Takes no memory. */
void report_say(const char *text);
/* Prints what is kept, now, and from here on everything at once: the program ends. May be called in
 * a signal handler. */
void reports_spill(void);

#endif
