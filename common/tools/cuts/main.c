/*
 * main.c: times ways to compute a problem with chapter 10: cuts for fitted.cu, and configurations.
 *
 *     build/gpu/cuts --drawn 9 --shapes 12x64x27264,1536x1536x1536 --seconds 80
 *
 * For each shape: the ways that cuts.h chooses, each BATCHES times in CUDA graphs whose launches
 * rotate among copies of the operands, as the harness times kernels of this length; the fastest
 * batch counts. --drawn SEED adds those of drawn_shapes.h that are not longer than MOST_FLOPS.
 * --seconds N begins no shape after N seconds. In the simulator (build/sim/cuts) the last two
 * columns are simulated cycles and 0.
 *
 * Operands are small whole numbers, for which every order of additions gives the same bits. The
 * harness verifies one way of a shape, element by element. Whatever the timed launches of another
 * way leave in D has to have the same checksum, in every copy. A way that computes something else
 * is reported and has no row; the exit code is then 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/output_file.h"
#include "harness/registry.h"
#include "tools/cuts/cuts.h"
#include "tools/record/drawn_shapes.h"

enum { SHAPES = 512, BATCHES = 3, LEAST_LAUNCHES = 6 };
static const double BATCH_MS = 0.3, MOST_FLOPS = 6e11;
/* About the clock under such short loads, to choose how many launches make a batch. */
static const double CYCLES_PER_MS = 1.85e6, LAUNCH_MS = 2e-3;

extern const struct gemm_kernel forced_fit_1, forced_fit_2, forced_fit_3, forced_fit_4;
struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);

/* The program has kernels of its own, and needs no table of them. */
const struct kernel_entry kernel_registry[] = {{{NULL}, 0, false, NULL}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL}};
const int kernel_registry_count = 0;
const bool program_is_tour = true;

/* How the next launch cuts its problem. */
static struct fit forced;

struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits) {
    (void)p, (void)kernel, (void)splits;
    return forced;
}

static const struct gemm_kernel *kernel_of(const struct cut *cut) {
    static const struct gemm_kernel *const kernels[] = {&forced_fit_1, &forced_fit_2, &forced_fit_3,
                                                        &forced_fit_4};
    return cut->slabs ? kernels[cut->slabs - 1] : selection_kernel(cut->configuration);
}

/* What the program does. */
struct job {
    struct problem_size shape[SHAPES];
    int shapes;
    double seconds; /* no shape begins later; 0: no limit */
    struct backend_info device;
    struct cuts_device limits;
    int rows, shapes_done;
};

