/*
 * several_devices.c: launches on several devices, and the copy engines, as a chapter's launch
 * function sees them.
 *
 * Launches that follow each other are kept, and run together: the devices' grids of all of them
 * (core/grid.c).
 *
 * A copy beside a launch is a job like those of the TMA: its destination is poisoned when it
 * begins, and written when the schedule says. The clocks of happens-before do not know it. A kernel
 * that reads the destination in the same launch reads the poison under some schedules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/devices.h"
#include "sim/core/global_memory.h"
#include "sim/core/grid.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_model.h"
#include "sim/settings.h"

struct copy_job {
    struct sim_job job; /* first */
    struct gemm_copy copy;
};

static void complete_copy(struct sim_job *job) {
    struct copy_job *const under_way = (struct copy_job *)job;
    memcpy(under_way->copy.to, under_way->copy.from, under_way->copy.bytes);
    if (sim_timed() && sim.cycles < job->time) sim.cycles = job->time;
    free(under_way);
}

static void cancel_copy(struct sim_job *job) { free(job); }

/* Starts the copies; false if one of them leaves its allocation. */
static bool start_copies(const struct gemm_copy *copies, int count) {
    const uint64_t begin = sim.cycles;
    for (int i = 0; i < count; ++i) {
        const struct gemm_copy *const copy = &copies[i];
        if (!copy->bytes) continue;
        if (!sim_global_check(copy->from, copy->bytes, SIM_READ) ||
            !sim_global_check(copy->to, copy->bytes, SIM_WRITE))
            return false;
        struct copy_job *const under_way = host_zeroed(1, sizeof *under_way, "a copy");
        under_way->job.complete = complete_copy;
        under_way->job.cancel = cancel_copy;
        under_way->copy = *copy;
        sim_poison(copy->to, copy->bytes);
        const int from = sim_home_of(copy->from), to = sim_home_of(copy->to);
        sim_job_start(&under_way->job, sim_link_book(begin, from, to, copy->bytes) + LINK_LATENCY);
    }
    return true;
}

/* May the run go on? */
static enum gemm_status check_launch(const struct gemm_launch *launch, int devices) {
    if (!sim_run.running) {
        fprintf(stderr,
                "%s: in the simulator a launch is part of a run: backend_run() calls for it\n",
                launch->name);
        return GEMM_LAUNCH_FAILED;
    }
    if (devices <= sim.gpus) return GEMM_OK;
    fprintf(stderr, "%s: launch refused: it needs %d devices, and there are %d: see --gpus\n",
            launch->name, devices, sim.gpus);
    return GEMM_LAUNCH_FAILED;
}

/* Launches that follow each other on each device. */
static struct {
    bool open;
    struct gemm_launch launch;
    struct gemm_device_args *args; /* [launches][devices] */
    int devices, launches;
} kept;

static bool nothing_kept(const char *what) {
    if (!kept.open) return true;
    fprintf(stderr,
            "%s refused: between gemm_devices_begin() and gemm_devices_end() there may only be "
            "launches by gemm_launch_devices()\n",
            what);
    return false;
}

static bool same_grids(const struct gemm_launch *launch, int devices) {
    const struct gemm_launch *const first = &kept.launch;
    return launch->kernel == first->kernel && launch->grid == first->grid &&
           launch->cluster == first->cluster && launch->threads == first->threads &&
           launch->smem_bytes == first->smem_bytes && devices == kept.devices;
}

static enum gemm_status run_kept(void) {
    const int launches = kept.launches;
    kept.launches = 0;
    if (launches == 0 || sim_run.abandoned) return GEMM_OK;
    return grid_run(&kept.launch, kept.args, sizeof *kept.args, kept.devices, launches,
                    &sim_run.abandoned)
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static enum gemm_status keep(const struct gemm_launch *launch, const struct gemm_device_args *args,
                             int devices) {
    /* Other grids begin when these have ended on all devices. */
    if (kept.launches > 0 && !same_grids(launch, devices) && run_kept() != GEMM_OK)
        return GEMM_LAUNCH_FAILED;
    const size_t used = (size_t)kept.launches * (size_t)devices;
    kept.args = host_grown(kept.args, used + (size_t)devices, sizeof *kept.args, "another launch");
    memcpy(&kept.args[used], args, (size_t)devices * sizeof *args);
    kept.launch = *launch;
    kept.devices = devices;
    ++kept.launches;
    return GEMM_OK;
}

enum gemm_status gemm_devices_begin(void *stream) {
    (void)stream;
    if (!nothing_kept("gemm_devices_begin()")) return GEMM_LAUNCH_FAILED;
    kept.open = true;
    kept.launches = 0;
    return GEMM_OK;
}

enum gemm_status gemm_devices_end(void *stream) {
    (void)stream;
    const enum gemm_status status = run_kept();
    kept.open = false;
    free(kept.args);
    kept.args = NULL;
    return status;
}

enum gemm_status gemm_launch_devices(const struct gemm_launch *launch,
                                     const struct gemm_device_args *args, int devices) {
    if (check_launch(launch, devices) != GEMM_OK) return GEMM_LAUNCH_FAILED;
    if (sim_run.abandoned) return GEMM_OK;
    if (kept.open) return keep(launch, args, devices);
    return grid_run(launch, args, sizeof *args, devices, 1, &sim_run.abandoned)
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

enum gemm_status gemm_copy_devices(const struct gemm_copy *copies, int count, void *stream) {
    (void)stream;
    if (!nothing_kept("copies")) return GEMM_LAUNCH_FAILED;
    if (sim_run.abandoned) return GEMM_OK;
    if (!start_copies(copies, count)) return GEMM_LAUNCH_FAILED;
    while (jobs_complete_next()) {
    }
    return GEMM_OK;
}
