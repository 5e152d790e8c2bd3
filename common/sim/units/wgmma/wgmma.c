/*
 * wgmma.c: the asynchronous Tensor Core: what a wgmma reads and when, and who may touch its
 * accumulators.
 *
 * The four warps of a warpgroup meet at every wgmma. Their accumulators are gathered into a 64 x n
 * tile, which the Tensor Core works on; the threads' own arrays hold a tagged NaN until each thread
 * has waited for the group. So a read that comes too early sees a NaN that the wrappers recognize,
 * under every schedule. Operands in shared memory are read when the operation completes, as late as
 * the schedule has it.
 *
 * A wait speaks for the own warp: all four read B, so each of them (or a barrier after all their
 * waits) has to release what it has read. CUTLASS lets one thread release for its warpgroup; the
 * ISA can be read either way, and the simulator takes the stricter reading, unless the rules in
 * doubt are off (DOUBT_ONE_RELEASE).
 */
#include <stdio.h>
#include <string.h>

#include "hopper/wgmma.h"
#include "sim/core/collective.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/lanes.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"
#include "sim/units/registers/watch.h"
#include "sim/units/wgmma/state.h"

static const char WAIT_GROUP[] = "wgmma.wait_group";

static void at_cta_exit(struct sim_exit_call *call) {
    struct wgmma_state *const state = (struct wgmma_state *)call;
    wgmma_aligned_meet(&state->aligned, "their end");
    const struct wgmma_operation *const newest = state->last;
    bool waited = false;
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        waited |= state->waited[i] >= state->used;
    if (newest && !waited)
        sim_hazard_at(
            "unwaited-wgmma", newest->file, newest->line, wgmma_thread(state->warpgroup, 0),
            "the warpgroup ends without a wait for this wgmma\n    %s",
            state->used > state->committed
                ? "it was not even committed: call wgmma_commit_group(), then wgmma_wait_group(0)"
                : "call wgmma_wait_group(0) before the end");
    if (newest) sim_job_force(&state->last->job);
}

static struct wgmma_state *state_of(struct sim_warpgroup *g) {
    if (g->wgmma) return g->wgmma;
    struct wgmma_state *const state = sim_arena_alloc(g->cta->cluster, sizeof *state);
    state->warpgroup = g;
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        state->slot[w] =
            sim_slot_new(g->cta->cluster, "wgmma", true, wgmma_thread(g, w * WARP_SIZE));
    state->at_exit.call = at_cta_exit;
    sim_at_cta_exit(g->cta, &state->at_exit);
    if (sim.tensor_memory)
        sim_fatal("wrong-machine", sim_thread(), "wgmma: Blackwell has no such instruction");
    return g->wgmma = state;
}

/* ---- the operation ---- */

static void complete(struct sim_job *job) {
    static struct wgmma_operand a, b; /* 32 KB: too much for a fiber's stack */
    struct wgmma_operation *const op = (struct wgmma_operation *)job;
    wgmma_fetch_operands(op, &a, &b);
    const struct tensor_shape shape = {WGMMA_M, op->call.n, op->call.type,
                                       wgmma_type_of_b(&op->call), op->call.accumulate};
    (op->call.halves      ? tensor_half_multiply
     : op->call.saturates ? tensor_saturated_multiply
                          : tensor_core_multiply)(op->tile->d, &a, &b, shape);
    if (!sim_recording()) return;
    const uint64_t now = sim_now();
    const struct sim_event e = {.kind = SIM_EVENT_WGMMA,
                                .begin = sim_timed() ? op->busy.begin : now,
                                .end = sim_timed() ? op->busy.end : now,
                                .cta = op->state->warpgroup->cta,
                                .thread = op->state->warpgroup->index * WARPGROUP_SIZE,
                                .argument = op->call.n,
                                .file = op->file,
                                .line = op->line};
    sim_event_hook(&e);
}

static bool all_have_waited(const struct wgmma_state *state, const struct wgmma_operation *op) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        if (state->waited[i] <= op->group) return false;
    return true;
}

/* All four warps are here, so no thread is waiting for an operation that is done. One with A in
 * registers is kept until each thread has waited, because the wait looks at them. */
static struct wgmma_operation *new_operation(struct wgmma_state *state) {
    while (state->first && state->first->job.state == JOB_DONE &&
           (!state->first->call.a_registers || all_have_waited(state, state->first))) {
        struct wgmma_operation *const done = state->first;
        state->first = done->next;
        if (!state->first) state->last = NULL;
        done->next = state->pool;
        state->pool = done;
    }
    struct wgmma_operation *op = state->pool;
    if (op)
        state->pool = op->next;
    else
        op = sim_arena_alloc(state->warpgroup->cta->cluster, sizeof *op);
    memset(op, 0, sizeof *op);
    return op;
}