/* One shape. */
struct run {
    struct experiment experiment;
    struct gemm_problem problem;
    struct cut cut[CUTS_MOST];
    int cuts;
    bool verified; /* `sum` is that of a verified result */
    uint64_t sum;
    bool compared; /* `slab` is that of all copies of D with this result */
    uint64_t slab;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one cut ---- */

static const char *describe(const struct run *run, const struct cut *cut, char text[160]) {
    const struct gemm_problem *p = &run->problem;
    const struct fit *fit = &cut->fit;
    if (cut->slabs)
        snprintf(text, 160,
                 "%d x %d x %d: %s%d slabs, width %d, clusters of %d x %d, %d parts, %d of a "
                 "cluster",
                 p->m, p->n, p->k, fit->transposed ? "transposed, " : "", cut->slabs, fit->width,
                 fit->sharing_side, fit->sharing_fitted, fit->splits, fit->splits_in_cluster);
    else
        snprintf(text, 160, "%d x %d x %d: %s", p->m, p->n, p->k,
                 selection_name(cut->configuration));
    return text;
}

/* The checksum of D in copy `set`, its padding included. */
static bool checksum(struct run *run, int set, uint64_t *sum) {
    const struct buffers *buffers = &run->experiment.buffers;
    return backend_checksum(buffers->problems[set].d,
                            (size_t)(buffers->rows * buffers->columns_padded), sum);
}

/* Is every copy of D what the verified way left there? After a complaint: no. One checksum says so,
 * once it is known; the checksums of the copies say where the difference is. */
static bool compare(struct run *run, const struct cut *cut) {
    const struct slab *slab = &run->experiment.buffers.outputs[0];
    char text[160];
    uint64_t sum = 0, all = 0;
    const bool read = backend_checksum(slab->memory, (size_t)slab->total, &all);
    if (read && run->compared && all == run->slab) return true;
    for (int set = 0; set < run->experiment.buffers.sets; ++set)
        if (!checksum(run, set, &sum) || sum != run->sum) {
            complain("%s: copy %d of D is not what another cut computes", describe(run, cut, text),
                     set);
            return false;
        }
    if (run->compared) complain("%s: memory between copies of D changed", describe(run, cut, text));
    run->slab = all;
    return read && !run->compared && (run->compared = true);
}

/* Does the cut compute the right product? If it does, the others are compared with it. */
static bool verify(struct run *run, const struct cut *cut) {
    struct kernel_result result;
    forced = cut->fit;
    experiment_verify(&run->experiment, kernel_of(cut), &result);
    run->verified = result.code == EXIT_VERIFIED && checksum(run, 0, &run->sum);
    return run->verified;
}

/* Launches of a batch: around the rotation once at least. */
static int launches_of(const struct run *run, const struct cut *cut) {
    const int sets = run->experiment.buffers.sets;
    const double most = BATCH_MS / (cut->fit.cycles / CYCLES_PER_MS + LAUNCH_MS);
    const int launches = most > LEAST_LAUNCHES ? (int)most : LEAST_LAUNCHES;
    return launches > sets ? launches : sets;
}

/* Times the cut. `value`: microseconds, or in the simulator its cycles. False after a message. */
static bool time_cut(struct run *run, const struct cut *cut, double *value, double *clock_mhz) {
    const struct contender contender = contender_of_kernel(kernel_of(cut));
    const struct buffers *buffers = &run->experiment.buffers;
    if (!backend_can_time()) {
        *clock_mhz = 0;
        return backend_run(&contender, buffers->problems, value) == RUN_OK;
    }
    *value = INFINITY;
    for (int i = 0; i < BATCHES; ++i) {
        struct batch batch;
        if (!backend_time(&contender, buffers->problems, buffers->sets, launches_of(run, cut),
                          &batch))
            return false;
        const double microseconds = 1e3 * batch.ms / batch.launches;
        if (microseconds >= *value) continue;
        *value = microseconds;
        *clock_mhz = batch.clock_mhz;
    }
    return true;
}

/* A row begins with the shape and the way. Where clusters add up parts, their number follows that
 * of all parts: 12/4. */
static void print_row(const struct run *run, const struct cut *cut, double value,
                      double clock_mhz) {
    const struct fit *fit = &cut->fit;
    printf("%d %d %d ", run->problem.m, run->problem.n, run->problem.k);
    if (cut->slabs) {
        printf("%d %d %d %d %d", cut->slabs, fit->width, fit->sharing_side, fit->sharing_fitted,
               fit->splits);
        if (fit->splits_in_cluster > 1) printf("/%d", fit->splits_in_cluster);
        printf(" %d", fit->transposed);
    } else {
        printf("%s", selection_name(cut->configuration));
    }
    printf(" %.3f %.0f\n", value, clock_mhz);
}

/* Times a cut and prints its row. False after a complaint. */
static bool measure(struct run *run, const struct cut *cut) {
    char text[160];
    double value = 0, clock_mhz = 0;
    if (!run->verified && !verify(run, cut)) {
        complain("%s: its result is wrong", describe(run, cut, text));
        return false;
    }
    forced = cut->fit;
    if (!experiment_poison(&run->experiment, kernel_of(cut), 0) ||
        !time_cut(run, cut, &value, &clock_mhz)) {
        complain("%s: cannot be timed", describe(run, cut, text));
        return false;
    }
    if (!compare(run, cut)) return false;
    print_row(run, cut, value, clock_mhz);
    return true;
}

/* ---- one shape ---- */

static size_t most_workspace; /* of the shape's cuts */

static size_t workspace_of_all(const struct gemm_problem *p) {
    (void)p;
    return most_workspace;
}

static enum exit_code open_run(struct run *run, const struct job *job, struct problem_size size) {
    memset(run, 0, sizeof *run);
    run->problem = cuts_problem(size.m, size.n, size.k);
    run->cuts = cuts_choose(&run->problem, &job->limits, run->cut);
    most_workspace = 0;
    for (int i = 0; i < run->cuts; ++i) {
        forced = run->cut[i].fit;
        const struct gemm_kernel *kernel = kernel_of(&run->cut[i]);
        const size_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&run->problem) : 0;
        if (bytes > most_workspace) most_workspace = bytes;
    }
    struct gemm_kernel any = forced_fit_1;
    any.workspace_bytes = workspace_of_all;
    const struct gemm_kernel *const kernels[] = {&any};
    const enum exit_code code = experiment_open(&run->experiment, &job->device, size, GEMM_BF16,
                                                INPUT_INTEGER, 1, kernels, 1, backend_can_time());
    /* No baselines, but cuBLAS's result to verify all elements with. */
    return code == EXIT_VERIFIED ? experiment_add_baselines(&run->experiment, 0) : code;
}

