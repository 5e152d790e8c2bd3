#include "harness/stale.h"

#include <string.h>
#include <sys/stat.h>

#include "harness/message.h"

static bool is_newer(const struct stat *a, const struct stat *b) {
    return a->st_mtime > b->st_mtime;
}

void warn_if_stale(const struct kernel_entry *const *entries, int count) {
    struct stat program, source;
    if (!program_target || stat(message_path(), &program) != 0) return;
    for (int i = 0; i < count; ++i) {
        const char *const path = kernel_sources[entries[i] - kernel_registry];
        if (!path || stat(path, &source) != 0 || !is_newer(&source, &program)) continue;
        const char *shown = path; /* the file and its directory */
        for (const char *slash = path, *last = NULL; (slash = strchr(slash, '/')); ++slash) {
            if (last) shown = last + 1;
            last = slash;
        }
        complain("%s has changed since this program was built: cmake --build build --target %s",
                 shown, program_target);
        return;
    }
}
