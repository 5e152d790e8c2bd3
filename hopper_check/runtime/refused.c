/* refused.c: what a program may call and this runtime does not have. Each is weak: what is here
 * takes its place. */
#include "runtime/session.h"

void hopper_check_refuse(const char *name) __attribute__((noreturn, visibility("default")));

void hopper_check_refuse(const char *name) {
    session_refuse(REFUSED_INCOMPLETE, "the program calls %s, which this runtime does not have",
                   name);
}

#define REFUSED(name)                                                                              \
    void name(void) __attribute__((weak));                                                         \
    void name(void) { hopper_check_refuse(#name); }
#include "refused.inc"
