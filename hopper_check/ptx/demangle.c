/* demangle.c: Itanium C++ ABI, <nested-name> and <source-name>. */
#include "ptx/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Behind template arguments, which begin with I and end with E: "IfLi3EE". NULL: too hard. */
static const char *skip_arguments(const char *c) {
    int depth = 0;
    do {
        if (isdigit((unsigned char)*c)) {
            char *end;
            const unsigned long length = strtoul(c, &end, 10);
            if (strlen(end) < length) return NULL;
            c = end + length;
            continue;
        }
        if (*c == 'L') { /* a literal: its type, digits, E */
            while (*c && *c != 'E')
                ++c;
            if (!*c) return NULL;
            ++c;
            continue;
        }
        depth += *c == 'I' || *c == 'N' || *c == 'J' || *c == 'X';
        depth -= *c == 'E';
        if (!*c++) return NULL;
    } while (depth > 0);
    return c;
}

const char *demangle(struct arena *arena, const char *name) {
    if (strncmp(name, "_Z", 2) != 0) return name;
    const char *c = name + 2;
    const bool nested = *c == 'N';
    if (nested) ++c;
    while (nested && *c && strchr("rVK", *c))
        ++c;
    char *const text = arena_alloc(arena, strlen(name) + 1);
    size_t used = 0;
    while (*c == 'L' || isdigit((unsigned char)*c) || (*c == 'I' && used)) {
        if (*c == 'L') {
            ++c;
            continue;
        }
        if (*c == 'I') {
            c = skip_arguments(c);
            if (!c) return name;
            continue;
        }
        char *end;
        const unsigned long length = strtoul(c, &end, 10);
        if (strlen(end) < length) return name;
        const bool unnamed = !strncmp(end, "_GLOBAL__N_", 11) || !strncmp(end, "_INTERNAL_", 10);
        if (!unnamed) {
            if (used) text[used++] = ':', text[used++] = ':';
            memcpy(text + used, end, length);
            used += length;
        }
        c = end + length;
        if (!nested && *c != 'I') break;
    }
    return used ? text : name;
}
