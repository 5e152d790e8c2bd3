/*
 * memory.c: PTX ISA, "Data Movement and Conversion Instructions": ld, st.
 *
 * Weak accesses of global and shared memory go through the simulator's shadows. A strong access of
 * a 32-bit word of global memory is the simulator's own instruction; others are refused.
 */
#include <string.h>

#include "hopper/atomics.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/core/hazards.h"
#include "sim/units/access.h"

enum { OPTION_BYTES, OPTION_SIGNED, OPTION_REGISTER, OPTION_SCOPE, OPTION_SEMANTICS };

/* ---- values ---- */

static void get(const struct operation *op, struct frame *frame, const unsigned char *from) {
    const int bytes = op->option[OPTION_BYTES], width = op->option[OPTION_REGISTER];
    for (int i = 0; i < op->listed; ++i, from += bytes) {
        uint64_t value = 0;
        memcpy(&value, from, (size_t)bytes);
        if (op->option[OPTION_SIGNED] && value >> (8 * bytes - 1))
            value |= bytes < 8 ? ~UINT64_C(0) << 8 * bytes : 0;
        memcpy(frame->registers + op->list[i], &value, (size_t)width);
    }
}

static void put(const struct operation *op, const struct frame *frame, unsigned char *to) {
    const int bytes = op->option[OPTION_BYTES];
    for (int i = 0; i < op->listed; ++i, to += bytes)
        memcpy(to, frame->registers + op->list[i], (size_t)bytes);
}

/* A copy of an accumulator that a wgmma owns must not leave the registers. */
static void check_stored(const struct operation *op, const struct frame *frame) {
    for (int i = 0; i < op->listed && op->option[OPTION_BYTES] == 4; ++i)
        thread_check_register(op, VALUE_AT(reg_u32, op->list[i]));
}

static size_t size_of(const struct operation *op) {
    return (size_t)(op->option[OPTION_BYTES] * op->listed);
}

/* ---- parameters and local memory, which no other thread sees ---- */

static bool within(uint64_t at, size_t bytes, const void *memory, size_t size) {
    const uint64_t offset = at - (uintptr_t)memory;
    return offset < size && bytes <= size - offset;
}

/* Ends the launch if the access lies in neither, or is a write to parameters. */
static void check_own(const struct operation *op, const struct frame *frame, bool write) {
    const uint64_t at = address(op, frame, 0, op->offset);
    const size_t bytes = size_of(op), local = (size_t)frame->program->local_bytes,
                 parameters = frame->program->function->param_bytes;
    if (at % bytes)
        sim_fatal("misaligned", NULL, "an address of local memory is not a multiple of %zu", bytes);
    if (within(at, bytes, frame->local, local) ||
        (!write && within(at, bytes, frame->parameters, parameters)))
        return;
    sim_fatal("local-bounds", NULL,
              "%s of %zu bytes that are neither in the thread's local memory, which has %zu bytes, "
              "nor in the kernel's parameters, which have %zu and can only be read\n"
              "    Check the index.",
              write ? "write" : "read", bytes, local, parameters);
}

static void ld_own(const struct operation *op, struct frame *frame) {
    check_own(op, frame, false);
    get(op, frame, (const unsigned char *)(uintptr_t)address(op, frame, 0, op->offset));
}

static void st_own(const struct operation *op, struct frame *frame) {
    check_own(op, frame, true);
    put(op, frame, (unsigned char *)(uintptr_t)address(op, frame, 0, op->offset));
}

/* ---- shared memory ---- */

static void ld_shared(const struct operation *op, struct frame *frame) {
    void *const from = own_shared(op, address(op, frame, 0, op->offset));
    get(op, frame, sim_access_shared(from, size_of(op), SIM_READ));
}

static void st_shared(const struct operation *op, struct frame *frame) {
    void *const to = own_shared(op, address(op, frame, 0, op->offset));
    check_stored(op, frame);
    put(op, frame, sim_access_shared(to, size_of(op), SIM_WRITE));
}

