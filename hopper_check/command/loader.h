/*
 * loader.h: will this program meet our runtime, and no other? Asked before it is started.
 */
#ifndef COMMAND_LOADER_H
#define COMMAND_LOADER_H

#include <stdbool.h>

#include "command/options.h"

/* Where the runtime lies, and the path with it in front that the loader has to look in. False after
 * a message. */
bool loader_find_runtime(char *directory, int size);
void loader_set_path(const char *directory);
/* EXIT_CLEAN, or the code to end with: `why` is a sentence. `path` gets the program's file. */
enum exit loader_check(const char *program, const char *directory, char *path, int path_size,
                       char *why, int why_size);

#endif