static enum exit_code run_shape(struct job *job, struct problem_size size) {
    static struct run run;
    const double start = seconds_now();
    enum exit_code code = open_run(&run, job, size);
    int rows = 0;
    for (int i = 0; i < run.cuts && code != EXIT_NO_DEVICE; ++i)
        if (measure(&run, &run.cut[i]))
            ++rows;
        else
            code = EXIT_WRONG;
    experiment_close(&run.experiment);
    fflush(stdout);
    progress_clear();
    fprintf(stderr, "%s: %d x %d x %d: %d of %d cuts, %.1f s%s\n", message_program(), size.m,
            size.n, size.k, rows, run.cuts, seconds_now() - start,
            code == EXIT_VERIFIED ? "" : ", FAILED");
    job->rows += rows;
    job->shapes_done += rows > 0;
    return code;
}

/* Clusters of this kernel that the device has room for. */
static int resident_of(const struct gemm_kernel *kernel, int cluster) {
    struct gemm_launch launch = gemm_launch_of(kernel, cluster, NULL);
    launch.cluster = cluster;
    return cluster <= gemm_sm_count() ? gemm_resident_clusters(&launch) : 0;
}

static void read_limits(struct cuts_device *limits) {
    limits->sms = gemm_sm_count();
    limits->rates = gemm_device_rates();
    for (int i = 0; i < FIT_CLUSTERS; ++i) {
        limits->resident[0][i] = resident_of(&forced_fit_1, i + 1);
        limits->resident[1][i] = resident_of(&forced_fit_2, i + 1);
    }
    for (int i = 0; i < selection_count(); ++i) {
        const struct gemm_kernel *kernel = selection_kernel(i);
        if (!kernel->launch) continue; /* a test is linked with some of them */
        limits->tile[i] =
            (struct selection_tile){kernel->tile_m, kernel->tile_n, kernel->tile_k, kernel->cluster,
                                    resident_of(kernel, kernel->cluster)};
    }
}

