/*
 * global.h: threads that poll a word of global memory.
 */
#ifndef SIM_UNITS_GLOBAL_H
#define SIM_UNITS_GLOBAL_H

/* A launch begins: nobody polls. */
void global_pollers_begin(void);

#endif
