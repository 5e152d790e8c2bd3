/*
 * harness_fake_backend.c: a backend whose device is the host, and a timeline that only writes its
 * files.
 *
 * FAKE_CARD=1: it can time, and has a library called cublas that computes; else it is like the
 * simulator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/backend.h"
#include "harness/registry.h"
#include "harness_fake.h"
#include "timeline/timeline.h"

static struct backend_options opened;

enum exit_code backend_open(const struct backend_options *options, struct device_info *info) {
    opened = *options;
    if (getenv("FAKE_NO_DEVICE")) {
        fprintf(stderr, "no device\n");
        return EXIT_NO_DEVICE;
    }
    info->backend = FAKE_CARD ? "cuda" : "sim";
    snprintf(info->name, sizeof info->name, "fake");
    info->sm_count = options->sms;
    info->memory_bytes = (size_t)1 << 30;
    info->l2_bytes = FAKE_CARD ? 1 << 16 : 0; /* small, so that several sets are needed */
    return EXIT_VERIFIED;
}

void backend_close(void) {}

void *backend_alloc(size_t bytes, const char *label, bool writable) {
    (void)label, (void)writable;
    if (bytes > (size_t)1 << 30) return NULL;
    return aligned_alloc(256, (bytes + 255) / 256 * 256);
}

void backend_free(void *memory) { free(memory); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    memcpy(device, host, bytes);
    return true;
}

bool backend_copy_out(void *host, const void *device, size_t bytes) {
    memcpy(host, device, bytes);
    return true;
}

bool backend_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return true;
}

bool backend_fill(void *device, uint16_t pattern, size_t elements) {
    for (size_t i = 0; i < elements; ++i)
        ((uint16_t *)device)[i] = pattern;
    return true;
}

bool backend_checksum(const void *device, size_t elements, uint64_t *sum) {
    *sum = 0;
    for (size_t i = 0; i < elements; ++i)
        *sum = *sum * 31 + ((const uint16_t *)device)[i];
    return true;
}

struct stage_info backend_stage_info(const struct gemm_stage *stage) {
    (void)stage;
    return (struct stage_info){0};
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

static enum gemm_status enqueue_library(const struct contender *self,
                                        const struct gemm_problem *problem, void *stream) {
    (void)self, (void)stream;
    return fake_gemm(problem, opened.type, DEFECT_NONE);
}

int backend_baselines(const struct gemm_problem *problem, struct contender *out, int room) {
    (void)problem;
    if (!FAKE_CARD || room < 1) return 0;
    out[0] = (struct contender){.name = "cublas", .computes = true, .enqueue = enqueue_library};
    return 1;
}

enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles) {
    *cycles = FAKE_CARD ? -1 : 12345;
    if (contender->enqueue(contender, problem, NULL) != GEMM_OK) return RUN_FAILED;
    if (fake_last_defect == DEFECT_HAZARD) return RUN_HAZARD;
    return RUN_OK;
}

bool backend_can_time(void) { return FAKE_CARD; }

/* A launch "takes" 20 ms, of which nobody waits. */
bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out) {
    for (int i = 0; i < launches; ++i)
        if (contender->enqueue(contender, &problems[i % count], NULL) != GEMM_OK) return false;
    *out = (struct batch){.launches = launches,
                          .ms = 20.0 * launches,
                          .sm_cycles = 2e7 * launches,
                          .clock_mhz = 1000};
    return true;
}

void backend_pause(double seconds) { (void)seconds; }

bool backend_energy(struct energy_reading *out) {
    *out = (struct energy_reading){0};
    return false;
}

void backend_range_begin(const char *name) { (void)name; }
void backend_range_end(void) {}

/* ---- the timeline ---- */

size_t trace_buffer_bytes(void) { return 4096; }

size_t trace_memory_bytes(void) { return 4096; }

struct trace_record *trace_buffer_in(void *memory) { return memory; }

bool timeline_add_device_records(const struct gemm_stage *stage, const struct gemm_problem *problem,
                                 const void *buffer, size_t bytes, double clock_mhz) {
    (void)stage, (void)problem, (void)buffer, (void)bytes, (void)clock_mhz;
    return true;
}

bool timeline_write_trace(const char *path) {
    FILE *file = fopen(path, "w");
    return file && fputs("{}\n", file) >= 0 && fclose(file) == 0;
}

bool timeline_write_report(const char *dir, const struct report_info *info,
                           const struct report_row *rows, int count) {
    char path[4096];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/index.html", dir);
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, "%s %d\n", info->device, count);
    for (int i = 0; i < count; ++i)
        fprintf(file, "%s %d\n", rows[i].name, rows[i].verified);
    return fclose(file) == 0;
}

int timeline_explain_barrier(FILE *file, int index) {
    enum { BARRIERS = 2 };
    if (index < BARRIERS) fprintf(file, "the life of mbarrier %d\n", index);
    return BARRIERS;
}

void timeline_free_all(void) {}
