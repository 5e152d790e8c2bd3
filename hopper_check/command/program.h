/*
 * program.h: hopper_check ./program: a whole program, run several times and judged.
 */
#ifndef COMMAND_PROGRAM_H
#define COMMAND_PROGRAM_H

/* The command line from its beginning on. Returns the exit code. */
int program_main(int argc, char **argv);

#endif
