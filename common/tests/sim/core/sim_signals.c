/*
 * sim_signals.c: a kernel that ends the program, by an address that it makes up. What was reported
 * before is said first, and then where the kernel was.
 */
#include <signal.h>
#include <sys/wait.h>

#include "hopper/thread.h"
#include "tests/sim/sim_cases.h"

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
    const struct sim_case c = {
        .name = "wild_store", .kernel = wild_store, .threads = THREADS, .cluster = 1};
    const struct contender contender = {.name = c.name, .enqueue = enqueue_case};
    const struct gemm_problem problem = {.m = CASE_EXTENT, .n = CASE_EXTENT, .k = CASE_EXTENT};
    struct backend_info info;
    char path[] = "/tmp/sim_signals.XXXXXX", text[8192], place[160];
    sim_configure(CASE_SMS, SCHEDULE_EARLY, 1);
    if (backend_open(&(struct backend_options){.type = GEMM_FP16}, &info)) exit(1);
    case_a = backend_alloc(CASE_EXTENT * CASE_EXTENT * 2, "A", false);
    case_b = backend_alloc(CASE_EXTENT * CASE_EXTENT * 2, "B", false);
    case_d = backend_alloc(CASE_EXTENT * CASE_EXTENT * 2, "D", true);
    case_workspace = backend_alloc(CASE_EXTENT * CASE_EXTENT * 4, "workspace", true);
    prepare_memory();
    const int file = mkstemp(path);
    if (file < 0) exit(1);
    unlink(path);
    const pid_t child = fork();
    if (child == 0) {
        dup2(file, STDERR_FILENO);
        current_case = &c;
        backend_hold_reports();
        backend_run(&contender, &problem, NULL);
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
