/* prerequisites.c: what an early launch accesses before the kernels ahead of it are complete. */
#include "sim/order/prerequisites.h"

#include "sim/core/hazards.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"

/* Epochs: the launch ahead is complete, and those that it has waited for; all are. */
enum { ENDED = 1, ALL_ENDED };

/* After the threads' own slots; the grid makes it. */
static int slot_of(const struct sim_cluster *cluster) {
    return cluster->ctas * cluster->cta->threads;
}

void prerequisites_acquire(struct sim_thread *thread) {
    sim_acquire_slot(thread, slot_of(thread->cta->cluster), ENDED);
}

void prerequisites_acquire_all(struct sim_thread *thread) {
    sim_acquire_slot(thread, slot_of(thread->cta->cluster), ALL_ENDED);
}

/* A thread that it is ordered after is of its cluster: another cluster tells of its wait through
 * global memory, which is not to be accessed yet. */
bool prerequisites_have_ended(const struct sim_thread *thread) {
    return sim_clock_get(&thread->c, slot_of(thread->cta->cluster)) >= ENDED;
}

static bool is_b(const void *pointer) {
    size_t offset, bytes;
    void **const b = global_cells_of(sim.args->b, &offset, &bytes);
    return b && b == global_cells_of(pointer, &offset, &bytes);
}

void prerequisites_check_early(const void *pointer, size_t bytes, enum sim_access access,
                               bool strong) {
    struct sim_thread *const thread = sim_thread();
    const bool waited = prerequisites_have_ended(thread);
    if (sim_clock_get(&thread->c, slot_of(thread->cta->cluster)) >= ALL_ENDED) return;
    if (launches_ahead_known) launches_ahead_check(pointer, bytes, access, strong, waited);
    if (launches_ahead_known || waited) return;
    char where[96];
    global_where(pointer, where, sizeof where);
    const bool reads_b = sim.launch->early == GEMM_EARLY_B && access == SIM_READ && is_b(pointer);
    if (reads_b && !global_written_ahead(pointer)) return;
    if (reads_b)
        sim_hazard("early-access", thread,
                   "reads %s before griddepcontrol_wait(), and a kernel that may still be running "
                   "writes it\n    The launch says that B is complete (GEMM_EARLY_B), which is not "
                   "so: use GEMM_EARLY.",
                   where);
    else
        sim_hazard("early-access", thread,
                   "%s %s before griddepcontrol_wait(): the kernels ahead on the stream may still "
                   "%s it\n    The launch is early. This thread has to wait first, or to be "
                   "ordered after a thread that has waited.",
                   access == SIM_READ ? "reads" : "writes", where,
                   access == SIM_READ ? "write" : "use");
}
