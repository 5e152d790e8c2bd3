/* thread.c: the loop that executes operations, and the values that a thread begins with. */
#include "machine/thread.h"

#include <string.h>

#include "hopper/thread.h"
#include "machine/launch.h"
#include "machine/unset.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/registers/watch.h"

struct launch *launch_running;

void thread_not_modelled(const struct operation *op, const char *why) {
    launch_running->incomplete = op;
    sim_at(op->file, op->line);
    sim_fatal("not-modelled", NULL, "%s: %s", op->source->opcode, why);
}

void thread_check_register(const struct operation *op, uint32_t bits) {
    if ((bits & SIM_ACCUMULATOR_TAG_MASK) != SIM_ACCUMULATOR_TAG) return;
    sim_at(op->file, op->line);
    sim_accumulator_in_use();
}

/* ---- special registers. PTX ISA, "Special Registers" ---- */

static struct three unpacked(int index, struct three extent) {
    return (struct three){index % extent.x, index / extent.x % extent.y,
                          index / extent.x / extent.y};
}

static uint32_t part(struct three v, int i) {
    return (uint32_t)(i == 0 ? v.x : i == 1 ? v.y : v.z);
}

/* The second half is what cooperative groups synchronize in. */
static uint64_t reserved_shared(enum special s, const struct sim_thread *t) {
    const uint64_t begin = ((uint64_t)t->cta->rank << SHARED_RANK_SHIFT) + SHARED_BASE +
                           launch_reserved_shared_at(launch_running);
    return begin + (s == SPECIAL_RESERVED_1     ? RESERVED_SHARED_BYTES / 2
                    : s == SPECIAL_RESERVED_END ? RESERVED_SHARED_BYTES
                                                : 0);
}

