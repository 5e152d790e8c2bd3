/*
 * held_reports.h: the simulator's reports, at once or later.
 *
 * A program whose results make a table prints the reports behind it, so that they are the last on
 * the screen: backend_hold_reports(). All others print them at once.
 */
#ifndef SIM_CORE_HELD_REPORTS_H
#define SIM_CORE_HELD_REPORTS_H

/* What two reports of one mistake have in common: the kind, and the earlier of the two accesses.
 * Texts that live as long as the program; file may be NULL. */
struct report_cause {
    const char *kind, *file;
    int line;
};

/* Prints a report, or keeps it, behind those of this run that have the same cause (NULL: behind
 * all). Takes no memory. */
void report_say(const char *text, const struct report_cause *cause);
/* From here on they are kept, and only reports_spill() prints them: what backend_hold_reports()
 * does, without its signals. */
void reports_hold(void);
/* Another run begins. */
void reports_begin(void);
/* Prints what is kept, now, and from here on everything at once: the program ends. May be called in
 * a signal handler. */
void reports_spill(void);

#endif
