#include "harness/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/message.h"

bool streams_begin(void) {
    if (fcntl(STDIN_FILENO, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1) return false;
    if (fcntl(STDOUT_FILENO, F_GETFD) == -1) {
        complain("standard output is closed; there is nowhere to write the results");
        return false;
    }
    if (fcntl(STDERR_FILENO, F_GETFD) == -1 && open("/dev/null", O_WRONLY) == -1) return false;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return true;
}

enum exit_code streams_end(enum exit_code code) {
    const bool failed = ferror(stdout);
    if (fflush(stdout) == 0 && !failed) return code;
    complain("standard output: %s; the results are incomplete", strerror(errno));
    return code == EXIT_VERIFIED ? EXIT_USAGE : code;
}

bool output_open(struct text_file *file, const char *option, const char *path) {
    struct stat existing;
    if (!*path) {
        complain("%s: the name is empty; give a file to write to", option);
        return false;
    }
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
        complain("%s: '%s' is not a regular file; give the name of a file to write", option, path);
        return false;
    }
    if (text_file_open(file, path)) return true;
    complain("%s: cannot write '%s': %s; choose a place that is writable", option, path,
             strerror(errno));
    return false;
}

bool output_commit(struct text_file *file, const char *option) {
    if (text_file_commit(file)) return true;
    complain("%s: cannot write '%s': %s; nothing was left there", option, file->path,
             strerror(errno));
    return false;
}

bool output_can_write_file(const char *option, const char *path) {
    struct text_file file;
    if (!output_open(&file, option, path)) return false;
    text_file_abandon(&file);
    return true;
}

bool output_can_write_directory(const char *option, const char *path) {
    if (!*path) {
        complain("%s: the name is empty; give a directory", option);
        return false;
    }
    const bool made = mkdir(path, 0777) == 0;
    struct stat existing;
    int error = errno;
    bool good = made;
    if (!made && error == EEXIST) {
        good = stat(path, &existing) == 0 && S_ISDIR(existing.st_mode);
        error = ENOTDIR;
    }
    if (good) { /* permissions alone do not tell: a read-only file system, a superuser */
        struct text_file file;
        char probe[sizeof file.path];
        snprintf(probe, sizeof probe, "%s/index.html", path);
        good = text_file_open(&file, probe);
        error = errno;
        text_file_abandon(&file);
    }
    if (made) rmdir(path);
    if (!good)
        complain("%s: cannot write into '%s': %s; choose a directory that is writable", option,
                 path, strerror(error));
    return good;
}