/* ---- global memory: what lies outside reads as a pattern, and is not written ---- */

static void ld_global(const struct operation *op, struct frame *frame) {
    unsigned char poison[64];
    void *const from = (void *)(uintptr_t)address(op, frame, 0, op->offset);
    const bool inside = sim_access_global(from, size_of(op), SIM_READ);
    if (!inside) sim_poison(poison, sizeof poison);
    get(op, frame, inside ? from : poison);
}

static void st_global(const struct operation *op, struct frame *frame) {
    void *const to = (void *)(uintptr_t)address(op, frame, 0, op->offset);
    check_stored(op, frame);
    if (sim_access_global(to, size_of(op), SIM_WRITE)) put(op, frame, to);
}

/* ---- generic addresses ---- */

static operation_run *space_of(const struct operation *op, const struct frame *frame, void **at,
                               operation_run *own, operation_run *global) {
    const uint64_t where = address(op, frame, 0, op->offset);
    *at = NULL;
    if (own_address(frame, where)) return own;
    const struct sim_cta *const owner = shared_owner((const void *)(uintptr_t)where);
    if (!owner) return global;
    if (owner != sim_thread()->cta)
        thread_not_modelled(op, "the address is in the shared memory of another CTA");
    *at = (void *)(uintptr_t)where;
    return NULL;
}

static void ld_generic(const struct operation *op, struct frame *frame) {
    void *at;
    operation_run *const run = space_of(op, frame, &at, ld_own, ld_global);
    if (run)
        run(op, frame);
    else
        get(op, frame, sim_access_shared(at, size_of(op), SIM_READ));
}

static void st_generic(const struct operation *op, struct frame *frame) {
    void *at;
    operation_run *const run = space_of(op, frame, &at, st_own, st_global);
    if (run) {
        run(op, frame);
        return;
    }
    check_stored(op, frame);
    put(op, frame, sim_access_shared(at, size_of(op), SIM_WRITE));
}

/* ---- strong accesses of a word of global memory ---- */

enum semantics { WEAK, RELAXED, ACQUIRE, RELEASE };

static uint32_t *word_at(const struct operation *op, const struct frame *frame) {
    const uint64_t at = address(op, frame, 0, op->offset);
    if (own_address(frame, at) || shared_owner((const void *)(uintptr_t)at))
        thread_not_modelled(op, "a strong access of memory that is not global");
    return (uint32_t *)(uintptr_t)at;
}

static void ld_strong(const struct operation *op, struct frame *frame) {
    uint32_t *const word = word_at(op, frame);
    const enum scope scope = (enum scope)op->option[OPTION_SCOPE];
    VALUE_AT(reg_u32, op->list[0]) = op->option[OPTION_SEMANTICS] == ACQUIRE
                                         ? sim_ld_global_acquire(word, scope)
                                         : sim_ld_global_relaxed(word, scope);
}

static void st_strong(const struct operation *op, struct frame *frame) {
    uint32_t *const word = word_at(op, frame);
    const enum scope scope = (enum scope)op->option[OPTION_SCOPE];
    const uint32_t value = VALUE_AT(reg_u32, op->list[0]);
    thread_check_register(op, value);
    if (op->option[OPTION_SEMANTICS] == RELEASE)
        sim_st_global_release(word, value, scope);
    else
        sim_st_global_relaxed(word, value, scope);
}

/* ---- decoding ---- */

static const char *const semantics[] = {"weak", "relaxed", "acquire", "release", "volatile", NULL};
enum { VOLATILE = RELEASE + 1 };
static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
/* What only says how caches are used. */
static const char *const cache_words[] = {"ca",
                                          "cg",
                                          "cs",
                                          "lu",
                                          "cv",
                                          "wb",
                                          "wt",
                                          "nc",
                                          "L1::evict_normal",
                                          "L1::evict_unchanged",
                                          "L1::evict_first",
                                          "L1::evict_last",
                                          "L1::no_allocate",
                                          "L2::evict_normal",
                                          "L2::evict_first",
                                          "L2::evict_last",
                                          "L2::64B",
                                          "L2::128B",
                                          "L2::256B",
                                          "L2::cache_hint",
                                          NULL};

