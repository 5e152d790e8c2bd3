/*
 * loader.c: the loader itself is asked what it would load (LD_TRACE_LOADED_OBJECTS, as ldd does):
 * it knows about run paths and caches. What is loaded from elsewhere than our directory and is
 * CUDA's is refused, and so are names that nothing offers.
 */
#define _GNU_SOURCE
#include "command/loader.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/elf.h"
#include "runtime/advice.h"

bool loader_find_runtime(char *directory, int size) {
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    char *const slash = strrchr(self, '/');
    if (slash) *slash = 0;
    snprintf(directory, (size_t)size, "%s/hopper_check_runtime", self);
    if (access(directory, X_OK) == 0) return true;
    fprintf(stderr,
            "hopper_check: there is no runtime in %s: it is built where there are CUDA's "
            "headers (cmake --build build --target hopper_check)\n",
            directory);
    return false;
}

void loader_set_path(const char *directory) {
    char path[PATH_MAX + 4096];
    const char *const before = getenv("LD_LIBRARY_PATH");
    snprintf(path, sizeof path, "%s%s%s", directory, before && *before ? ":" : "",
             before ? before : "");
    setenv("LD_LIBRARY_PATH", path, 1);
}

/* ---- the program's file ---- */

static bool find_program(const char *program, char *path, int size) {
    if (strchr(program, '/')) {
        snprintf(path, (size_t)size, "%s", program);
        return access(path, X_OK) == 0;
    }
    const char *at = getenv("PATH");
    while (at && *at) {
        const size_t length = strcspn(at, ":");
        snprintf(path, (size_t)size, "%.*s/%s", (int)length, at, program);
        if (access(path, X_OK) == 0) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* ---- what the loader would load ---- */

struct library {
    char name[256], path[PATH_MAX]; /* path empty: not found */
};
enum { MOST_LIBRARIES = 256 };
static struct library libraries[MOST_LIBRARIES];
static int library_count;

/* "\tlibcudart.so.13 => /path/libcudart.so.13 (0x00007f...)", or "... => not found". */
static void note_line(const char *line) {
    struct library *const l = &libraries[library_count];
    char *const arrow = strstr(line, " => ");
    if (!arrow || library_count == MOST_LIBRARIES) return;
    while (*line == '\t' || *line == ' ')
        ++line;
    snprintf(l->name, sizeof l->name, "%.*s", (int)(arrow - line), line);
    snprintf(l->path, sizeof l->path, "%s", arrow + 4);
    char *const address = strstr(l->path, " (0x");
    if (address)
        *address = 0;
    else
        l->path[0] = 0;
    ++library_count;
}

static bool trace(const char *path) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t child = fork();
    if (child == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *const in = fdopen(ends[0], "r");
    char line[PATH_MAX + 512];
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        note_line(line);
    }
    if (in) fclose(in);
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child;
}

static bool begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

static bool is_ours(const struct library *l, const char *directory) {
    char own[PATH_MAX], other[PATH_MAX];
    if (!realpath(directory, own) || !realpath(l->path, other)) return false;
    return begins(other, own);
}

static enum exit say(enum exit code, char *why, int size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static enum exit say(enum exit code, char *why, int size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, (size_t)size, format, arguments);
    va_end(arguments);
    return code;
}

static bool is_cudas(const char *name) {
    return begins(name, "libcudart.so") || begins(name, "libcuda.so") ||
           begins(name, "libcublas.so") || begins(name, "libcublasLt.so");
}

static enum exit check_libraries(const char *directory, char *why, int size) {
    for (int i = 0; i < library_count; ++i) {
        const struct library *const l = &libraries[i];
        const bool ours = l->path[0] && is_ours(l, directory);
        if (is_cudas(l->name) && !ours && l->path[0])
            return say(
                EXIT_BAD_INPUT, why, size,
                "the program would load %s, a real one, and not the one in %s: it was linked "
                "with a run path (-rpath), or is for another major version of CUDA; it has "
                "not been started",
                l->path, directory);
        if (!l->path[0])
            return say(
                EXIT_BAD_INPUT, why, size, "the program needs %s, which is not found%s", l->name,
                is_cudas(l->name) ? ": this hopper_check stands for another version of CUDA" : "");
    }
    return EXIT_CLEAN;
}

/* ---- names that nobody offers, and a runtime inside ---- */

static bool is_cuda_name(const char *name) {
    return begins(name, "cuda") || begins(name, "__cuda") || begins(name, "cublas") ||
           (begins(name, "cu") && name[2] >= 'A' && name[2] <= 'Z');
}

static bool offers(const char *path, const char *name) {
    struct elf elf;
    bool found = false;
    const char *offered;
    if (!elf_open(path, &elf)) return false;
    for (size_t i = 0; !found && (offered = elf_offers(&elf, &i));)
        found = !strcmp(offered, name);
    elf_close(&elf);
    return found;
}

static bool offered(const char *name) {
    for (int i = 0; i < library_count; ++i)
        if (libraries[i].path[0] && offers(libraries[i].path, name)) return true;
    return false;
}

static enum exit check_file(const char *path, char *why, int size) {
    struct elf elf;
    const char *name;
    bool registers = false;
    enum exit code = EXIT_CLEAN;
    if (!elf_open(path, &elf)) return EXIT_CLEAN;
    for (size_t i = 0; code == EXIT_CLEAN && (name = elf_needs(&elf, &i));) {
        if (!strcmp(name, "__cudaRegisterFatBinary")) registers = true;
        if (is_cuda_name(name) && !offered(name))
            code = say(EXIT_INCOMPLETE, why, size,
                       "%s needs %s, which this runtime does not have: it has not been started",
                       path, name);
    }
    if (code == EXIT_CLEAN && elf.has_cuda && !registers)
        code = say(EXIT_BAD_INPUT, why, size,
                   "%s has CUDA's runtime linked into it and would use a real GPU: it has not been "
                   "started; " BUILD_ADVICE,
                   path);
    elf_close(&elf);
    return code;
}

enum exit loader_check(const char *program, const char *directory, char *path, int path_size,
                       char *why, int size) {
    struct elf elf;
    if (!find_program(program, path, path_size))
        return say(EXIT_BAD_INPUT, why, size, "there is no program %s, and no command", program);
    if (!elf_open(path, &elf)) return EXIT_CLEAN; /* a script: what it starts is seen at its end */
    const bool dynamic = elf.dynamic;
    elf_close(&elf);
    if (!dynamic)
        return say(
            EXIT_BAD_INPUT, why, size,
            "the program is linked statically and would not use this runtime; " BUILD_ADVICE);
    if (!trace(path))
        return say(EXIT_BAD_INPUT, why, size, "the loader does not say what %s loads", path);
    enum exit code = check_libraries(directory, why, size);
    if (code == EXIT_CLEAN) code = check_file(path, why, size);
    for (int i = 0; code == EXIT_CLEAN && i < library_count; ++i)
        if (!is_ours(&libraries[i], directory)) code = check_file(libraries[i].path, why, size);
    return code;
}