/* CTAs are numbered cluster by cluster. */
static uint64_t special_value(enum special s, const struct sim_thread *t) {
    const struct launch *const l = launch_running;
    const int ctas = l->cluster.x * l->cluster.y * l->cluster.z;
    const struct three clusters = {l->grid.x / l->cluster.x, l->grid.y / l->cluster.y,
                                   l->grid.z / l->cluster.z};
    const struct three cluster = unpacked(t->cta->index / ctas, clusters),
                       in_cluster = unpacked(t->cta->rank, l->cluster);
    const struct three cta = {cluster.x * l->cluster.x + in_cluster.x,
                              cluster.y * l->cluster.y + in_cluster.y,
                              cluster.z * l->cluster.z + in_cluster.z};
    const uint32_t lane = UINT32_C(1) << t->lane;
    if (s <= SPECIAL_TID_Z) return part(unpacked(t->index, l->block), s - SPECIAL_TID_X);
    if (s <= SPECIAL_NTID_Z) return part(l->block, s - SPECIAL_NTID_X);
    if (s <= SPECIAL_CTAID_Z) return part(cta, s - SPECIAL_CTAID_X);
    if (s <= SPECIAL_NCTAID_Z) return part(l->grid, s - SPECIAL_NCTAID_X);
    if (s <= SPECIAL_CLUSTERID_Z) return part(cluster, s - SPECIAL_CLUSTERID_X);
    if (s <= SPECIAL_NCLUSTERID_Z) return part(clusters, s - SPECIAL_NCLUSTERID_X);
    if (s <= SPECIAL_CLUSTER_CTAID_Z) return part(in_cluster, s - SPECIAL_CLUSTER_CTAID_X);
    if (s <= SPECIAL_CLUSTER_NCTAID_Z) return part(l->cluster, s - SPECIAL_CLUSTER_NCTAID_X);
    switch (s) {
    case SPECIAL_CLUSTER_CTARANK:
        return (uint64_t)t->cta->rank;
    case SPECIAL_CLUSTER_NCTARANK:
        return (uint64_t)ctas;
    case SPECIAL_LANEID:
        return (uint64_t)t->lane;
    case SPECIAL_WARPID:
        return (uint64_t)(t->index / WARP_SIZE);
    case SPECIAL_NWARPID:
        return (uint64_t)t->cta->warps;
    case SPECIAL_SMID:
        return (uint64_t)t->cta->sm;
    case SPECIAL_NSMID:
        return (uint64_t)sim.sms;
    case SPECIAL_LANEMASK_EQ:
        return lane;
    case SPECIAL_LANEMASK_LE:
        return lane | (lane - 1);
    case SPECIAL_LANEMASK_LT:
        return lane - 1;
    case SPECIAL_LANEMASK_GE:
        return ~(lane - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(lane | (lane - 1));
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return (uint64_t)l->dynamic_shared_bytes;
    case SPECIAL_GRID_BARRIER_HIGH:
        return (uintptr_t)l->grid_barrier >> 32;
    case SPECIAL_GRID_BARRIER_LOW:
        return (uint32_t)(uintptr_t)l->grid_barrier;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return launch_shared_bytes(l);
    case SPECIAL_AGGR_SMEM_SIZE:
        return launch_reserved_shared_at(l) + RESERVED_SHARED_BYTES;
    case SPECIAL_GRIDID:
        return (uint64_t)t->cta->launch;
    case SPECIAL_IS_EXPLICIT_CLUSTER:
        return ctas > 1 || l->program->function->cluster[0] > 0;
    case SPECIAL_RESERVED_SIZE:
        return RESERVED_SHARED_BYTES;
    case SPECIAL_RESERVED_BEGIN:
    case SPECIAL_RESERVED_0:
    case SPECIAL_RESERVED_1:
    case SPECIAL_RESERVED_END:
        return reserved_shared(s, t);
    default:
        return 0;
    }
}

static uint64_t preset_value(const struct preset *p, const struct frame *frame,
                             const struct sim_thread *t) {
    switch (p->special) {
    case SPECIAL_PARAM:
        return (p->bytes == 8 ? (uintptr_t)frame->parameters : 0) + (uint64_t)p->offset;
    case SPECIAL_LOCAL:
        return (p->bytes == 8 ? (uintptr_t)frame->local : 0) + (uint64_t)p->offset;
    case SPECIAL_SHARED:
        return ((uint64_t)t->cta->rank << SHARED_RANK_SHIFT) + SHARED_BASE + (uint64_t)p->offset;
    case SPECIAL_GLOBAL:
        return (uintptr_t)p->variable->memory + (uint64_t)p->offset;
    default:
        return special_value(p->special, t);
    }
}

/* ---- execution ---- */

/* An operation names registers that a wgmma uses. */
static void touch(const struct operation *op, const struct frame *frame) {
    const struct sim_thread *const thread = sim_thread();
    for (int i = 0; i < op->touches; ++i) {
        if (i < op->read) thread_check_register(op, VALUE_AT(reg_u32, op->touch[i]));
        if (thread->registers)
            register_watch_touch(thread, frame->registers + op->touch[i], sizeof(uint32_t), false);
    }
}

static void endless(const struct operation *op, uint64_t branches) {
    sim_at(op->file, op->line);
    sim_fatal("endless", NULL,
              "has branched %llu times without waiting for anything\n"
              "    Look for a loop that never ends. If the kernel needs more, raise "
              "--branch-limit.",
              (unsigned long long)branches);
}

/* The target of an indirect branch. */
static int chosen(const struct operation *op, const struct frame *frame) {
    const uint32_t index = VALUE(reg_u32, 0);
    if (index < (uint32_t)op->listed) return op->list[index];
    sim_at(op->file, op->line);
    sim_fatal("branch-index", NULL, "branches to target %u of a list that has %d", index,
              op->listed);
}

/* The function that a call through a pointer leads to: one of those whose address the module
 * takes. */
static const struct program *pointed_to(const struct operation *op, const struct frame *caller) {
    const struct program *const kernel = launch_running->program;
    const uint64_t pointer = *(const reg_u64 *)(caller->registers + op->at[0]);
    for (int i = 0; i < kernel->functions_called; ++i) {
        const struct program *const p = kernel->function_called[i];
        const struct ptx_function *const f = p->function;
        if ((uintptr_t)f == pointer && f->params == op->given &&
            f->results == op->listed - op->given)
            return p;
    }
    sim_at(op->file, op->line);
    sim_fatal("bad-call", NULL,
              "calls through the pointer 0x%llx, which is of no function of this module that has "
              "these parameters",
              (unsigned long long)pointer);
}

static bool call(const struct operation *op, const struct frame *caller);

/* Up to the end of the function; false: the thread has ended in it. */
static bool execute(struct frame *frame) {
    const struct operation *const program = frame->program->operation, *op = program;
    const struct sim_thread *const thread = sim_thread();
    uint64_t executed = 0, branches = 0, turn = thread->turns;
    for (;; ++op) {
        ++executed;
        if (op->guard >= 0 && (!VALUE_AT(reg_u32, op->guard)) != op->guard_negated) continue;
        switch (op->flow) {
        case FLOW_PLAIN:
            op->run(op, frame);
            break;
        case FLOW_UNIT:
            launch_running->executed += executed; /* it may be the last */
            ++launch_running->checked;
            executed = 0;
            sim_at(op->file, op->line);
            if (op->touches) touch(op, frame);
            op->run(op, frame);
            break;
        case FLOW_BRANCH:
        case FLOW_TABLE:
            if (thread->turns != turn) {
                turn = thread->turns;
                branches = 0;
            }
            if (++branches > launch_running->branch_limit) {
                launch_running->executed += executed;
                endless(op, branches);
            }
            op = program + (op->flow == FLOW_TABLE ? chosen(op, frame) : op->target) - 1;
            break;
        case FLOW_CALL:
            launch_running->executed += executed;
            executed = 0;
            if (!call(op, frame)) return false;
            break;
        case FLOW_RETURN:
        case FLOW_EXIT:
            launch_running->executed += executed;
            return op->flow == FLOW_RETURN;
        }
    }
}

static size_t local_bytes(const struct program *program) {
    return ((size_t)program->local_bytes + 15) & ~(size_t)15;
}

/* What a frame begins with: its memory has local_bytes() and the program's frame_bytes. */
static void begin(struct frame *frame, unsigned char *memory) {
    const struct program *const program = frame->program;
    frame->local = memory;
    frame->registers = memory + local_bytes(program);
    memset(memory, UNSET_BYTE, local_bytes(program));
    memcpy(frame->registers, program->image, (size_t)program->frame_bytes);
    for (int i = 0; i < program->presets; ++i) {
        const uint64_t value = preset_value(&program->preset[i], frame, sim_thread());
        memcpy(frame->registers + program->preset[i].at, &value, (size_t)program->preset[i].bytes);
    }
}

static size_t stack_bytes(const struct program *program) {
    enum { OWN = 512 }; /* of the functions that execute it */
    return local_bytes(program) + (size_t)program->frame_bytes + program->function->param_bytes +
           OWN;
}

/* What it passes lies in the caller's local memory; what it returns goes there. */
static __attribute__((noinline)) bool call(const struct operation *op, const struct frame *caller) {
    const struct program *const program = op->callee ? op->callee : pointed_to(op, caller);
    const struct ptx_function *const f = program->function;
    const size_t stack = caller->stack + stack_bytes(program);
    if (stack > MOST_STACK_BYTES) {
        sim_at(op->file, op->line);
        sim_fatal("stack", NULL,
                  "%s is called %zu bytes deep: frames of more than %d bytes together are not "
                  "modelled\n    Does it call itself without end?",
                  f->name, stack, MOST_STACK_BYTES);
    }
    unsigned char parameters[f->param_bytes + 1] __attribute__((aligned(16)));
    unsigned char memory[local_bytes(program) + (size_t)program->frame_bytes + 1]
        __attribute__((aligned(16)));
    struct frame frame = {.program = program, .parameters = parameters, .stack = stack};
    for (int i = 0; i < f->params; ++i)
        memcpy(parameters + f->param[i].offset, caller->local + op->list[i], f->param[i].bytes);
    begin(&frame, memory);
    const bool returns = execute(&frame);
    for (int i = 0; i < f->results; ++i)
        memcpy(caller->local + op->list[f->params + i], frame.local + f->variable[i].offset,
               f->variable[i].bytes);
    return returns;
}

/* The registers lie on the fiber's stack, and end where the simulator takes a kernel's frame to
 * end. */
static __attribute__((noinline)) void run_thread(const unsigned char *parameters) {
    const struct program *const program = launch_running->program;
    unsigned char memory[local_bytes(program) + (size_t)program->frame_bytes + 1]
        __attribute__((aligned(16)));
    struct frame frame = {
        .program = program, .parameters = parameters, .stack = stack_bytes(program)};
    begin(&frame, memory);
    if (sim_thread()->index == 0 && launch_running->cta_begins)
        launch_running->cta_begins(launch_running);
    sim_self->parameters = frame.registers + program->frame_bytes;
    sim_self->named_registers = true;
    (void)execute(&frame);
}

/* What the launch passes by value is not looked at: all threads read the one copy that it keeps. */
static void kernel(const struct gemm_args args) {
    const struct sim_cta *const cta = sim_thread()->cta;
    const void *const passed = sim_args_of(cta->launch * sim.devices + cta->device);
    (void)args;
    sim_self->arguments = passed;
    run_thread((const unsigned char *)passed + launch_running->parameters_at);
}

const void *thread_kernel(void) { return (const void *)kernel; }