static void take_cache_words(struct decoder *d) {
    while (take_one_of(d, cache_words) >= 0) {
    }
}

static void decode_access(struct decoder *d, bool store) {
    static const char *const vectors[] = {"v2", "v4", "v8", NULL};
    struct operation *const op = d->op;
    int semantic = take_one_of(d, semantics);
    int scope = take_one_of(d, scopes);
    const int space = take_space(d);
    take_cache_words(d);
    const int vector = take_one_of(d, vectors);
    const struct ptx_type type = take_type(d);
    need_operands(d, 2, 3);
    if (d->why) return;
    const struct ptx_operand *const at = &d->source->operand[store ? 0 : 1],
                                    *const value = &d->source->operand[store ? 1 : 0];
    const struct ptx_operand *const first = value->kind == OPERAND_VECTOR ? value->part : value;
    if (value->kind == OPERAND_VECTOR ? value->parts != 2 << vector || vector < 0 : vector >= 0)
        refuse(d, "its vector has another length than it says");
    take_address(d, 0, at);
    op->option[OPTION_BYTES] = type.bytes;
    op->option[OPTION_SIGNED] = type.kind == KIND_SIGNED;
    const int width = register_bytes(d, first);
    op->option[OPTION_REGISTER] = width ? width : type.bytes;
    const char letter = type.bytes <= 2 ? 'H' : type.bytes == 4 ? 'W' : 'D';
    if (type.bytes == 16) refuse(d, "values of 128 bits are not modelled yet");
    take_list(d, value, letter, !store);
    if (semantic == VOLATILE) {
        semantic = RELAXED;
        scope = SCOPE_SYS;
    }
    if (semantic > WEAK) {
        if ((space >= 0 && space != STATE_GLOBAL) || type.bytes != 4 || vector >= 0 || scope < 0)
            refuse(d,
                   "of strong accesses only those of 32-bit words of global memory are modelled");
        op->option[OPTION_SEMANTICS] = semantic;
        op->option[OPTION_SCOPE] = scope;
        op->run = store ? st_strong : ld_strong;
        return;
    }
    switch (space) {
    case STATE_GLOBAL:
    case STATE_CONST:
        op->run = store ? st_global : ld_global;
        break;
    case STATE_SHARED:
    case STATE_SHARED_CTA:
    case STATE_SHARED_CLUSTER:
        op->run = store ? st_shared : ld_shared;
        break;
    case -1:
        op->run = store ? st_generic : ld_generic;
        break;
    default:
        op->run = store ? st_own : ld_own;
        break;
    }
}

static void decode_ld(struct decoder *d) { decode_access(d, false); }
static void decode_st(struct decoder *d) { decode_access(d, true); }

/* ---- prefetches: nothing to see ---- */

static void nothing(const struct operation *op, struct frame *frame) { (void)op, (void)frame; }

static void decode_nothing(struct decoder *d) {
    d->next = d->words;
    d->op->run = nothing;
}

#define MOVEMENT "Data Movement and Conversion Instructions: "
static const struct family families[] = {
    {"ld", decode_ld, MODELLED, MOVEMENT "ld"},
    {"ldu", decode_ld, MODELLED, MOVEMENT "ldu"},
    {"st", decode_st, MODELLED, MOVEMENT "st"},
    {"prefetch", decode_nothing, ORDERING, MOVEMENT "prefetch"},
    {"prefetchu", decode_nothing, ORDERING, MOVEMENT "prefetchu"},
};
const struct family_group memory_families = FAMILY_GROUP(families);
