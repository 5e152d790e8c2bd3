/*
 * json.h: reads JSON (RFC 8259), for tests of what writes it.
 */
#ifndef TOOLS_JSON_JSON_H
#define TOOLS_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct json {
    enum {
        JSON_NULL,
        JSON_FALSE,
        JSON_TRUE,
        JSON_NUMBER,
        JSON_STRING,
        JSON_ARRAY,
        JSON_OBJECT
    } kind;
    double number;
    char *text;        /* of a string */
    struct json *item; /* of an array or object */
    char **key;        /* of an object */
    size_t count;
};

/* Parses the whole text. False, and where and why in `error`, if it is not JSON. */
bool json_parse(const char *text, struct json *out, char *error, size_t size);
void json_free(struct json *value);

/* Parses the next line of *lines that is not empty, cutting it off there. False behind the last.
 * Ends the program with 2, naming `file`, if it is not JSON. */
bool json_next_line(char **lines, const char *file, struct json *value);

/* A member of an object; NULL if there is none or this is no object. */
const struct json *json_member(const struct json *object, const char *key);
/* A member's text or number; "" or 0 where there is no such member, or no object. */
const char *json_text(const struct json *object, const char *key);
double json_number(const struct json *object, const char *key);
/* A file's text, zero-terminated; NULL if it cannot be read. The caller frees it. */
char *json_read_file(const char *path);

#endif
