/*
 * endless.c: a launch that does not end.
 *
 * Mostly its threads go on taking turns, and there are too many of them. But a thread that never
 * waits, in a loop of plain C for instance, keeps its first turn for ever, and the scheduler never
 * sees it again: a timer looks. It counts the processor's time of this process, so that a busy
 * machine makes no difference. A fiber cannot be left from outside, so the process ends then.
 */
#include "sim/core/endless.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "backend.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/held_reports.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"

uint64_t endless_step_limit;
double endless_turn_seconds = 10;
uint64_t endless_last_step, endless_last_product;

/* ---- turns ---- */

/* Products that a right kernel makes, tails included: tiles are no larger than PADDING. A kernel
 * for several problems counts the tiles of all in tiles_m, TILE_ROWS high, each with its tail; or,
 * as the heads of attention, they lie side by side in the rows of A, unless rows are FAR apart. */
static double products(void) {
    enum { PADDING = 256, TILE_ROWS = 128, FAR = 1 << 30 };
    const struct gemm_args *const args = sim.args;
    const double rows = fmax((double)args->m + PADDING, (double)args->tiles_m * TILE_ROWS);
    const double along_k = args->lda < FAR ? fmax(args->k, (double)args->lda) : args->k;
    return (double)sim.launches * sim.devices * rows * ((double)args->n + PADDING) *
           (along_k + PADDING);
}

/* Chapters 01 to 05 take 0.02 to 0.04 turns for a product, the others a tenth of that. */
static uint64_t usual_limit(void) {
    enum { LEAST = 10000000, PRODUCTS_OF_A_TURN = 4 };
    return (uint64_t)sim.launches * (uint64_t)sim.devices * LEAST +
           (uint64_t)(products() / PRODUCTS_OF_A_TURN);
}

static uint64_t step_limit(void) { return endless_step_limit ? endless_step_limit : usual_limit(); }

static uint64_t first_step; /* of the launch */

static const struct sim_thread *busiest(void) {
    const struct sim_thread *found = NULL;
    for (const struct sim_cluster *cluster = sim.clusters; cluster; cluster = cluster->next)
        for (int rank = 0; rank < cluster->ctas; ++rank)
            for (int i = 0; i < cluster->cta[rank].threads; ++i) {
                const struct sim_thread *const thread = &cluster->cta[rank].thread[i];
                if (thread->state != THREAD_DONE && (!found || found->turns < thread->turns))
                    found = thread;
            }
    return found;
}

void report_endless(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out) say_threads(out);
    if (!out || fclose(out) != 0 || !text) host_memory_ends("the report of an endless launch");
    const struct sim_thread *const thread = busiest();
    sim_hazard("endless", thread,
               "threads have run %llu times, this one most often, %llu times, and the kernel has "
               "not ended:\n%s"
               "    Look for a loop that never ends. If the kernel needs more steps, raise "
               "--step-limit.",
               (unsigned long long)(sim.steps - first_step),
               (unsigned long long)(thread ? thread->turns : 0), text);
    free(text);
}

/* ---- one turn ---- */

static uint64_t last_tick_step;
static double seconds_of_turn;

static double turn_limit(void) {
    const struct gemm_args *const args = sim.args;
    if (sim.hazards && endless_turn_seconds > 1) return 1;
    return endless_turn_seconds + 1e-5 * ((double)args->m + args->n + args->k);
}

/* Comes in the middle of a turn, so it takes no memory and leaves by _exit(). */
static void tick(int signal) {
    (void)signal;
    if (!sim_self || sim.steps != last_tick_step) {
        last_tick_step = sim.steps;
        seconds_of_turn = 0;
        return;
    }
    if (++seconds_of_turn < turn_limit()) return;
    reports_spill();
    sim_hazard_hook = NULL; /* it takes memory */
    sim_hazard("endless", sim_thread(),
               "has not waited for anything for %.0f seconds of processor time; this is the last "
               "wrapper that it called",
               seconds_of_turn);
    say_threads(stderr);
    fputs("    Look for a loop that never ends. The simulator cannot leave it: the program "
          "ends here.\n",
          stderr);
    _exit(EXIT_HAZARD);
}

#ifdef __wasm__ /* has no signals: the module's user ends it */
static void set_timer(long seconds) { (void)seconds; }
static bool handle_timer(void) { return (void)tick, false; }
#else
static void set_timer(long seconds) {
    const struct itimerval timer = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static bool handle_timer(void) {
    static char stack[1 << 16]; /* a fiber's may be full */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaltstack(&other, NULL) == 0 && sigaction(SIGVTALRM, &action, NULL) == 0;
}
#endif

void endless_watch(void) {
    static bool ready;
    if (!ready) ready = handle_timer();
    enum { TIMES_AS_MANY = 4 };
    first_step = sim.steps;
    endless_last_step = sim.steps + step_limit();
    endless_last_product = endless_step_limit
                               ? UINT64_MAX
                               : sim_statistics.products + (uint64_t)(TIMES_AS_MANY * products());
    last_tick_step = UINT64_MAX;
    if (ready) set_timer(1);
}

/* As much again as a right kernel takes at most, and no second of turns that lead nowhere. Of a
 * stranger's kernel that is not known: what was asked for stays. */
void endless_hurry(void) {
    enum { LEAST = 500000, PRODUCTS_OF_A_TURN = 24 };
    if (endless_step_limit) return;
    const uint64_t soon = sim.steps + (uint64_t)sim.launches * (uint64_t)sim.devices * LEAST +
                          (uint64_t)(products() / PRODUCTS_OF_A_TURN);
    if (endless_last_step > soon) endless_last_step = soon;
}

void endless_watch_ends(void) { set_timer(0); }
