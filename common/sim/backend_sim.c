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

#include "backend.h"
#include "services/devices.h"
#include "gemm_machine.h"
#include "services/plan.h"
#include "services/selection.h"
#include "sim/core/doubt.h"
#include "sim/core/endless.h"
#include "sim/core/events.h"
#include "sim/core/fiber.h"
#include "sim/core/global_memory.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"
#include "sim/core/scheduler.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/global_shadow.h"
#include "sim/recording.h"
#include "sim/settings.h"
#include "sim/units/thread_copies.h"

const char *backend_lacks(const char *option) {
    return strcmp(option, "--csv") ? NULL : "the simulator takes no times to write; leave it out";
}

void sim_configure(int sms, enum sim_schedule schedule, uint64_t seed) {
    backend_settings[SETTING_SMS].value = (uint64_t)sms;
    backend_settings[SETTING_SCHEDULE].value = schedule;
    backend_settings[SETTING_SEED].value = seed;
}

static struct backend_options options;
static uint64_t seed; /* of SCHEDULE_RANDOM, in the first run */
static int run_number, launches;

enum exit_code backend_open(const struct backend_options *chosen, struct backend_info *info) {
    options = *chosen;
    sim.sms = (int)backend_settings[SETTING_SMS].value;
    sim.schedule = (enum sim_schedule)backend_settings[SETTING_SCHEDULE].value;
    if (sim.sms < 1 || sim.sms > MAX_SMS) {
        fprintf(stderr, "--sms %d: the simulator has 1 to %d SMs\n", sim.sms, MAX_SMS);
        return EXIT_USAGE;
    }
    sim.held = backend_settings[SETTING_HELD].value;
    sim.gpus = options.gpus > 1 ? options.gpus : 1;
    seed = backend_settings[SETTING_SEED].value;
    endless_step_limit = backend_settings[SETTING_STEPS].value;
    hazards_shown = (int)backend_settings[SETTING_HAZARDS].value;
    doubtful_rules = backend_settings[SETTING_DOUBTFUL].value >= 1;
    all_doubtful_rules = backend_settings[SETTING_DOUBTFUL].value >= 2;
    run_number = 0;
    launches = (int)backend_settings[SETTING_LAUNCHES].value;
    memset(info, 0, sizeof *info);
    info->backend = "sim";
    char gpus[24] = "";
    if (sim.gpus > 1) snprintf(gpus, sizeof gpus, "%d GPUs of ", sim.gpus);
    snprintf(info->name, sizeof info->name, "%s simulator, %s%d SM%s",
             gemm_machine_record(options.machine)->name, gpus, sim.sms, sim.sms == 1 ? "" : "s");
    info->machine = options.machine;
    info->gpus = GEMM_DEVICES;
    info->gpus_open = sim.gpus;
    info->sm_count = sim.sms;
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
    return global_alloc(0, bytes, label, writable);
}

void *backend_alloc_on(int device, size_t bytes, const char *label, bool writable) {
    return global_alloc(device, bytes, label, writable);
}

