/*
 * text_file.h: files that appear under their name only when they are whole, and text quoted for
 * JSON and XML.
 */
#ifndef TIMELINE_TEXT_FILE_H
#define TIMELINE_TEXT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct text_file {
    FILE *file;
    char path[4096], temporary[4096 + 16];
};

/* Opens a temporary file beside `path`. False, with a line on stderr, if that cannot be done. */
bool output_begin(struct text_file *output, const char *path);
/* Closes it and gives it its name. False, with a line on stderr, if anything could not be written.
 */
bool output_end(struct text_file *output);

/* A quoted string. '<' is escaped, too, so that JSON may stand inside a <script>. */
void write_json_string(FILE *file, const char *text);
/* A number that JSON can hold: null instead of an infinity or NaN. */
void write_json_number(FILE *file, double value);
void write_xml_text(FILE *file, const char *text);

#endif
