/*
 * backend.h: what the harness asks of the machine that runs the kernels.
 *
 * Implemented twice: gpu/ (the GPU) and sim/ (the simulator). A program is linked with exactly
 * one of them. Every function is called by the host thread. A function that fails has said why on
 * stderr before it returns.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The program's exit codes. */
enum exit_code {
    EXIT_VERIFIED = 0,
    EXIT_WRONG = 1,     /* a result was wrong */
    EXIT_USAGE = 2,     /* an option, or a size that cannot be addressed */
    EXIT_NO_DEVICE = 3, /* no usable device, or not enough of its memory */
    EXIT_HAZARD = 4     /* the simulator found a hazard or a deadlock; beats EXIT_WRONG */
};

/* What every backend is told. */
struct backend_options {
    enum gemm_type type; /* of the operands: for the baselines */
    bool trace;          /* record a timeline */
};

/* An option of the command line that only this backend has; the harness reads its value before
 * backend_open(). */
struct backend_setting {
    const char *option;       /* "--sms" */
    const char *argument;     /* "N": what --help calls the value */
    const char *help;         /* what --help says of it */
    const char *const *names; /* the choices, `value` being an index; NULL: a whole number */
    uint64_t low, high;       /* the smallest and the largest value */
    uint64_t value;           /* the default, unless it has been set */
};
extern struct backend_setting backend_settings[];
extern const int backend_setting_count;
/* Whose settings these are, as a heading of --help. */
extern const char *const backend_settings_heading;
/* Why this backend does not have an option that another one has; NULL if there is no such option.
 */
const char *backend_lacks(const char *option);

struct backend_info {
    const char *backend; /* "cuda" or "sim" */
    char name[128];
    int gpus;                     /* that kernels may use together */
    char driver[32], toolkit[32]; /* empty: not known */
    int sm_count;
    size_t memory_bytes;  /* free for us */
    size_t l2_bytes;      /* 0: none */
    double power_limit_w; /* 0: not known */
    bool checks_bounds;   /* reports accesses outside of an allocation: no guard bands needed */
};

/* What the backend knows of a compiled kernel; 0 or less: not known. */
struct kernel_info {
    int registers;   /* per thread, at launch */
    int ctas_per_sm; /* resident at once */
};

enum run_status { RUN_OK, RUN_FAILED, RUN_HAZARD };

/* Opens the device. Returns EXIT_VERIFIED, or the exit code to leave with. */
enum exit_code backend_open(const struct backend_options *options, struct backend_info *info);
void backend_close(void);

/* Global memory, 256-byte aligned, contents undefined. NULL if it cannot be had (nothing is
 * printed). `label` names the allocation in the simulator's reports ("A", "D", ...) and lives
 * as long as the program. `writable`: kernels may write to it. */
void *backend_alloc(size_t bytes, const char *label, bool writable);
void backend_free(void *memory);
bool backend_copy_in(void *device, const void *host, size_t bytes);
bool backend_copy_out(void *host, const void *device, size_t bytes);
bool backend_copy(void *device_to, const void *device_from, size_t bytes);
/* Fills with a repeated 16-bit pattern. */
bool backend_fill(void *device, uint16_t pattern, size_t elements);

/* A checksum of memory made of 16-bit elements: equal contents have equal sums, different ones
 * different sums as far as 64 bits can tell. Sums of different backends are not comparable. */
bool backend_checksum(const void *device, size_t elements, uint64_t *sum);

struct kernel_info backend_kernel_info(const struct gemm_kernel *kernel);

/* Something that computes a gemm_problem: a kernel, or a library. */
struct contender {
    const char *name;    /* "07_warp_specialized", "cublas", "cublaslt-best", "wgmma-only" */
    const char *variant; /* NULL: none */
    const struct gemm_kernel *kernel; /* NULL for a baseline */
    bool computes;                    /* false: does the FLOPs but leaves D alone (the ceiling) */
    /* Enqueues one multiplication; `self` is the contender. */
    enum gemm_status (*enqueue)(const struct contender *self, const struct gemm_problem *problem,
                                void *stream);
    void *state;  /* the backend's */
    double flops; /* of one enqueue; 0: the problem's 2 m n k (the ceiling rounds up) */
};

/* The baselines for this problem: cuBLAS, the best of cuBLASLt's heuristics (found by timing
 * them on the given buffers), and the wgmma-only ceiling; of e4m3 cuBLASLt with the problem's
 * scales, with one for each operand, and that with fast accumulation. Returns how many were
 * written (at most `room`); 0 in the simulator. They stay valid until the next call. */
int backend_baselines(const struct gemm_problem *problem, struct contender *out, int room);

/* Runs once and waits for the end. `cycles`: simulated cycles under SCHEDULE_TIME, else -1. */
enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles);

/* ---- runs that find what is wrong with a kernel; the GPU has none ---- */

enum { CHECK_SETTINGS = 4, MOST_CHECK_RUNS = 128 };

/* One run: a problem, and how it is run. */
struct check_run {
    int m, n, k;
    uint64_t seed;                    /* of the input, which is whole numbers */
    uint64_t setting[CHECK_SETTINGS]; /* the values of backend_settings */
};

/* The runs that, together, find every broken kernel that is known, those that find most of them
 * first. Writes at most MOST_CHECK_RUNS; returns how many. */
int backend_check_runs(const struct gemm_kernel *kernel, struct check_run *runs);
/* One more, drawn at random; *random is the state of the draws. */
void backend_check_draw(const struct gemm_kernel *kernel, uint64_t *random, struct check_run *run);

/* ---- timing; the simulator has none ---- */

/* One timed batch of launches. */
struct batch {
    int launches;
    double ms;        /* of the whole batch, by events */
    double sm_cycles; /* SM clocks that passed meanwhile, by clock64; <= 0: not known */
    double clock_mhz; /* their ratio */
};

bool backend_can_time(void);
/* Runs `launches` multiplications back to back, launch i on problems[i % count], through a CUDA
 * graph where that matters. */
bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out);
/* Lets the GPU idle. */
void backend_pause(double seconds);
/* What the GPU has drawn so far. */
struct energy_reading {
    double joules, seconds;    /* each since some origin; seconds by the clock on the wall */
    uint64_t throttle_reasons; /* why the clock is held back, a bit mask of NVML's; 0: it is not */
};

/* False if NVML cannot tell. */
bool backend_energy(struct energy_reading *out);
/* Marks a range for the vendor's profilers (NVTX). */
void backend_range_begin(const char *name);
void backend_range_end(void);

#ifdef __cplusplus
}
#endif
#endif