void backend_free(void *memory) { global_free(memory); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    global_written_by_host(device);
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

/* Where launches are stored; NULL: they run. */
static struct gemm_plan *plan_in_the_making;

void gemm_plan_begin(struct gemm_plan *plan) {
    plan->count = 0;
    plan_in_the_making = plan;
}

void gemm_plan_end(void) { plan_in_the_making = NULL; }

/* The parentheses keep the name from being the macro. */
enum gemm_status(gemm_launch_kernel)(const struct gemm_launch *launch, const void *args,
                                     size_t args_bytes) {
    if (plan_in_the_making) return gemm_plan_add(plan_in_the_making, launch, args, args_bytes);
    if (!sim_run.running) {
        fprintf(stderr,
                "%s: in the simulator a launch is part of a run: backend_run() calls for it\n",
                launch->name);
        return GEMM_LAUNCH_FAILED;
    }
    if (sim_run.abandoned) return GEMM_OK;
    return grid_run(launch, args, args_bytes, 1, 1, &sim_run.abandoned) ? GEMM_OK
                                                                        : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_launch_planned(const struct gemm_planned *planned) {
    return (gemm_launch_kernel)(&planned->launch, &planned->parameter, planned->args_bytes);
}

enum gemm_status gemm_zero(void *memory, size_t bytes, void *stream) {
    (void)stream;
    if (plan_in_the_making) return GEMM_UNSUPPORTED;
    if (sim_run.abandoned) return GEMM_OK;
    if (!sim_global_check(memory, bytes, SIM_WRITE)) return GEMM_LAUNCH_FAILED;
    memset(memory, 0, bytes);
    sim.ahead_complete = true; /* only a kernel can overlap with an early launch */
    return GEMM_OK;
}

int gemm_sm_count(void) {
    if (sim.sms == 0)
        fprintf(stderr,
                "cannot count the SMs: the simulator is not open; call backend_open() first\n");
    return sim.sms;
}

struct gemm_rates gemm_device_rates(void) {
    return (struct gemm_rates){1, 1};
}

int gemm_resident_clusters(const struct gemm_launch *launch) {
    if (!grid_acceptable(launch)) return 0;
    return grid_ctas_per_sm(launch) * sim.sms / launch->cluster;
}

bool gemm_questions_failed(void) { return false; }

struct kernel_info backend_kernel_info(const struct gemm_kernel *kernel) {
    const struct gemm_launch launch = {.kernel = kernel->function,
                                       .name = kernel->name,
                                       .grid = kernel->cluster,
                                       .cluster = kernel->cluster,
                                       .threads = kernel->threads,
                                       .smem_bytes = kernel->smem_bytes};
    return (struct kernel_info){.registers = 0, .ctas_per_sm = grid_ctas_per_sm(&launch)};
}

const struct baseline_name *backend_baseline_name(int index) {
    (void)index;
    return NULL;
}

int backend_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                      struct contender *out, int room) {
    (void)problems, (void)count, (void)wanted, (void)out, (void)room;
    return 0;
}

/* The launches of a run. */
static enum gemm_status enqueue_launches(const struct contender *contender,
                                         const struct gemm_problem *problem) {
    const bool follow = launches > 1 && contender->kernel && contender->kernel->follows;
    enum gemm_status status = follow ? gemm_devices_begin(NULL) : GEMM_OK;
    for (int i = 0; i < launches && status == GEMM_OK; ++i)
        status = contender->enqueue(contender, problem, NULL);
    if (!follow) return status;
    const enum gemm_status end = gemm_devices_end(NULL);
    return status == GEMM_OK ? end : status;
}

enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles) {
    sim.cycles = 0;
    sim.steps = 0;
    sim.ahead_complete = true;
    sim_run.abandoned = false;
    scheduler_begin(sim.schedule, seed + (uint64_t)run_number++);
    sim.machine = contender->kernel ? contender->kernel->machine : options.machine;
    sim.tensor_memory = gemm_machine_record(sim.machine)->tensor_memory;
    timing_begin(sim.gpus, sim.sms);
    hazards_begin();
    memset(&sim_statistics, 0, sizeof sim_statistics);
    const bool record = options.trace && contender->kernel;
    if (record) sim_recording_begin(contender->kernel, problem);
    sim_run.running = true;
    const enum gemm_status status = enqueue_launches(contender, problem);
    sim_run.running = false;
    const double simulated = sim_timed() ? (double)sim.cycles / launches : -1;
    if (record) sim_recording_end(simulated);
    hazards_end();
    if (cycles) *cycles = simulated;
    if (sim.hazards) return RUN_HAZARD;
    return status == GEMM_OK ? RUN_OK : RUN_FAILED;
}

/* ---- timing: a simulation's own speed says nothing ---- */

bool backend_can_time(void) { return false; }

/* Of simulated GPUs nothing is recorded by their timers. */
bool backend_compare_timers(int gpus, int64_t *ahead, double *uncertain_ns) {
    for (int gpu = 0; gpu < gpus; ++gpu)
        ahead[gpu] = 0;
    *uncertain_ns = 0;
    return true;
}

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
