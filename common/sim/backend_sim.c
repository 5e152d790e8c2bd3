/*
 * backend_sim.c: the simulator as the harness and a chapter's launch function see it.
 *
 * A launch runs at once, on the calling thread; a stream means nothing. After a fatal hazard the
 * launches that follow in the same run are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "fiber.h"

static struct backend_options options;
static int run_number;
static bool abandoned; /* the current run */
static bool running;   /* there is one */

enum exit_code backend_open(const struct backend_options *chosen, struct device_info *info) {
    options = *chosen;
    if (options.sms < 1 || options.sms > MAX_SMS) {
        fprintf(stderr, "--sms %d: the simulator has 1 to %d SMs\n", options.sms, MAX_SMS);
        return EXIT_USAGE;
    }
    sim.sms = options.sms;
    sim.schedule = options.schedule;
    run_number = 0;
    memset(info, 0, sizeof *info);
    info->backend = "sim";
    snprintf(info->name, sizeof info->name, "Hopper simulator, %d SM%s", options.sms,
             options.sms == 1 ? "" : "s");
    info->sm_count = options.sms;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->checks_bounds = true;
    info->memory_bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 2 : (size_t)1 << 30;
    return EXIT_VERIFIED;
}

void backend_close(void) {
    /* Making stacks takes longer than a small launch does, so an ordinary number of them stays. */
    enum { KEPT_STACKS = 8192 };
    global_free_all();
    cp_async_release();
    timing_end();
    fiber_pool_trim(KEPT_STACKS);
}

/* ---- memory ---- */

void *backend_alloc(size_t bytes, const char *label, bool writable) {
    return global_alloc(bytes, label, writable);
}

void backend_free(void *memory) { global_free(memory); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    memcpy(device, host, bytes);
    return true;
}

bool backend_copy_out(void *host, const void *device, size_t bytes) {
    memcpy(host, device, bytes);
    return true;
}

bool backend_copy(void *device_to, const void *device_from, size_t bytes) {
    memcpy(device_to, device_from, bytes);
    return true;
}

bool backend_fill(void *device, uint16_t pattern, size_t elements) {
    uint16_t *to = device;
    for (size_t i = 0; i < elements; ++i)
        to[i] = pattern;
    return true;
}

bool backend_checksum(const void *device, size_t elements, uint64_t *sum) {
    const uint16_t *from = device;
    *sum = 0xcbf29ce484222325u; /* Fowler, Noll and Vo's hash, of 16 bits at a time */
    for (size_t i = 0; i < elements; ++i)
        *sum = (*sum ^ from[i]) * 0x100000001b3u;
    return true;
}

/* ---- launches ---- */

enum gemm_status gemm_launch_kernel(const struct gemm_launch *launch,
                                    const struct gemm_args *args) {
    if (!running) {
        fprintf(stderr, "%s: in the simulator a launch is part of a run: backend_run() calls for it\n",
                launch->name);
        return GEMM_LAUNCH_FAILED;
    }
    if (abandoned) return GEMM_OK;
    return launch_run(launch, args, &abandoned) ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream) {
    (void)stream;
    if (abandoned) return GEMM_OK;
    if (!sim_global_check(memory, bytes, SIM_WRITE)) return GEMM_LAUNCH_FAILED;
    memset(memory, 0, bytes);
    return GEMM_OK;
}

struct stage_info backend_stage_info(const struct gemm_stage *stage) {
    const struct gemm_launch launch = {.kernel = stage->kernel,
                                       .name = stage->name,
                                       .grid = stage->cluster,
                                       .cluster = stage->cluster,
                                       .threads = stage->threads,
                                       .smem_bytes = stage->smem_bytes};
    return (struct stage_info){.registers = 0, .ctas_per_sm = launch_ctas_per_sm(&launch)};
}

static enum gemm_status enqueue_stage(const struct contender *self,
                                      const struct gemm_problem *problem, void *stream) {
    return self->stage->launch(problem, stream);
}

struct contender contender_of_stage(const struct gemm_stage *stage) {
    return (struct contender){.name = stage->name,
                              .variant = stage->variant,
                              .stage = stage,
                              .computes = true,
                              .enqueue = enqueue_stage};
}

int backend_baselines(const struct gemm_problem *problem, struct contender *out, int room) {
    (void)problem, (void)out, (void)room;
    return 0;
}

enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles) {
    sim.sms = options.sms;
    sim.cycles = 0;
    sim.steps = 0;
    abandoned = false;
    scheduler_begin(options.schedule, options.schedule_seed + (uint64_t)run_number++);
    timing_begin(options.sms);
    report_begin();
    memset(&sim_statistics, 0, sizeof sim_statistics);
    const bool record = options.trace && contender->stage;
    if (record) sim_recording_begin(contender->stage, problem);
    running = true;
    const enum gemm_status status = contender->enqueue(contender, problem, NULL);
    running = false;
    const double simulated = sim_timed() ? (double)sim.cycles : -1;
    if (record) sim_recording_end(simulated);
    report_end();
    if (cycles) *cycles = simulated;
    if (sim.hazards) return RUN_HAZARD;
    return status == GEMM_OK ? RUN_OK : RUN_FAILED;
}

/* ---- timing: a simulation's own speed says nothing ---- */

bool backend_can_time(void) { return false; }

bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out) {
    (void)contender, (void)problems, (void)count, (void)launches;
    memset(out, 0, sizeof *out);
    return false;
}

void backend_pause(double seconds) { (void)seconds; }

bool backend_energy(struct energy_reading *out) {
    *out = (struct energy_reading){0};
    return false;
}

void backend_range_begin(const char *name) { (void)name; }
void backend_range_end(void) {}
