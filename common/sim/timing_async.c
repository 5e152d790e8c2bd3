/* timing_async.c: the asynchronous units' share of the timing model. */
#include "timing_async.h"

#include "timing_model.h"

static uint64_t port_cycles(uint64_t bytes) { return (bytes + SHARED_PORT_BYTES - 1) / SHARED_PORT_BYTES; }

/* The queue takes a box every so often; its bytes share the L2 with everybody's and enter shared memory through its port. */
struct busy time_tma_load(const struct sim_cta *cta, uint64_t bytes) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now()};
    const uint64_t begin = sim_server_book(cta->sm, SERVER_TMA, sim_now(), TMA_ISSUE_CYCLES);
    const uint64_t first = begin + TMA_LATENCY;
    const uint64_t last = sim_l2_book(begin, bytes) + TMA_LATENCY;
    const uint64_t fill = first + port_cycles(bytes);
    return (struct busy){begin, last > fill ? last : fill};
}

struct busy time_tma_store(const struct sim_cta *cta, uint64_t bytes) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now()};
    const uint64_t begin = sim_server_book(cta->sm, SERVER_TMA, sim_now(), TMA_ISSUE_CYCLES);
    return (struct busy){begin, begin + TMA_ISSUE_CYCLES + port_cycles(bytes)};
}

uint64_t time_tma_store_complete(uint64_t read_end, uint64_t bytes) {
    if (!sim_timed()) return sim_now();
    return sim_l2_book(read_end, bytes) + TMA_STORE_LATENCY;
}

/* The Tensor Core takes one instruction after the other, whichever warpgroup it comes from; while it works, its operands
 * come through the shared-memory port: all of B, and A unless that is in registers. */
struct busy time_wgmma(const struct sim_cta *cta, int n, bool a_in_registers, uint64_t ready) {
    if (!sim_timed()) return (struct busy){sim_now(), sim_now()};
    const uint64_t small = WGMMA_SMALL_BASE + (uint64_t)n / 4, large = (uint64_t)n / 2;
    const uint64_t cycles = small > large ? small : large;
    const uint64_t now = sim_now(), from = ready > now ? ready : now;
    const uint64_t begin = sim_server_book(cta->sm, SERVER_TENSOR_CORE, from, cycles);
    const uint64_t bytes = (uint64_t)(n + (a_in_registers ? 0 : 64)) * 16 * sizeof(element_t);
    const uint64_t operands = port_cycles(bytes);
    return (struct busy){begin, begin + (cycles > operands ? cycles : operands)};
}
