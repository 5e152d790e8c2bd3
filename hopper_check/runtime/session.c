/* session.c: the environment, and the file of results. */
#define _GNU_SOURCE
#include "runtime/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "program/sites.h"
#include "runtime/advice.h"
#include "runtime/blocks.h"
#include "runtime/environment.h"
#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/held_reports.h"

static struct session session;
static int results = -1;
static pthread_mutex_t turn;
static pthread_once_t turn_once = PTHREAD_ONCE_INIT;
static _Thread_local int depth;

static void make_turn(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&turn, &kind);
}

void session_enter(void) {
    pthread_once(&turn_once, make_turn);
    pthread_mutex_lock(&turn);
    ++depth;
}

void session_leave(void) {
    if (--depth == 0) blocks_close();
    pthread_mutex_unlock(&turn);
}

bool session_is_ours(void) { return depth > 0; }

/* ---- what the command is told ---- */

static void put_escaped(FILE *out, const char *text) {
    for (; *text; ++text) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\t')
            fputs("\\t", out);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            fputc(*text, out);
    }
}

/* One write: several processes may share the file. */
void session_tell(const char *word, const char *const *field, int fields) {
    char *line = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&line, &size);
    if (!out) return;
    fputs(word, out);
    for (int i = 0; i < fields; ++i) {
        fputc('\t', out);
        put_escaped(out, field[i]);
    }
    fputc('\n', out);
    if (fclose(out) == 0 && write(results, line, size) != (ssize_t)size)
        fprintf(stderr, "hopper_check: the results cannot be written\n");
    free(line);
}

void session_refuse(enum refusal_code code, const char *format, ...) {
    char text[2048], number[16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(number, sizeof number, "%d", (int)code);
    session_get();
    session_tell("refused", (const char *const[]){number, text}, 2);
    fflush(NULL);
    _exit((int)code);
}

void session_note(const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    session_get();
    session_tell("note", (const char *const[]){text}, 1);
}

static void tell_hazard(const struct sim_hazard *hazard) {
    enum { FIELDS_OF_SIDE = 6 };
    const char *field[2 + 2 * FIELDS_OF_SIDE] = {hazard->kind, hazard->text};
    char number[2][3][16];
    int fields = 2;
    for (int i = 0; i < hazard->sides; ++i) {
        const struct sim_side *const side = &hazard->side[i];
        const char *const chain = side->file ? site_chain(side->file) : NULL;
        snprintf(number[i][0], sizeof number[i][0], "%d", side->line);
        snprintf(number[i][1], sizeof number[i][1], "%d", side->cta);
        snprintf(number[i][2], sizeof number[i][2], "%d", side->thread);
        field[fields++] = side->file ? source_path(side->file) : "";
        field[fields++] = chain ? chain : "";
        field[fields++] = side->what;
        for (int j = 0; j < 3; ++j)
            field[fields++] = number[i][j];
    }
    session_tell("finding", field, fields);
}

/* ---- what the command says ---- */

static uint64_t setting(const char *name, uint64_t usual) {
    const char *const text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

static void set(const char *option, uint64_t value) {
    for (int i = 0; i < backend_setting_count; ++i)
        if (!strcmp(backend_settings[i].option, option)) backend_settings[i].value = value;
}

static void open_session(void) {
    const char *const path = getenv(ENVIRONMENT_RESULTS);
    if (path) results = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (results < 0) {
        fprintf(stderr,
                "hopper_check: this is the runtime of hopper_check, and no GPU's; start the "
                "program by it: hopper_check %s\n",
                program_invocation_name);
        _exit(REFUSED_INPUT);
    }
    session = (struct session){.sms = (int)setting(ENVIRONMENT_SMS, 8),
                               .schedule = (enum sim_schedule)setting(ENVIRONMENT_SCHEDULE, 0),
                               .seed = setting(ENVIRONMENT_SEED, 1),
                               .step_limit = setting(ENVIRONMENT_STEPS, 0),
                               .branch_limit = setting(ENVIRONMENT_BRANCHES, 0),
                               .launch_limit = (double)setting(ENVIRONMENT_SECONDS, 0),
                               .elect_any = setting(ENVIRONMENT_ELECT, 0) != 0,
                               .report = getenv(ENVIRONMENT_REPORT),
                               .report_launch = (int)setting(ENVIRONMENT_REPORT_LAUNCH, 0),
                               .follow_all = setting(ENVIRONMENT_FOLLOW, 0) != 0,
                               .doubtful = setting(ENVIRONMENT_DOUBTFUL, 0) != 0};
    static const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info info;
    sim_configure(session.sms, session.schedule, session.seed);
    set("--step-limit", session.step_limit);
    set("--doubtful", session.doubtful);
    doubt_advice = DOUBT_ADVICE;
    set("--hazards", HAZARDS_MOST);
    session_tell("loaded", NULL, 0);
    if (backend_open(&options, &info) != EXIT_VERIFIED) _exit(REFUSED_INPUT);
    reports_hold();
    sim_hazard_hook = tell_hazard;
    blocks_watch();
}

const struct session *session_get(void) {
    session_enter();
    if (results < 0) open_session();
    session_leave();
    return &session;
}
