/*
 * harness_fake_backend.c: a backend whose device is the host, and a timeline that only writes its
 * files.
 *
 * FAKE_GPU=1: it can time, and has libraries that compute; else it is like the simulator. The
 * environment's FAKE_RIVAL and FAKE_ROUNDING name a defect of two of the libraries, FAKE_CAPABILITY
 * is the GPU's compute capability, FAKE_SMEM the shared memory that a CTA may have.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend.h"
#include "harness/registry.h"
#include "tests/harness/harness_fake.h"
#include "timeline/timeline.h"

static struct backend_options opened;

#if FAKE_GPU
struct backend_setting backend_settings[1];
const int backend_setting_count = 0;
#else
static const char *const orders[] = {"time", "early", "late", "random"};
struct backend_setting backend_settings[] = {
    {"--sms", "N", "SMs (default 4)", NULL, 1, 1024, 4},
    {"--schedule", "ORDER", "time (default), early,\nlate, random", orders, 0, 3, 0},
    {"--schedule-seed", "SEED", "of random (default 1)", NULL, 0, UINT64_MAX, 1},
    {"--hazards", "N|all", "reports (default 4)", NULL, 1, 256, 4}};
const int backend_setting_count = 4;
#endif
const char *const backend_settings_heading = "The fake";

const char *backend_lacks(const char *option) {
    if (FAKE_GPU && (!strncmp(option, "--sms", 5) || !strncmp(option, "--schedule", 10) ||
                     !strcmp(option, "--hazards") || !strcmp(option, "--explain") ||
                     !strcmp(option, "--check")))
        return "only the simulator's programs (build/sim) have this option";
    return !FAKE_GPU && !strcmp(option, "--csv")
               ? "the simulator takes no times to write; leave it out"
               : NULL;
}

enum exit_code backend_open(const struct backend_options *options, struct backend_info *info) {
    opened = *options;
    if (getenv("FAKE_NO_DEVICE")) {
        fprintf(stderr, "no device\n");
        return EXIT_NO_DEVICE;
    }
    info->backend = FAKE_GPU ? "cuda" : "sim";
    snprintf(info->name, sizeof info->name, "fake");
    if (getenv("FAKE_CAPABILITY")) info->compute_capability = atoi(getenv("FAKE_CAPABILITY"));
    if (getenv("FAKE_SMEM")) info->smem_bytes = (size_t)atoi(getenv("FAKE_SMEM"));
    info->gpus = info->gpus_open = 1;
    info->sm_count = FAKE_GPU ? 4 : (int)backend_settings[0].value;
    info->memory_bytes = (size_t)1 << 30;
    info->l2_bytes = FAKE_GPU ? 1 << 16 : 0; /* small, so that several sets are needed */
    return EXIT_VERIFIED;
}

void backend_close(void) {}

void *backend_alloc(size_t bytes, const char *label, bool writable) {
    (void)label, (void)writable;
    if (bytes > (size_t)1 << 30) return NULL;
    return aligned_alloc(256, (bytes + 255) / 256 * 256);
}

void *backend_alloc_on(int gpu, size_t bytes, const char *label, bool writable) {
    (void)gpu;
    return backend_alloc(bytes, label, writable);
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

struct kernel_info backend_kernel_info(const struct gemm_kernel *kernel) {
    (void)kernel;
    return (struct kernel_info){0};
}

/* `self->state` names the defect. */
static enum gemm_status enqueue_library(const struct contender *self,
                                        const struct gemm_problem *problem, void *stream) {
    (void)stream;
    int defect = 0;
    while (defect < DEFECTS && strcmp(defect_names[defect], self->state))
        ++defect;
    return fake_gemm(problem, opened.type, (enum defect)defect);
}

static enum gemm_status enqueue_nothing(const struct contender *self,
                                        const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem, (void)stream;
    return GEMM_OK;
}

enum { CUBLAS, RIVAL, ROUNDING, ONE_SCALE, LOOKUP, RESTING, ABSENT, LIBRARIES };
static const struct baseline_name names[LIBRARIES] = {{"cublas", "libraries", NULL},
                                                      {"rival", "rivals", NULL},
                                                      {"rounding", "reduced", NULL},
                                                      {"one-scale", "rivals", NULL},
                                                      {"lookup", "rivals", NULL},
                                                      {"resting", "ceilings", NULL},
                                                      {"absent", "foreign", "-DFAKE_ABSENT=DIR"}};

const struct baseline_name *backend_baseline_name(int index) {
    return FAKE_GPU && index < LIBRARIES ? &names[index] : NULL;
}

static struct contender library(enum contender_result result, const char *variable,
                                const char *otherwise) {
    const char *defect = variable ? getenv(variable) : NULL;
    return (struct contender){.result = result,
                              .enqueue = enqueue_library,
                              .state = (void *)(defect ? defect : otherwise)};
}

int backend_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                      struct contender *out, int room) {
    (void)problems, (void)count;
    int made = 0;
    struct contender all[ABSENT] = {
        [CUBLAS] = library(RESULT_PRODUCT, NULL, "none"),
        [RIVAL] = library(RESULT_PRODUCT, "FAKE_RIVAL", "none"),
        [ROUNDING] = library(RESULT_ROUNDED, "FAKE_ROUNDING", "rounded-sums"),
        [ONE_SCALE] = library(RESULT_ONE_SCALE, NULL, "tensor-scales"),
        [LOOKUP] = library(RESULT_E4M3_WEIGHTS, "FAKE_LOOKUP", "e4m3-weights"),
        [RESTING] = {.result = RESULT_NONE, .enqueue = enqueue_nothing}};
    all[RIVAL].algorithm = (struct algorithm){
        .name = "fake", .tile_m = 64, .tile_n = 32, .splits = 1, .reduction = "none"};
    for (int i = 0; i < ABSENT && made < room && FAKE_GPU; ++i) {
        if (!(wanted >> i & 1) || (i == ONE_SCALE && opened.type != GEMM_E4M3) ||
            (i == LOOKUP && opened.type != GEMM_W4A8))
            continue;
        all[i].name = names[i].name;
        out[made++] = all[i];
    }
    return made;
}

