#include "harness/experiment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/allocate.h"
#include "harness/baseline_list.h"
#include "harness/message.h"
#include "harness/reference.h"
#include "services/devices.h"
#include "timeline/timeline.h"

const char *kernel_label(const struct gemm_kernel *kernel, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", kernel->name, kernel->variant ? ":" : "",
             kernel->variant ? kernel->variant : "");
    return text;
}

enum gemm_early experiment_early = GEMM_IN_ORDER;

struct gemm_problem problem_of_size(struct problem_size size) {
    return (struct gemm_problem){.m = size.m,
                                 .n = size.n,
                                 .k = size.k,
                                 .lda = leading_dimension(size.k),
                                 .ldb = leading_dimension(size.k),
                                 .ldd = leading_dimension(size.n),
                                 .early = experiment_early};
}

const struct gemm_kernel *kernel_for_size(const struct gemm_kernel *kernel,
                                          struct problem_size size) {
    const struct gemm_problem problem = problem_of_size(size);
    return kernel->select ? kernel->select(&problem) : kernel;
}

static enum gemm_status enqueue_kernel(const struct contender *self,
                                       const struct gemm_problem *problem, void *stream) {
    return self->kernel->launch(problem, stream);
}

struct contender contender_of_kernel(const struct gemm_kernel *kernel) {
    return (struct contender){.name = kernel->name,
                              .variant = kernel->variant,
                              .kernel = kernel,
                              .result = RESULT_PRODUCT,
                              .enqueue = enqueue_kernel};
}

/* Bytes that could be had now without swapping; 0: not known. */
static double host_memory_available(void) {
    double kilobytes = 0;
    FILE *meminfo = fopen("/proc/meminfo", "r");
    if (meminfo) {
        char line[128];
        while (fgets(line, sizeof line, meminfo))
            if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1) break;
        fclose(meminfo);
    }
    return kilobytes > 0 ? 1024 * kilobytes
                         : (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Asks before it takes: a system that overcommits would grant everything and kill us later. */
static bool memory_suffices(struct problem_size size, const struct backend_info *device) {
    const double lda = (double)leading_dimension(size.k), ldd = (double)leading_dimension(size.n);
    const double matrices = 2 * (lda * size.m + lda * size.n + ldd * size.m);
    double host = matrices + 2 * ldd * size.m; /* and the library's result */
    if (samples_are_all(size.m, size.n, size.k))
        host += (double)sizeof(struct sample) * size.m * size.n + sizeof(float) * lda * size.n;
    const bool simulated = !backend_can_time();
    /* Simulated memory is the host's. */
    if (simulated) host += matrices * (device->gpus_open > 1 ? 1 + device->gpus_open : 1);
    const double available = host_memory_available();
    if (available > 0 && host > available) {
        complain("%d x %d x %d needs %.1f GB of host memory, and %.1f GB are free; choose smaller "
                 "sizes",
                 size.m, size.n, size.k, host * 1e-9, available * 1e-9);
        return false;
    }
    if (!simulated && device->memory_bytes > 0 && matrices > (double)device->memory_bytes) {
        complain("%d x %d x %d needs %.1f GB of the device's memory, and %.1f GB are free; choose "
                 "smaller sizes",
                 size.m, size.n, size.k, matrices * 1e-9, (double)device->memory_bytes * 1e-9);
        return false;
    }
    return true;
}

/* Of a kind's operands there may be more rows, or columns, than an extent of the problem says. */
static bool extents_are_counted(const struct kind_extents *is) {
    const int64_t all[] = {is->a_rows, is->b_rows, is->k, is->d_rows, is->d_columns};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i] > INT_MAX) {
            complain("this problem's matrices have up to %lld rows or columns; at most %d can be "
                     "counted. Choose smaller sizes",
                     (long long)all[i], INT_MAX);
            return false;
        }
    return true;
}