static void check_same(const struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    const struct wgmma_call *const first = operand[0];
    for (int i = 1; i < WARPGROUP_SIZE; ++i) {
        const struct wgmma_call *const other = operand[i];
        if (other->n == first->n && other->a == first->a && other->b == first->b &&
            other->accumulate == first->accumulate && other->mn_major == first->mn_major &&
            other->type == first->type && other->halves == first->halves &&
            other->saturates == first->saturates && other->negative == first->negative &&
            other->one_transposed == first->one_transposed &&
            wgmma_type_of_b(other) == wgmma_type_of_b(first) &&
            !other->a_registers == !first->a_registers)
            continue;
        sim_fatal("diverged-warpgroup", wgmma_thread(g, i),
                  "calls wgmma with other descriptors, shape or accumulate flag than the "
                  "warpgroup's first thread\n"
                  "    all 128 threads must pass the same: n %d and %d, A 0x%llx and 0x%llx, B "
                  "0x%llx and 0x%llx, "
                  "accumulate %d and %d",
                  other->n, first->n, (unsigned long long)other->a, (unsigned long long)first->a,
                  (unsigned long long)other->b, (unsigned long long)first->b, other->accumulate,
                  first->accumulate);
    }
}

static struct descriptor decode(uint64_t word, char operand) {
    struct descriptor d;
    const char *const fault = descriptor_decode(word, &d);
    if (fault)
        sim_fatal("wgmma-descriptor", sim_thread(), "the descriptor of %c, 0x%016llx: %s", operand,
                  (unsigned long long)word, fault);
    return d;
}

static bool issue(struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    const struct wgmma_call *const call = operand[0];
    struct wgmma_state *const state = state_of(g);
    check_same(g, operand);
    wgmma_aligned_meet(&state->aligned, "a wgmma");
    if (call->n < 8 || call->n > WGMMA_MAX_N || call->n % 8)
        sim_fatal("wgmma-shape", sim_thread(), "n = %d: must be 8 to 256 in steps of 8", call->n);
    struct descriptor a = {0};
    if (!call->a_registers) a = decode(call->a, 'A');
    const struct descriptor b = decode(call->b, 'B');
    wgmma_note_operands(state, call, &a, &b);
    struct wgmma_tile *const tile = wgmma_tile_of(state, operand);
    wgmma_check_fences(state, tile, operand);
    wgmma_gather(state, tile, operand);
    tile->epoch = state->committed + 1;
    tile->last_use = ++state->uses;
    tile->file = sim_thread()->self.file;
    tile->line = sim_thread()->self.line;

    struct wgmma_operation *const op = new_operation(state);
    op->state = state;
    op->tile = tile;
    op->call = *call;
    op->a = a;
    op->b = b;
    op->group = state->committed;
    op->file = sim_thread()->self.file;
    op->line = sim_thread()->self.line;
    for (int i = 0; call->a_registers && i < WARPGROUP_SIZE; ++i) {
        op->a_registers[i] = ((const struct wgmma_call *)operand[i])->a_registers;
        memcpy(op->a_values[i], op->a_registers[i], sizeof op->a_values[i]);
    }
    op->job.complete = complete;
    op->job.cluster = g->cta->cluster;
    op->job.after = state->last ? &state->last->job : NULL;
    op->busy = time_wgmma(g->cta, call->n, call->a_registers != NULL, 0);
    if (state->last)
        state->last->next = op;
    else
        state->first = op;
    state->last = op;
    state->used = state->committed + 1;
    ++sim_statistics.wgmma;
    sim_statistics.products += 64u * (unsigned)tensor_k(call->type) * (unsigned)call->n;
    sim_job_start(&op->job, op->busy.end + WGMMA_DRAIN_CYCLES);
    return true;
}

void wgmma_issue(struct wgmma_call call) {
    sim_warpgroup_collective("wgmma", &call, issue);
    sim_maybe_yield();
}

void sim_wgmma(int n, float *acc, uint64_t a, uint64_t b, int accumulate, int mn_major, int bf16) {
    const enum tensor_type type = bf16 ? TENSOR_BF16 : TENSOR_FP16;
    wgmma_issue(
        (struct wgmma_call){n, acc, a, b, NULL, accumulate != 0, mn_major != 0, .type = type});
}

void sim_wgmma_e4m3(int n, float *acc, uint64_t a, uint64_t b, int accumulate) {
    wgmma_issue((struct wgmma_call){n, acc, a, b, NULL, accumulate != 0, .type = TENSOR_E4M3});
}

void sim_wgmma_rs(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate, int mn_major,
                  int bf16) {
    const enum tensor_type type = bf16 ? TENSOR_BF16 : TENSOR_FP16;
    wgmma_issue((struct wgmma_call){n, acc, 0, b, a, accumulate != 0, mn_major != 0, .type = type});
}

