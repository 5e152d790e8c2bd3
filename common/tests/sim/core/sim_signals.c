/*
 * sim_signals.c: a kernel that ends the program, by an address that it makes up. What was reported
 * before is said first, and then where the kernel was.
 */
#include <signal.h>
#include <sys/wait.h>

#include "hopper/thread.h"
#include "tests/sim/sim_trials.h"

enum { THREADS = 64 };

static int *volatile no_address;

enum { LAST_WRAPPER = __LINE__ + 5 };
KERNEL(THREADS, 1) wild_store(KERNEL_ARGS args) {
    if (threadIdx.x == 37) {
        (void)ld_global_element(&args.a[-8]);
        /* The last one that is called. */
        (void)ld_global_element(&args.a[0]);
        *no_address = 1;
    }
    __syncthreads();
}

int main(void) {
    const struct sim_trial trial = {
        .name = "wild_store", .kernel = wild_store, .threads = THREADS, .cluster = 1};
    char path[] = "/tmp/sim_signals.XXXXXX", text[8192], place[160];
    open_trial(TRIAL_SMS, SCHEDULE_EARLY, 1);
    const int file = mkstemp(path);
    if (file < 0) exit(1);
    unlink(path);
    const pid_t child = fork();
    if (child == 0) {
        dup2(file, STDERR_FILENO);
        backend_hold_reports();
        run_once(&trial, NULL);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const ssize_t size = pread(file, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    close(file);
    backend_close();
    snprintf(place, sizeof place,
             "signal %d (an address outside of memory), in the kernel: thread 37 (warp 1) of CTA "
             "0, after the wrapper that it called at core/sim_signals.c:%d\n",
             SIGSEGV, LAST_WRAPPER);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status %#x\n%s", status, text);
    const char *const report = strstr(text, "hazard: global-bounds: "), *end = strstr(text, place);
    EXPECT(report && end && report < end, "the report lacks \"%s\"\n%s", place, text);
    return expect_result();
}
