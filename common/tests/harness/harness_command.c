#include "tests/harness/harness_command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int checked, failed;

static void read_back(FILE *file, char *text) {
    rewind(file);
    const size_t length = fread(text, 1, OUTPUT_ROOM - 1, file);
    text[length] = '\0';
    fclose(file);
}

void run_command(const char *command, struct outcome *outcome) {
    FILE *out = tmpfile(), *err = tmpfile();
    if (!out || !err) abort();
    const pid_t child = fork();
    if (child == -1) abort();
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) != child) abort();
    outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_back(out, outcome->out);
    read_back(err, outcome->err);
}

int count_lines(const char *text) {
    int lines = 0;
    for (; *text; ++text)
        lines += *text == '\n';
    return lines;
}

void expect(bool holds, const char *format, ...) {
    ++checked;
    if (holds) return;
    ++failed;
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

int expectations_met(void) {
    printf("%d expectations, %d failed\n", checked, failed);
    return failed > 0 || checked == 0;
}