void sim_wgmma_rs_e4m3(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate) {
    wgmma_issue((struct wgmma_call){n, acc, 0, b, a, accumulate != 0, .type = TENSOR_E4M3});
}

/* ---- fence, groups, waits ---- */

/* All lanes of the warp execute the .aligned instruction `name` here. */
static void aligned_call(const struct sim_warp *warp, const char *name) {
    wgmma_aligned_call(&warp->cta->warpgroup[warp->index / WARPGROUP_WARPS].wgmma->aligned, name);
}

/* wgmma.fence and wgmma.wait_group: the warp's lanes are here; what the instruction does, it does
 * for each of them. */
static bool whole_warp(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    aligned_call(warp, operand[0]);
    return true;
}

static void with_whole_warp(const char *name) {
    sim_warp_collective(name, (void *)(uintptr_t)name, whole_warp);
}

void sim_wgmma_fence(void) {
    struct sim_thread *const thread = sim_thread();
    struct wgmma_state *const state = state_of(sim_warpgroup_of(thread));
    const int me = wgmma_index(thread);
    with_whole_warp("wgmma.fence");
    sim_advance(WGMMA_FENCE_CYCLES);
    register_watch_fence(thread);
    state->fenced[me] = true;
    for (int i = 0; i < MAX_TILES && state->tile[i]; ++i) {
        state->tile[i]->fenced[me] = true;
        state->tile[i]->forgotten[me] = false;
    }
}

static bool commit(struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    (void)operand;
    struct wgmma_state *const state = state_of(g);
    wgmma_aligned_meet(&state->aligned, "a commit");
    ++state->committed;
    return true;
}

void sim_wgmma_commit_group(void) {
    sim_warpgroup_collective("wgmma.commit_group", NULL, commit);
    sim_cue(SIM_EVENT_CUE_COMMIT, 0);
}

static void describe_wait(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    const struct wgmma_operation *const op = object;
    (void)thread;
    snprintf(text, size, "wgmma group %u, issued at %s:%d", op->group, source_name(op->file),
             op->line);
}

static const struct sim_wait wait_for_group = {describe_wait, NULL, false, false};

/* The number of the newest group, plus one, of which the wait tells. */
static uint32_t target_of(const struct wgmma_state *state, int pending) {
    return (uint32_t)pending < state->committed ? state->committed - (uint32_t)pending : 0;
}

/* The warp's lanes are here. A in registers must stay what it was until the wait. */
static bool check_fragments(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    struct sim_thread *const thread = warp->thread[0];
    const struct wgmma_state *const state = state_of(sim_warpgroup_of(thread));
    const int first = wgmma_index(thread);
    const uint32_t target = target_of(state, ((const struct wgmma_wait *)operand[0])->pending);
    aligned_call(warp, WAIT_GROUP);
    for (struct wgmma_operation *op = state->first; op && op->group < target; op = op->next)
        if (op->group >= state->waited[first] && op->call.a_registers &&
            !wgmma_fragments_kept(op, first, operand))
            sim_hazard("fragment-in-flight", thread,
                       "A registers of the wgmma at %s:%d were changed before the wait for it\n"
                       "    wait first, or load the next fragments into other registers",
                       source_name(op->file), op->line);
    sim_lanes_exchanged(warp, operand);
    return true;
}

static void wait_group(int pending) {
    struct sim_thread *const thread = sim_thread();
    struct wgmma_state *const state = state_of(sim_warpgroup_of(thread));
    const int me = wgmma_index(thread);
    __builtin_unwind_init(); /* the processor's registers, too, are in memory now */
    struct wgmma_wait wait = {register_watch_stack(), pending};
    sim_warp_collective(WAIT_GROUP, &wait, check_fragments);
    const uint32_t target = target_of(state, pending);
    if (target <= state->waited[me]) return;
    struct wgmma_operation *newest = NULL;
    for (struct wgmma_operation *op = state->first; op && op->group < target; op = op->next)
        newest = op;
    if (newest) sim_job_wait(&newest->job, &wait_for_group, newest);
    for (int i = 0; i < MAX_TILES && state->tile[i]; ++i)
        if (wgmma_in_flight(state, state->tile[i], me) && state->tile[i]->epoch <= target)
            wgmma_deliver(state, state->tile[i], me);
    state->waited[me] = target;
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        if (w == me / WARP_SIZE || !doubtful_rules)
            sim_acquire_slot(thread, state->slot[w], target);
    sim_maybe_yield();
}

void sim_wgmma_wait_group(int pending) {
    wait_group(pending);
    sim_cue(SIM_EVENT_CUE_DRAIN, pending);
}
