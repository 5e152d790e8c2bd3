/*
 * json_check.h: is a text one JSON value (RFC 8259), and nothing else?
 */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

#include <stdbool.h>

/* If not: *error points at the first character that does not belong. */
bool json_valid(const char *text, const char **error);

#endif
