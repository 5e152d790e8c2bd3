/* refused.c: what this stand-in for cuBLAS, or for cuBLASLt, does not have. */
void hopper_check_refuse(const char *name) __attribute__((noreturn));

#define REFUSED(name)                                                                              \
    void name(void) __attribute__((weak));                                                         \
    void name(void) { hopper_check_refuse(#name); }
#include "refused.inc"