static void print_limits(const struct cuts_device *limits) {
    const int(*r)[FIT_CLUSTERS] = limits->resident;
    printf("# %d SMs; resident clusters of 1, 2, 4 and 8 CTAs: %d %d %d %d with one slab, "
           "%d %d %d %d with more\n",
           limits->sms, r[0][0], r[0][1], r[0][3], r[0][7], r[1][0], r[1][1], r[1][3], r[1][7]);
    printf("# resident clusters of 3, 5, 6 and 7 CTAs: %d %d %d %d with one slab, "
           "%d %d %d %d with more\n",
           r[0][2], r[0][4], r[0][5], r[0][6], r[1][2], r[1][4], r[1][5], r[1][6]);
    printf("# rates of an H200: memory %.4f, L2 %.4f\n", limits->rates.memory, limits->rates.l2);
    for (int i = 0; i < selection_count(); ++i) {
        const struct selection_tile *tile = &limits->tile[i];
        printf("# configuration %s: tiles of %d x %d x %d, clusters of %d, %d at once\n",
               selection_name(i), tile->m, tile->n, tile->k, tile->cluster, tile->resident);
    }
}

static enum exit_code run_all(struct job *job) {
    const double start = seconds_now();
    enum exit_code worst = EXIT_VERIFIED;
    read_limits(&job->limits);
    print_limits(&job->limits);
    const char *unit = backend_can_time() ? "us" : "cycles";
    printf("# m n k slabs width sharing_side sharing_fitted splits transposed %s mhz\n", unit);
    printf("# m n k configuration %s mhz\n", unit);
    int shapes = 0;
    for (; shapes < job->shapes; ++shapes) {
        if (job->seconds > 0 && seconds_now() - start > job->seconds) break;
        const enum exit_code code = run_shape(job, job->shape[shapes]);
        if (worst == EXIT_VERIFIED) worst = code;
    }
    printf("# %d cuts of %d shapes", job->rows, job->shapes_done);
    if (shapes < job->shapes) printf("; %d shapes were left out for time", job->shapes - shapes);
    printf("\n");
    return worst;
}

/* ---- the command line ---- */

static bool add_shape(struct job *job, const char *item) {
    struct problem_size size;
    if (job->shapes == SHAPES || !parse_extents(item, &size.m, &size.n, &size.k)) return false;
    job->shape[job->shapes++] = size;
    return true;
}

static bool add_shapes(struct job *job, const char *list) {
    char *items = strdup(list), *rest = items;
    if (!items) abort();
    bool good = true;
    for (char *item; good && (item = strsep(&rest, ","));)
        good = add_shape(job, item);
    free(items);
    return good;
}

static bool add_drawn(struct job *job, const char *seed) {
    uint64_t whole;
    if (!parse_whole(seed, 0, UINT64_MAX, &whole)) return false;
    for (int i = 0; i < DRAWN_SHAPES; ++i) {
        const struct problem_size size = drawn_shape(whole, i);
        if (2.0 * size.m * size.n * size.k > MOST_FLOPS) continue;
        if (job->shapes == SHAPES) return false;
        job->shape[job->shapes++] = size;
    }
    return true;
}

static bool read_option(struct job *job, const char *name, const char *value) {
    uint64_t whole;
    if (!strcmp(name, "--shapes")) return add_shapes(job, value);
    if (!strcmp(name, "--drawn")) return add_drawn(job, value);
    if (strcmp(name, "--seconds") || !parse_whole(value, 1, 100000, &whole)) return false;
    job->seconds = (double)whole;
    return true;
}

int main(int argc, char **argv) {
    static struct job job;
    message_open(argv[0]);
    if (!streams_begin()) return EXIT_USAGE;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && read_option(&job, argv[i], argv[i + 1])) continue;
        complain("%s: not an option, or not with this value\nusage: %s [--drawn SEED] "
                 "[--shapes MxNxK,...] [--seconds N]",
                 argv[i], message_program());
        return EXIT_USAGE;
    }
    if (job.shapes == 0) {
        complain("there is nothing to cut; give --shapes or --drawn");
        return EXIT_USAGE;
    }
    const struct backend_options options = {.type = GEMM_BF16, .gpus = 1};
    enum exit_code code = backend_open(&options, &job.device);
    if (code != EXIT_VERIFIED) return code;
    code = run_all(&job);
    backend_close();
    return streams_end(code);
}
