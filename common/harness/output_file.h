/*
 * output_file.h: files that are there whole or not at all.
 */
#ifndef HARNESS_OUTPUT_FILE_H
#define HARNESS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* A file being written under a temporary name beside its own. */
struct output_file {
    FILE *stream; /* NULL: not open */
    char *path, *temporary;
};

/* Could a file of this name be written? Tries it, and leaves nothing behind. `option` is named in
 * the complaint. */
bool output_can_write_file(const char *option, const char *path);
/* Could files be written into this directory, which need not exist yet? */
bool output_can_write_directory(const char *option, const char *path);

/* Opens; false after a complaint. */
bool output_open(struct output_file *file, const char *option, const char *path);
/* Gives the file its name. False after a complaint if not all of it could be written; then nothing
 * is left. */
bool output_commit(struct output_file *file);
/* Removes what was written, if the file is open. */
void output_abandon(struct output_file *file);

#endif
