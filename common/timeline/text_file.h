/*
 * text_file.h: files that appear under their name only when they are whole, and text quoted for
 * JSON and XML.
 */
#ifndef TIMELINE_TEXT_FILE_H
#define TIMELINE_TEXT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* A file that is being written under a temporary name beside its own. One at a time: if the program
 * ends by exit(), it is removed. */
struct text_file {
    FILE *file; /* NULL: not open */
    char path[4096], temporary[4096 + 24];
};

/* False, with errno, if it cannot be opened. */
bool text_file_open(struct text_file *text, const char *path);
/* Gives it its name. False, with errno, if not all of it could be written; then nothing is left. */
bool text_file_commit(struct text_file *text);
/* Removes it, if it is open. */
void text_file_abandon(struct text_file *text);

/* A quoted string. '<' is escaped, too, so that JSON may stand inside a <script>. */
void write_json_string(FILE *file, const char *text);
/* A number that JSON can hold: null instead of an infinity or NaN. */
void write_json_number(FILE *file, double value);
void write_xml_text(FILE *file, const char *text);

#endif
