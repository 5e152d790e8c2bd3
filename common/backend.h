/*
 * backend.h: what the harness needs from the machine that runs the kernels.
 *
 * Implemented twice: gpu/ (the GPU) and sim/ (the simulator). A program is linked with exactly
 * one of them. The host thread calls every function. A function that fails prints the reason to
 * stderr before it returns.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "gemm.h"
#include "gemm_inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The program's exit codes. */
enum exit_code {
    EXIT_VERIFIED = 0,
    EXIT_WRONG = 1,     /* a result was wrong, or a launch failed */
    EXIT_USAGE = 2,     /* a wrong option, a kernel that does not compile, no output */
    EXIT_NO_DEVICE = 3, /* no usable device, or not enough memory */
    EXIT_HAZARD = 4     /* the simulator found a hazard or a deadlock; beats EXIT_WRONG */
};

/* The options of every backend. */
struct backend_options {
    enum gemm_type type; /* of the operands: for the baselines */
    bool trace;          /* record a timeline */
    bool times;          /* there will be times: say what would spoil them */
    int gpus;            /* that kernels for several GPUs get; 0 or 1: there are none of these */
    int oldest; /* the lowest compute capability that will do, 80 for 8.0; 0: that of `machine` and
                 * no other */
    enum gemm_machine machine; /* that the kernels of the run are for */
};

/* An option of the command line that only this backend has; the harness reads its value before
 * backend_open(). */
struct backend_setting {
    const char *option;       /* "--sms" */
    const char *argument;     /* "N": the value's name in --help; "N|all": `all` is the largest */
    const char *help;         /* its explanation in --help */
    const char *const *names; /* the choices, indexed by `value`; NULL: a whole number */
    uint64_t low, high;       /* the smallest and the largest value */
    uint64_t value;           /* the default, unless it has been set */
};
extern struct backend_setting backend_settings[];
extern const int backend_setting_count;
/* The heading of these settings in --help. */
extern const char *const backend_settings_heading;
/* The reason why this backend lacks an option that another backend has; NULL if none has it.
 */
const char *backend_lacks(const char *option);

struct backend_info {
    const char *backend; /* "cuda" or "sim" */
    char name[128];
    int gpus;      /* GPUs that kernels may use together: those that reach each other's memory */
    int gpus_open; /* of these, the ones that kernels for several GPUs use: options.gpus, or 1 */
    char driver[32], toolkit[32]; /* empty: not known */
    int compute_capability;       /* 80 for 8.0; 0: of the simulator, which runs every kernel */
    enum gemm_machine machine;    /* that the kernels of the run are for */
    int sm_count;
    size_t smem_bytes;    /* the most that a CTA may have; 0: no limit that this backend knows */
    size_t memory_bytes;  /* free memory */
    size_t l2_bytes;      /* 0: none */
    double power_limit_w; /* 0: not known */
    bool checks_bounds;   /* reports accesses outside of an allocation: no guard bands needed */
};

/* Properties of a compiled kernel; 0 or less: not known. */
struct kernel_info {
    int registers;   /* per thread, at launch */
    int ctas_per_sm; /* resident at once */
};

enum run_status { RUN_OK, RUN_FAILED, RUN_HAZARD };

/* Opens the device. Returns EXIT_VERIFIED, or the exit code to leave with. */
enum exit_code backend_open(const struct backend_options *options, struct backend_info *info);
void backend_close(void);

/* Global memory, 256-byte aligned, contents undefined. NULL if there is not enough (prints
 * nothing). `label` names the allocation in the simulator's reports ("A", "D", ...) and lives
 * as long as the program. `writable`: kernels may write to it. */
void *backend_alloc(size_t bytes, const char *label, bool writable);
/* The same in the memory of one of the GPUs that kernels use together, 0 to options.gpus - 1. GPU 0
 * is the one of backend_alloc(). */
void *backend_alloc_on(int gpu, size_t bytes, const char *label, bool writable);
void backend_free(void *memory);
bool backend_copy_in(void *device, const void *host, size_t bytes);
bool backend_copy_out(void *host, const void *device, size_t bytes);
bool backend_copy(void *device_to, const void *device_from, size_t bytes);
/* Fills with a repeated 16-bit pattern. */
bool backend_fill(void *device, uint16_t pattern, size_t elements);

/* A checksum of 16-bit elements in memory: equal contents have equal sums, and different contents
 * differ in their 64-bit sums, except by chance. Sums of different backends are not comparable. */
bool backend_checksum(const void *device, size_t elements, uint64_t *sum);

struct kernel_info backend_kernel_info(const struct gemm_kernel *kernel);

/* What a contender leaves in D. */
enum contender_result {
    RESULT_NONE,        /* nothing: it does the FLOPs and no more (the ceilings) */
    RESULT_PRODUCT,     /* the product, summed in fp32 */
    RESULT_ROUNDED,     /* the product, but partial sums may have been rounded to D's type */
    RESULT_ONE_SCALE,   /* of e4m3: the product if every scale of an operand were its first */
    RESULT_E4M3_WEIGHTS /* of w4a8: each weight times its scale is rounded to e4m3, and the Tensor
                         * Core's sums are not promoted */
};

