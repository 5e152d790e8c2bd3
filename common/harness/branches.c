/*
 * branches.c: the counters are those of `gcc --coverage`, and tools/branches.py reads them with
 * gcov. libgcov would write them beside the object files whenever a program ends; here it writes
 * where --check says, and when.
 */
#include "harness/branches.h"

#ifdef HOPPER_BRANCHES
#include <errno.h>
#include <gcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/message.h"

static char *directory;

/* Linked in the place of __gcov_exit(), which every object file with counters calls at its end. */
void __wrap___gcov_exit(void);
void __wrap___gcov_exit(void) {}

bool branches_begin(void) {
    const char *const parent = getenv("TMPDIR");
    char made[4096];
    snprintf(made, sizeof made, "%s/branches_XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(made)) directory = realpath(made, NULL);
    if (directory && setenv("GCOV_PREFIX", directory, 1) == 0 && unsetenv("GCOV_PREFIX_STRIP") == 0)
        return true;
    complain("--check: no directory for the branches' counts, '%s': %s; see TMPDIR", made,
             strerror(errno));
    return false;
}

void branches_keep(void) { __gcov_dump(); }

bool branches_end(bool say) {
    int status = -1;
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        execl(HOPPER_PYTHON, HOPPER_PYTHON, HOPPER_BRANCHES, HOPPER_GCOV, directory,
              say ? "say" : "discard", (char *)NULL);
        _exit(127);
    }
    if (process > 0 && waitpid(process, &status, 0) == process && status == 0) return true;
    complain("--check: the branches' counts cannot be read");
    return false;
}
#else
#include <stdio.h>

bool branches_begin(void) { return true; }
void branches_keep(void) {}
bool branches_end(bool say) {
    if (say) printf("  branches are counted in a build with -DHOPPER_BRANCHES=ON\n");
    return true;
}
#endif
