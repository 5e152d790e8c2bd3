/* timing_async.c: the asynchronous units' share of the timing model. */
#include "sim/cost/timing_async.h"

#include "hopper/thread.h"
#include "sim/core/state.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_units.h"

/* How long the TMA of an SM is busy with a box. */
static uint64_t tma_cycles(uint64_t bytes, uint64_t bytes_per_cycle) {
    return later(TMA_ISSUE_CYCLES, bytes / bytes_per_cycle);
}

/* The TMA takes one box after the other. Its rows share the L2 and the DRAM with all others. */
struct busy time_tma_load(const struct sim_cta *cta, uint64_t bytes) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now(), 0};
    const uint64_t cycles = tma_cycles(bytes, TMA_BYTES_PER_CYCLE);
    const uint64_t begin = sim_server_book(cta->sm, SERVER_TMA, sim_now(), cycles);
    return (struct busy){begin, begin + TMA_OVERHEAD + cycles, 0};
}

void time_tma_load_row(struct busy *busy, const struct sim_cta *cta, const void *global,
                       uint64_t bytes) {
    if (!sim_timed() || !bytes) return;
    /* It asks for one row after the other. */
    const uint64_t arrival = sim_global_fetch(busy->begin + busy->asked / TMA_BYTES_PER_CYCLE,
                                              cta->device, global, bytes);
    busy->asked += bytes;
    busy->end = later(busy->end, arrival + TMA_OVERHEAD);
}

void time_tma_fill(const struct sim_cta *cta, uint64_t bytes) {
    if (sim_timed()) timing_sms[cta->sm].filled += bytes / SHARED_PORT_BYTES;
}

struct busy time_tma_store(const struct sim_cta *cta, int home, uint64_t bytes) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now(), 0};
    const uint64_t cycles = tma_cycles(bytes, TMA_STORE_BYTES_PER_CYCLE);
    const uint64_t begin = sim_server_book(cta->sm, SERVER_TMA_STORE, sim_now(), cycles);
    const uint64_t read = sim_port_book(cta->sm, begin, bytes);
    /* Little is buffered on the way: shared memory is read no faster than the link takes it. */
    const uint64_t crossed = sim_link_book(begin, cta->device, home, bytes);
    const uint64_t end = later(later(begin + cycles, read), crossed);
    /* Requests are executed in order: one that waits for the link holds up the loads after it. A
     * part of 64 KB did so for 32,500 cycles on two H200 (chapter 13). */
    uint64_t *const loads = &timing_sms[cta->sm].server[SERVER_TMA];
    if (home != cta->device) *loads = later(*loads, end);
    return (struct busy){begin, end + TMA_STORE_READ_CYCLES, bytes};
}

uint64_t time_tma_store_complete(const struct sim_cta *cta, int home, uint64_t read_end,
                                 uint64_t bytes) {
    if (!sim_timed()) return sim_now();
    return sim_l2_book(read_end, home, bytes) + TMA_STORE_LATENCY +
           (home == cta->device ? 0 : LINK_LATENCY);
}

/* The Tensor Core takes one instruction after the other, whichever warpgroup it comes from. It is
 * as slow as the path its operands come by (all of B, and A unless that is in registers), and
 * slower while the TMA fills shared memory. It multiplies 32 bytes of k, 16 elements or 32 of e4m3,
 * in the same time. */
struct busy time_wgmma(const struct sim_cta *cta, int n, bool a_in_registers, uint64_t ready) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now(), 0};
    const uint64_t small = WGMMA_SMALL_BASE + (uint64_t)n / 4, large = (uint64_t)n / 2;
    const uint64_t bytes = (uint64_t)(n + (a_in_registers ? 0 : 64)) * WGMMA_ROW_BYTES;
    const uint64_t operands = (bytes + SHARED_PORT_BYTES - 1) / SHARED_PORT_BYTES;
    const uint64_t alone = later(later(small, large), operands);

    struct sm *sm = &timing_sms[cta->sm];
    const uint64_t time = later(ready, sim_now());
    if (sm->server[SERVER_TENSOR_CORE] < time) sm->filled = 0; /* it was idle meanwhile */
    uint64_t delay = sm->filled / WGMMA_FILL_LINES;
    if (delay > alone / 4) delay = alone / 4; /* the next one has the rest */
    sm->filled -= delay * WGMMA_FILL_LINES;
    const uint64_t begin = book(&sm->server[SERVER_TENSOR_CORE], time, alone + delay);
    return (struct busy){begin, begin + alone + delay, 0};
}

/* As published measurements of a B200 have it (common/tests/sim/cost/recorded_umma.txt). */
uint64_t umma_cycles(int m, int n, int group, bool a_in_shared) {
    const uint64_t multiply = (uint64_t)n / (group == 2 && m == 128 ? 4 : 2);
    const uint64_t rows = (uint64_t)((a_in_shared ? m : 0) + n) / (uint64_t)group;
    return later(multiply, rows * UMMA_ROW_BYTES / SHARED_PORT_BYTES);
}

struct busy time_umma(const struct sim_cta *cta, int m, int n, int group) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now(), 0};
    const uint64_t cycles = umma_cycles(m, n, group, true);
    const uint64_t begin = book(&timing_sms[cta->sm].server[SERVER_TENSOR_CORE], sim_now(), cycles);
    return (struct busy){begin, begin + cycles, 0};
}
