#include <stdio.h>
#include <stdlib.h>

#include "harness/message.h"
#include "tests/sweep/sweep.h"

/* Launches in flight, and the result of each. A launch has matrices of its own; workspaces and
 * flags are the same in all. The matrices differ only in A, which every second launch has with the
 * opposite sign, and so its D. What a launch takes from the one before is then wrong by its sign,
 * and no later launch writes over it. */

enum { SIGN = 0x8000 };

/* The contender that runs the kernel with the next set of matrices, whatever it is given. */
static struct flight {
    struct contender contender;
    struct gemm_problem problem[MOST_LAUNCHES];
    int launches, next;
} flight;

static enum gemm_status enqueue_next(const struct contender *self,
                                     const struct gemm_problem *problem, void *stream) {
    (void)problem;
    return self->kernel->launch(&flight.problem[flight.next++ % flight.launches], stream);
}

/* Changes the sign of every element of a matrix but of those that hold `untouched`. */
static bool change_signs(uint16_t *matrix, int64_t elements, uint16_t untouched) {
    const size_t bytes = (size_t)elements * sizeof *matrix;
    uint16_t *const host = malloc(bytes);
    bool good = host && backend_copy_out(host, matrix, bytes);
    for (int64_t i = 0; good && i < elements; ++i)
        if (host[i] != untouched) host[i] ^= SIGN;
    good = good && backend_copy_in(matrix, host, bytes);
    free(host);
    return good;
}

/* The same with a matrix of every device, in every second set. */
static bool change_slabs(const struct experiment *e, const struct gemm_kernel *kernel, char matrix,
                         uint16_t untouched) {
    const struct kind_problem *const p = &e->kind.problem;
    for (int device = 0; device < p->devices; ++device)
        for (int set = 1; set < flight.launches; set += 2) {
            const struct slab *const slab = p->kind->memory->slab(p, kernel, matrix, device, 0);
            if (!change_signs(slab_matrix(&e->buffers, slab, set), slab->elements, untouched))
                return false;
        }
    return true;
}

/* The launches of one run. `counts` has every launch. */
static bool run_once(struct experiment *e, const struct gemm_kernel *kernel,
                     const struct trial *trial, struct sweep_counts *counts) {
    char label[96];
    double cycles;
    kernel_label(kernel, label, sizeof label);
    flight.next = 0;
    if (!experiment_poison(e, kernel, 0)) return false;
    for (int set = 0; set < flight.launches; ++set)
        flight.problem[set] = experiment_problem(e, kernel, 0, set);
    const enum run_status status = backend_run(&flight.contender, &flight.problem[0], &cycles);
    if (status != RUN_OK) {
        sweep_count(counts, kernel, trial, status == RUN_HAZARD ? EXIT_HAZARD : EXIT_WRONG);
        return false;
    }
    /* What has not been written stays as it is: the check would miss it. */
    if (!change_slabs(e, kernel, 'D', OUTPUT_POISON)) return false;
    bool good = true;
    for (int set = 0; set < flight.launches; ++set) {
        struct comparison comparison;
        const bool right =
            experiment_check_output(e, label, &flight.contender, 0, set, &comparison);
        if (!right) complain("%s: launch %d of %d is wrong", label, set + 1, flight.launches);
        sweep_count(counts, kernel, trial, right ? EXIT_VERIFIED : EXIT_WRONG);
        good &= right;
    }
    return good;
}

static enum exit_code fly(const struct sweep *sweep, const struct gemm_kernel *kernel,
                          const struct backend_info *device, const struct trial *t,
                          struct sweep_counts *counts) {
    struct experiment e;
    const int runs = sweep->repeat ? sweep->repeat : 1;
    enum exit_code code = experiment_open_sets(&e, device, t->size, t->type, t->input, t->seed,
                                               &kernel, 1, flight.launches);
    if (code == EXIT_VERIFIED && backend_can_time()) {
        code = experiment_add_baselines(&e, 0); /* cuBLAS has every element */
        if (code == EXIT_WRONG) code = EXIT_VERIFIED;
    }
    flight.contender = contender_of_kernel(kernel);
    flight.contender.enqueue = enqueue_next;
    if (code == EXIT_VERIFIED && !change_slabs(&e, kernel, 'A', padding_of(t->type)))
        code = EXIT_NO_DEVICE;
    for (int run = 0; run < runs && code == EXIT_VERIFIED; ++run)
        if (!run_once(&e, kernel, t, counts)) break;
    experiment_close(&e);
    return code;
}

enum exit_code sweep_flight(const struct sweep *sweep, struct sweep_counts *counts) {
    const int problems = sweep->random ? sweep->random : 1;
    enum exit_code code = EXIT_VERIFIED;
    flight.launches = sweep->flight;
    for (int type = GEMM_FP16; type < ELEMENT_TYPES && code == EXIT_VERIFIED; ++type) {
        struct backend_info device = {0};
        if (sweep->type != SWEEP_ALL && sweep->type != type) continue;
        const struct trial common = {
            .size = sweep->size,
            .input = INPUT_NORMAL,
            .seed = sweep->seed,
            .type = (enum gemm_type)type,
            .launches = sweep->flight,
            .sms = sweep->sms,
            .schedule = sweep->schedule == SWEEP_ALL ? sweep_random_schedule() : sweep->schedule,
            .schedule_seed = sweep->seed};
        code = sweep_open(&common, &device);
        if (code != EXIT_VERIFIED) break;
        for (int i = 0; i < problems && code == EXIT_VERIFIED; ++i) {
            const struct trial trial = sweep->size.m ? common : sweep_draw_trial(sweep, &common, i);
            for (int k = 0; k < kernel_registry_count && code == EXIT_VERIFIED; ++k) {
                const struct gemm_kernel *kernel =
                    sweep_kernel(sweep, &kernel_registry[k], trial.type);
                if (!kernel || !kernel->several_devices) continue;
                progress("%s: problem %d/%d", type_names[type], i + 1, problems);
                code = fly(sweep, kernel, &device, &trial, counts);
            }
        }
        progress_clear();
        backend_close();
    }
    printf("%d in flight: %d launches, %d failures, %d hazards\n", sweep->flight, counts->runs,
           counts->failures, counts->hazards);
    return counts->runs ? code : EXIT_NO_DEVICE;
}