static size_t workspace_needed(const struct experiment *e, const struct gemm_kernel *const *kernels,
                               int count) {
    const struct operands *const o = &e->operands;
    const struct gemm_problem problem = {.m = e->size.m,
                                         .n = e->size.n,
                                         .k = e->size.k,
                                         .lda = o->device_lda,
                                         .ldb = o->device_ldb,
                                         .ldd = o->device_ldd,
                                         .of_kind = e->kind.problem.of_kind};
    size_t most = 0;
    for (int i = 0; i < count; ++i) {
        if (kernels[i]->several_devices) continue; /* open_memory() */
        const size_t bytes =
            kernels[i]->workspace_bytes ? kernels[i]->workspace_bytes(&problem) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Do all of them compute the same kind of problem, and this k? */
static bool are_of_a_kind(const struct gemm_kernel *const *kernels, int count, int k) {
    char label[96], other[96];
    for (int i = 0; i < count; ++i) {
        const struct problem_kind *const kind = kind_of(kernels[i]);
        kernel_label(kernels[i], label, sizeof label);
        if (kind != kind_of(kernels[0])) {
            complain("%s and %s compute different kinds of problems; run them one after the other",
                     kernel_label(kernels[0], other, sizeof other), label);
            return false;
        }
        if (!kind->depth || kind->depth == k) continue;
        complain("%s is for k = %d, not %d", label, kind->depth, k);
        return false;
    }
    return true;
}

/* Puts the problem into the devices' memory, if one of the kernels is for several. */
static enum exit_code open_memory(struct experiment *e, const struct gemm_kernel *const *kernels,
                                  int count) {
    bool several = false;
    for (int i = 0; i < count; ++i)
        several |= kernels[i]->several_devices;
    if (!several) return EXIT_VERIFIED;
    return kind_of(kernels[0])
        ->memory->open(&e->kind.problem, &e->buffers, kernels, count, e->device->gpus_open);
}

/* sets 0: as many as timing needs. */
static enum exit_code open_with(struct experiment *e, const struct backend_info *device,
                                struct problem_size size, enum gemm_type type,
                                enum input_kind input, uint64_t seed,
                                const struct gemm_kernel *const *kernels, int count, int sets) {
    memset(e, 0, sizeof *e);
    e->device = device;
    e->size = size;
    timeline_operands = type;
    if (!are_of_a_kind(kernels, count, size.k)) return EXIT_USAGE;
    if (!memory_suffices(size, device)) return EXIT_NO_DEVICE;
    progress("making %d x %d x %d %s input", size.m, size.n, size.k, input_names[input]);
    const struct problem_kind *const kind = kind_of(kernels[0]);
    const struct kind_extents is =
        kind_begin(&e->kind, kind, size.m, size.n, size.k, type, input, seed);
    if (!extents_are_counted(&is)) return EXIT_USAGE;
    const int limit = kind_integer_limit(kernels, count, (int)is.k, type);
    if (!operands_make(&e->operands, kind_format(kernels, count, type), (int)is.a_rows,
                       (int)is.b_rows, (int)is.k, type, input, seed, limit)) {
        complain("no memory for the matrices; choose smaller sizes");
        return EXIT_NO_DEVICE;
    }
    kind_fill_gaps(&e->kind, &e->operands);
    operands_set_d(&e->operands, (int)is.d_rows, (int)is.d_columns);
    e->kind.problem.operands = &e->operands;
    if (sets == 0) sets = buffers_sets(&e->operands, device, count + MAX_BASELINES);
    const size_t workspace = workspace_needed(e, kernels, count);
    enum exit_code code = buffers_open(&e->buffers, &e->operands, device, sets, workspace);
    if (code == EXIT_VERIFIED) code = open_memory(e, kernels, count);
    if (code != EXIT_VERIFIED) return code;
    progress("computing the reference");
    if (!kind_open(&e->kind, &e->buffers, &e->operands, limit)) return EXIT_NO_DEVICE;
    e->view = malloc((size_t)buffers_view_elements(&e->buffers) * sizeof *e->view);
    if (e->view) return EXIT_VERIFIED;
    complain("no memory for the reference; choose smaller sizes");
    return EXIT_NO_DEVICE;
}

enum exit_code experiment_open(struct experiment *e, const struct backend_info *device,
                               struct problem_size size, enum gemm_type type, enum input_kind input,
                               uint64_t seed, const struct gemm_kernel *const *kernels, int count,
                               bool timed) {
    return open_with(e, device, size, type, input, seed, kernels, count, timed ? 0 : 1);
}

enum exit_code experiment_open_sets(struct experiment *e, const struct backend_info *device,
                                    struct problem_size size, enum gemm_type type,
                                    enum input_kind input, uint64_t seed,
                                    const struct gemm_kernel *const *kernels, int count, int sets) {
    return open_with(e, device, size, type, input, seed, kernels, count, sets);
}

void experiment_close(struct experiment *e) {
    kind_close(&e->kind);
    buffers_close(&e->buffers);
    reference_free(&e->other_reference);
    operands_free(&e->operands);
    free(e->view);
    free(e->library);
    e->view = e->library = NULL;
}

/* Of a kernel for several devices, how its problem lies there; NULL: on one, as buffers.h says. */
static const struct kind_memory *memory_of(const struct experiment *e,
                                           const struct gemm_kernel *kernel) {
    return kernel && kernel->several_devices ? e->kind.problem.kind->memory : NULL;
}

struct gemm_problem experiment_problem(const struct experiment *e, const struct gemm_kernel *kernel,
                                       int output, int set) {
    const struct kind_memory *const memory = memory_of(e, kernel);
    struct gemm_problem problem = e->buffers.problems[set];
    problem.d = buffers_output(&e->buffers, output, set);
    const enum gemm_early earliest = kernel ? kernel->earliest : GEMM_IN_ORDER;
    problem.early = experiment_early < earliest ? experiment_early : earliest;
    kind_fill_in(&e->kind, &e->buffers, output, set, &problem);
    if (memory) memory->fill_in(&e->kind.problem, &e->buffers, kernel, output, set, &problem);
    return problem;
}

bool experiment_poison(struct experiment *e, const struct gemm_kernel *kernel, int output) {
    const struct kind_memory *const memory = memory_of(e, kernel);
    return buffers_poison(&e->buffers, output) && kind_poison(&e->kind, &e->buffers, output) &&
           (!memory || memory->poison(&e->kind.problem, &e->buffers, output));
}

/* How the operands are for what leaves such a result; NULL: it is no result to be compared. */
static const struct operand_format *read_as(const struct experiment *e,
                                            enum contender_result result) {
    const struct problem_kind *const kind = e->kind.problem.kind;
    if (kind->read_as) return kind->read_as(&e->operands, result);
    return result == RESULT_PRODUCT || result == RESULT_ROUNDED ? e->operands.format : NULL;
}

/* The reference for operands in this format. */
static const struct reference *reference_for(struct experiment *e,
                                             const struct operand_format *format) {
    struct operands operands = e->operands;
    operands.format = format;
    if (format == e->operands.format) return &e->kind.d;
    if (!e->other_reference.samples && !reference_make(&e->other_reference, &operands))
        no_memory_for("a second reference");
    return &e->other_reference;
}

bool experiment_check_output(struct experiment *e, const char *what,
                             const struct contender *contender, int output, int set,
                             struct comparison *comparison) {
    const struct gemm_kernel *const kernel = contender->kernel;
    const struct gemm_problem problem = experiment_problem(e, kernel, output, set);
    if (contender->finish && !contender->finish(contender, &problem)) return false;
    const struct kind_memory *const memory = memory_of(e, kernel);
    const struct problem_kind *const kind = e->kind.problem.kind;
    bool clean = true;
    if (!(memory ? memory->read(&e->kind.problem, &e->buffers, kernel, output, set, what, e->view,
                                &clean)
                 : buffers_read(&e->buffers, output, set, e->view)))
        return false;
    const struct operands *const operands = &e->operands;
    const struct operand_format *const format = read_as(e, contender->result);
    const bool as_made = format == operands->format;
    const bool rounded = contender->result == RESULT_ROUNDED || !as_made;
    const struct output_view view = {
        .what = what,
        .label = "D",
        .kernel = operands->d_rows == e->size.m ? kernel : NULL, /* other rows, other tiles */
        .memory = e->view,
        .guard = e->buffers.guard,
        .rows = operands->d_rows,
        .columns = operands->d_columns,
        .ld = operands->ldd,
        .type = gemm_output_type(operands->type),
        /* But for zeros nothing is, if partial sums are rounded, or operands are read otherwise. */
        .exact = kind_is_exact(&e->kind, KIND_D) && (!rounded || operands->input == INPUT_ZEROS),
        .rounded_sums = contender->result == RESULT_ROUNDED,
        .rounded_parts =
            kernel && kind->rounded_parts ? kind->rounded_parts(&e->kind.problem, kernel) : 0};
    *comparison = verify_output(&view, reference_for(e, format), as_made ? e->library : NULL);
    if (!kind_check(&e->kind, &e->buffers, what, output, set, comparison)) return false;
    if (!clean || !buffers_counters_zero(&e->buffers, set, what)) comparison->verified = false;
    return comparison->verified;
}

/* ---- baselines ---- */

/* Runs a baseline once and verifies the result, if it can be. */
static void verify_baseline(struct experiment *e, struct baseline_result *result) {
    const struct contender *contender = &result->contender;
    double cycles;
    result->code = EXIT_VERIFIED;
    if (!read_as(e, contender->result)) return;
    result->code = EXIT_WRONG;
    if (!experiment_poison(e, contender->kernel, 0)) return;
    const struct gemm_problem problem = experiment_problem(e, contender->kernel, 0, 0);
    if (backend_run(contender, &problem, &cycles) != RUN_OK) {
        complain("%s: the launch failed, there is no result", contender->name);
        return;
    }
    result->compared = true;
    if (experiment_check_output(e, contender->name, contender, 0, 0, &result->comparison))
        result->code = EXIT_VERIFIED;
}

/* Keeps the output that was verified last. */
static void keep_library(struct experiment *e) {
    const size_t bytes = (size_t)(e->operands.d_rows * e->operands.ldd) * sizeof *e->library;
    e->library = allocate(1, bytes, "the result of a library");
    memcpy(e->library, e->view + e->buffers.guard, bytes);
}

enum exit_code experiment_add_baselines(struct experiment *e, uint32_t wanted) {
    struct contender found[MAX_BASELINES];
    const struct problem_kind *const kind = e->kind.problem.kind;
    const uint32_t library = kind->library ? baseline_mask(kind->library) : 0;
    progress("choosing the libraries' kernels");
    for (int set = 0; set < e->buffers.sets; ++set)
        e->buffers.problems[set] = experiment_problem(e, NULL, 0, set);
    const int count = kind->baselines && (wanted | library)
                          ? kind->baselines(e->buffers.problems, e->buffers.sets, wanted | library,
                                            found, MAX_BASELINES)
                          : 0;
    for (int i = 0; i < count; ++i) {
        struct baseline_result result = {.contender = found[i]};
        if (kind->flops && !found[i].flops)
            result.contender.flops = kind->flops(e->size.m, e->size.n, e->size.k);
        verify_baseline(e, &result);
        const bool is_library = kind->library && strcmp(found[i].name, kind->library) == 0;
        if (is_library && result.code != EXIT_VERIFIED) {
            complain("%s: not used for verification, because it disagrees with the reference",
                     kind->library);
            return EXIT_WRONG;
        }
        if (is_library) keep_library(e);
        if (!is_library || wanted & library) e->baselines[e->baseline_count++] = result;
    }
    return EXIT_VERIFIED;
}

enum exit_code experiment_baselines_code(const struct experiment *e) {
    for (int i = 0; i < e->baseline_count; ++i)
        if (e->baselines[i].code != EXIT_VERIFIED) return e->baselines[i].code;
    return EXIT_VERIFIED;
}

/* Runs the kernel, and verifies what it leaves in the first output. */
static void run_and_verify(struct experiment *e, const struct gemm_kernel *kernel,
                           struct kernel_result *result) {
    char label[96];
    const struct contender contender = contender_of_kernel(kernel);
    kernel_label(kernel, label, sizeof label);
    result->code = EXIT_WRONG;
    backend_range_begin(label);
    double cycles = -1;
    const struct gemm_problem problem = experiment_problem(e, kernel, 0, 0);
    const enum run_status status = backend_run(&contender, &problem, &cycles);
    backend_range_end();
    result->info = backend_kernel_info(kernel);
    if (status == RUN_FAILED) complain("%s: the launch failed, there is no result", label);
    if (status == RUN_HAZARD) result->code = EXIT_HAZARD;
    if (status != RUN_OK) return;
    result->cycles = cycles;
    result->compared = true;
    if (experiment_check_output(e, label, &contender, 0, 0, &result->comparison))
        result->code = EXIT_VERIFIED;
}

void experiment_verify(struct experiment *e, const struct gemm_kernel *kernel,
                       struct kernel_result *result) {
    *result =
        (struct kernel_result){.kernel = kernel, .size = e->size, .code = EXIT_WRONG, .cycles = -1};
    if (experiment_poison(e, kernel, 0)) run_and_verify(e, kernel, result);
}

void experiment_verify_next(struct experiment *e, const struct gemm_kernel *kernel,
                            struct kernel_result *result) {
    if (e->buffers.workspace && !memory_of(e, kernel) &&
        slab_poison(&e->buffers.outputs[0], OUTPUT_POISON) && kind_poison(&e->kind, &e->buffers, 0))
        run_and_verify(e, kernel, result);
}

enum run_status experiment_run_again(struct experiment *e, const struct gemm_kernel *kernel,
                                     uint64_t *sum) {
    const struct contender contender = contender_of_kernel(kernel);
    const struct gemm_problem problem = experiment_problem(e, kernel, 0, 0);
    double cycles;
    if (!experiment_poison(e, kernel, 0)) return RUN_FAILED;
    const enum run_status status = backend_run(&contender, &problem, &cycles);
    if (status != RUN_OK) return status;
    const struct kind_memory *const memory = memory_of(e, kernel);
    const size_t elements = (size_t)(e->buffers.rows * e->buffers.columns_padded);
    if (!memory) return backend_checksum(problem.d, elements, sum) ? RUN_OK : RUN_FAILED;
    *sum = 0;
    for (int device = 0; device < e->kind.problem.devices; ++device) {
        const struct slab *const slab = memory->slab(&e->kind.problem, kernel, 'D', device, 0);
        uint64_t part;
        if (!backend_checksum(slab_matrix(&e->buffers, slab, 0), elements, &part))
            return RUN_FAILED;
        *sum = *sum * 3 + part; /* which device has which part matters */
    }
    return RUN_OK;
}

/* ---- the recorder ---- */

struct trace_record *experiment_trace_buffer(void **memory) {
    *memory = backend_alloc(trace_memory_bytes(), "trace", true);
    if (!*memory) return NULL;
    struct trace_record *buffer = trace_buffer_in(*memory);
    return backend_fill(buffer, 0, trace_buffer_bytes() / 2) ? buffer : NULL;
}

/* The same on each of the devices. */
static bool trace_buffers(int devices, void **memory, struct trace_record **buffers) {
    bool good = true;
    for (int i = 0; i < devices && good; ++i) {
        memory[i] = i ? backend_alloc_on(i, trace_memory_bytes(), "trace", true)
                      : backend_alloc(trace_memory_bytes(), "trace", true);
        if (!memory[i]) return false;
        buffers[i] = trace_buffer_in(memory[i]);
        good = backend_fill((void *)buffers[i], 0, trace_buffer_bytes() / 2);
    }
    return good;
}

/* What has been recorded, on the host, and from there to the timeline. */
static bool add_records(const struct gemm_kernel *traced, const struct gemm_problem *problem,
                        int devices, struct trace_record *const *buffers) {
    const size_t bytes = trace_buffer_bytes();
    const void *host[GEMM_DEVICES];
    int64_t ahead[GEMM_DEVICES] = {0};
    double uncertain_ns = 0;
    char *const all = malloc((size_t)devices * bytes);
    bool good = all && (devices == 1 || backend_compare_timers(devices, ahead, &uncertain_ns));
    for (int i = 0; i < devices && good; ++i) {
        host[i] = all + (size_t)i * bytes;
        good = backend_copy_out(all + (size_t)i * bytes, buffers[i], bytes);
    }
    if (good && devices == 1)
        good = timeline_add_device_records(traced, problem, host[0], bytes, 0);
    else if (good)
        good = timeline_add_devices_records(traced, problem, host, devices, ahead);
    for (int i = 1; i < devices && good; ++i)
        complain("the timer of GPU %d is %+lld ns from that of GPU 0; a message and its answer "
                 "took up to %.0f ns",
                 i, (long long)ahead[i], uncertain_ns);
    free(all);
    return good;
}

bool experiment_record(struct experiment *e, const struct gemm_kernel *traced) {
    const struct contender contender = contender_of_kernel(traced);
    const struct kind_memory *const of_kind = memory_of(e, traced);
    struct gemm_problem problem = experiment_problem(e, traced, 0, 0);
    const int devices = of_kind ? e->kind.problem.devices : 1;
    struct trace_record *buffers[GEMM_DEVICES] = {NULL};
    void *memory[GEMM_DEVICES] = {NULL};
    double cycles;
    bool good = trace_buffers(devices, memory, buffers);
    if (!good) complain("%s: no memory for its trace", traced->name);
    /* Once without records, so that the traced run does not begin by loading the kernel. */
    for (int run = 0; run < 2 && good; ++run) {
        problem.trace = run ? buffers[0] : NULL;
        for (int i = 1; i < devices; ++i)
            of_kind->set_trace(&e->kind.problem, i, run ? buffers[i] : NULL);
        good =
            experiment_poison(e, traced, 0) && backend_run(&contender, &problem, &cycles) == RUN_OK;
    }
    good = good && add_records(traced, &problem, devices, buffers);
    for (int i = 0; i < devices; ++i)
        if (memory[i]) backend_free(memory[i]);
    return good;
}