/* How a library's kernel divides the work; 0 or NULL: not known. */
struct algorithm {
    const char *name;           /* of the kernel; NULL: nothing is known of it */
    int id;                     /* the library's own number for it */
    int tile_m, tile_n, tile_k; /* elements */
    int stages;
    int cluster_m, cluster_n; /* CTAs */
    int splits;               /* parts of k */
    const char *reduction; /* of these parts: "none", "in place", "compute type", "output type" */
};

/* A kernel or a library that computes a gemm_problem. */
struct contender {
    const char *name;    /* "07_warp_specialized", "cublas", "cublaslt-best", "wgmma-only" */
    const char *variant; /* NULL: none */
    const struct gemm_kernel *kernel; /* NULL for a baseline; of one for several devices, its layout
                                       * and what it rounds */
    enum contender_result result;
    /* Enqueues one multiplication; `self` is the contender. */
    enum gemm_status (*enqueue)(const struct contender *self, const struct gemm_problem *problem,
                                void *stream);
    /* Where a run leaves the result elsewhere, brings that of the last one to the problem's D,
     * untimed. False after a message. NULL: it is there. */
    bool (*finish)(const struct contender *self, const struct gemm_problem *problem);
    void *state;  /* belongs to the backend */
    double flops; /* of one enqueue; 0: its kind's, or 2 m n k (the ceiling rounds up) */
    struct algorithm algorithm; /* of a baseline */
};

/* A baseline that this backend may have. */
struct baseline_name {
    const char *name;  /* the contender's */
    const char *group; /* stands for all baselines of the same group */
    const char *needs; /* NULL, or the CMake option without which this program lacks it */
};
/* The baselines in their order; NULL after the last one, of which there are 32 at most. cuBLAS
 * comes first. The simulator has none. */
const struct baseline_name *backend_baseline_name(int index);

/* Writes baselines for a problem, of which `count` copies are to be timed: those whose bits are set
 * in `wanted` (bit i for backend_baseline_name(i)) and which compute problems of this type and
 * size, in the order of the names. A library with several kernels times them on the first copy, and
 * the fastest one is the baseline. Returns how many were written (at most `room`). They stay valid
 * until the next call. */
int backend_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                      struct contender *out, int room);

/* Runs once and waits for the end. `cycles`: simulated cycles under SCHEDULE_TIME, else -1. */
enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles);

/* ---- what a run reports; the GPU reports nothing ---- */

/* From here on reports are kept for backend_report(), and not printed when they are made. Only if a
 * signal ends the program, they are printed then. */
void backend_hold_reports(void);
/* The report of this index, counted from backend_hold_reports() on: lines without the last line's
 * end. NULL: there are no more. */
const char *backend_report(int index);

/* About how long a run takes, in seconds of a processor; 0: no time worth mentioning. */
double backend_expected_seconds(const struct gemm_kernel *kernel, int m, int n, int k);

/* ---- runs that find mistakes in a kernel; simulator only ---- */

enum { MOST_LAUNCHES = 64 }; /* of a run: --launches of both backends */
enum { CHECK_SETTINGS = 8, KIND_OPTIONS = 5 /* of a kind, at most */, MOST_CHECK_RUNS = 256 };

/* One run: a problem, and the settings of the run. */
struct check_run {
    int m, n, k;
    uint64_t seed; /* of the input */
    enum input_kind input;
    enum padding padding;
    int gpus;                         /* that the kernel gets; 0: it is not for several */
    enum gemm_early early;            /* when its launch may begin */
    bool far;                         /* its rows lie as far apart as PITCHES_FAR has it */
    uint64_t setting[CHECK_SETTINGS]; /* the values of backend_settings */
    uint64_t option[KIND_OPTIONS];    /* and of the options of the kernel's kind */
};

/* Writes runs that together find every known broken kernel; the runs that find the most come
 * first. Writes at most MOST_CHECK_RUNS; returns how many. */
int backend_check_runs(const struct gemm_kernel *kernel, struct check_run *runs);
/* One more, drawn at random; *random is the state of the draws. */
void backend_check_draw(const struct gemm_kernel *kernel, uint64_t *random, struct check_run *run);

/* ---- timing; GPU only ---- */

/* One timed batch of launches. */
struct batch {
    int launches;
    double ms;        /* of the whole batch, by events */
    double sm_cycles; /* SM clocks during the batch, by clock64; <= 0: not known */
    double clock_mhz; /* their ratio */
};

bool backend_can_time(void);

/* How far the nanosecond clocks of the GPUs that are open (%globaltimer) are ahead of the first
 * one's: ahead[i] of GPU i, ahead[0] = 0, each right to half of uncertain_ns. False after a
 * message. */
bool backend_compare_timers(int gpus, int64_t *ahead, double *uncertain_ns);

/* Runs `launches` multiplications back to back, launch i on problems[i % count], through a CUDA
 * graph where that matters. */
bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out);
/* Lets the GPU idle. */
void backend_pause(double seconds);
/* The energy that the GPU has used so far. */
struct energy_reading {
    double joules, seconds;    /* each since some origin; seconds of wall-clock time */
    uint64_t throttle_reasons; /* NVML's bit mask of what limits the clock; 0: nothing does */
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
