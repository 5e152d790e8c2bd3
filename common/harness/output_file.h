/*
 * output_file.h: files that are there whole or not at all, and a standard output that says so if
 * something of it was lost.
 */
#ifndef HARNESS_OUTPUT_FILE_H
#define HARNESS_OUTPUT_FILE_H

#include <stdbool.h>

#include "backend.h"
#include "timeline/text_file.h"

/* First in main(): sees to it that the standard streams are open, because the next file would take
 * the place of a closed one, and that a reader who goes away or a file larger than the system
 * allows shows as an error of the stream. False after a complaint. */
bool streams_begin(void);
/* Last in main(): the program's exit code. EXIT_USAGE, after a complaint, if all was well but not
 * all of standard output could be written. */
enum exit_code streams_end(enum exit_code code);

/* Could a file of this name be written? Tries it, and leaves nothing behind. `option` is named in
 * the complaint. */
bool output_can_write_file(const char *option, const char *path);
/* Could files be written into this directory, which need not exist yet? */
bool output_can_write_directory(const char *option, const char *path);

/* The file that an option names, with complaints that name the option. False after one. */
bool output_open(struct text_file *file, const char *option, const char *path);
bool output_commit(struct text_file *file, const char *option);

#endif