void backend_hold_reports(void) {}

const char *backend_report(int index) {
    (void)index;
    return NULL;
}

double backend_expected_seconds(const struct gemm_kernel *kernel, int m, int n, int k) {
    (void)kernel, (void)m, (void)n, (void)k;
    return 0;
}

/* Two runs, and every second drawn one is like the second. */
int backend_check_runs(const struct gemm_kernel *kernel, struct check_run *runs) {
    (void)kernel;
    for (int i = 0; i < 2; ++i)
        runs[i] = (struct check_run){
            .m = 8,
            .n = 8 + i,
            .k = 8,
            .seed = 1,
            .input = INPUT_INTEGER,
            .padding = i ? PADDING_FINITE : PADDING_NAN,
            .setting = {(uint64_t)i + 1, (uint64_t)i, 1, backend_settings[FAKE_GPU ? 0 : 3].value}};
    return FAKE_GPU ? 0 : 2;
}

void backend_check_draw(const struct gemm_kernel *kernel, uint64_t *random, struct check_run *run) {
    struct check_run listed[2];
    backend_check_runs(kernel, listed);
    *run = listed[++*random % 2];
}

enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles) {
    *cycles = FAKE_GPU ? -1 : 12345;
    if (getenv("FAKE_CRASH")) raise(SIGKILL);
    if (contender->enqueue(contender, problem, NULL) != GEMM_OK) return RUN_FAILED;
    if (fake_last_defect == DEFECT_HAZARD) return RUN_HAZARD;
    return RUN_OK;
}

bool backend_can_time(void) { return FAKE_GPU; }

/* A launch "takes" 20 ms, or one less on the operands of the one before; nobody waits. */
bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out) {
    for (int i = 0; i < launches; ++i)
        if (contender->enqueue(contender, &problems[i % count], NULL) != GEMM_OK) return false;
    const bool slower = contender->variant == NULL;
    *out = (struct batch){.launches = launches,
                          .ms = ((slower ? 20.0 : 19.0) - (count == 1)) * launches,
                          .sm_cycles = 2e7 * launches,
                          .clock_mhz = 1000};
    return true;
}

bool backend_compare_timers(int gpus, int64_t *ahead, double *uncertain_ns) {
    (void)gpus, (void)ahead, (void)uncertain_ns;
    return false;
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

struct trace_record *trace_buffer_in(void *memory) {
    return memory;
}

bool timeline_add_device_records(const struct gemm_kernel *kernel,
                                 const struct gemm_problem *problem, const void *buffer,
                                 size_t bytes, double clock_mhz) {
    (void)kernel, (void)problem, (void)buffer, (void)bytes, (void)clock_mhz;
    return true;
}

bool timeline_add_devices_records(const struct gemm_kernel *kernel,
                                  const struct gemm_problem *problem, const void *const *buffers,
                                  int gpus, const int64_t *ahead_ns) {
    (void)kernel, (void)problem, (void)buffers, (void)gpus, (void)ahead_ns;
    return true;
}

enum gemm_type timeline_operands;

const char *timeline_times(void) { return FAKE_GPU ? "SM clock cycles" : "simulated cycles"; }

bool timeline_write_trace(const char *path, int sms) {
    FILE *file = fopen(path, "w");
    return file && fprintf(file, "{\"sms\":%d}\n", sms) >= 0 && fclose(file) == 0;
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
