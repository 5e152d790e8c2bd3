/*
 * memory.c: PTX ISA, "Data Movement and Conversion Instructions": ld, st.
 *
 * Accesses of global and shared memory, weak and strong, go through the simulator's shadows.
 */
#include <string.h>

#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/core/hazards.h"
#include "sim/units/access.h"
#include "sim/units/strong.h"

enum { OPTION_BYTES, OPTION_SIGNED, OPTION_SCOPE, OPTION_SEMANTICS, OPTION_SPACE };
enum { GENERIC = -1, MOST_BYTES = 64 /* of an access */ };

/* ---- values ---- */

enum { AT_WIDTH = 1 }; /* op->at[]: no operand, but the bytes of a register */

static void get(const struct operation *op, struct frame *frame, const unsigned char *from) {
    const int bytes = op->option[OPTION_BYTES], width = op->at[AT_WIDTH];
    for (int i = 0; i < op->listed; ++i, from += bytes) {
        uint64_t value = 0;
        if (bytes > 8) {
            memcpy(frame->registers + op->list[i], from, (size_t)bytes);
            continue;
        }
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

static uint64_t own_at(const struct operation *op, const struct frame *frame) {
    return own_pointer(frame, op->option[OPTION_SPACE], address(op, frame, 0, op->offset));
}

/* Ends the launch if the access lies in neither, or is a write to parameters. */
static void check_own(const struct operation *op, const struct frame *frame, bool write) {
    const uint64_t at = own_at(op, frame);
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
    get(op, frame, (const unsigned char *)(uintptr_t)own_at(op, frame));
}

static void st_own(const struct operation *op, struct frame *frame) {
    check_own(op, frame, true);
    put(op, frame, (unsigned char *)(uintptr_t)own_at(op, frame));
}

/* ---- shared memory ---- */

static void ld_shared(const struct operation *op, struct frame *frame) {
    const uint64_t at = address(op, frame, 0, op->offset);
    const size_t bytes = size_of(op);
    unsigned rank;
    void *const own = shared_pointer(at, &rank);
    get(op, frame,
        rank == sim_self->cluster_rank
            ? sim_access_shared(own, bytes, SIM_READ)
            : sim_access_cluster(window_pointer(at, bytes, bytes), bytes, SIM_READ));
}

static void st_shared(const struct operation *op, struct frame *frame) {
    unsigned char value[MOST_BYTES];
    const uint64_t at = address(op, frame, 0, op->offset);
    const size_t bytes = size_of(op);
    unsigned rank;
    check_stored(op, frame);
    put(op, frame, value);
    void *const own = shared_pointer(at, &rank);
    if (rank == sim_self->cluster_rank)
        sim_store_shared(own, value, bytes);
    else
        sim_store_cluster(window_pointer(at, bytes, bytes), value, bytes);
}

/* ---- global memory: what lies outside reads as a pattern, and is not written ---- */

static void ld_global(const struct operation *op, struct frame *frame) {
    unsigned char poison[MOST_BYTES];
    void *const from = (void *)(uintptr_t)address(op, frame, 0, op->offset);
    const bool inside = sim_access_global(from, size_of(op), SIM_READ);
    if (!inside) sim_poison(poison, sizeof poison);
    get(op, frame, inside ? from : poison);
}

static void st_global(const struct operation *op, struct frame *frame) {
    unsigned char value[MOST_BYTES];
    void *const to = (void *)(uintptr_t)address(op, frame, 0, op->offset);
    check_stored(op, frame);
    put(op, frame, value);
    sim_store_global(to, value, size_of(op));
}

/* ---- generic addresses ---- */

static void ld_generic(const struct operation *op, struct frame *frame) {
    const struct target t =
        target_of(frame, address(op, frame, 0, op->offset), GENERIC, size_of(op));
    if (t.kind == TARGET_OWN)
        ld_own(op, frame);
    else if (t.kind == TARGET_GLOBAL)
        ld_global(op, frame);
    else
        get(op, frame, sim_access_cluster(t.shared, size_of(op), SIM_READ));
}

static void st_generic(const struct operation *op, struct frame *frame) {
    const struct target t =
        target_of(frame, address(op, frame, 0, op->offset), GENERIC, size_of(op));
    if (t.kind == TARGET_OWN) {
        st_own(op, frame);
    } else if (t.kind == TARGET_GLOBAL) {
        st_global(op, frame);
    } else {
        unsigned char value[MOST_BYTES];
        check_stored(op, frame);
        put(op, frame, value);
        sim_store_cluster(t.shared, value, size_of(op));
    }
}

/* ---- strong accesses: each element of a vector is one ---- */

static bool strong_at(const struct operation *op, const struct frame *frame, struct target *t,
                      struct strong_access *how) {
    *t = target_of(frame, address(op, frame, 0, op->offset), op->option[OPTION_SPACE], size_of(op));
    how->bytes = (size_t)op->option[OPTION_BYTES];
    how->semantics = (enum sim_semantics)op->option[OPTION_SEMANTICS];
    how->scope = (enum sim_scope)op->option[OPTION_SCOPE];
    how->shared = t->kind == TARGET_SHARED ? &t->shared : NULL;
    return t->kind != TARGET_OWN;
}

static void next_element(struct target *t, size_t bytes) {
    t->shared.offset += bytes;
    t->shared.host += bytes;
}

static void ld_strong(const struct operation *op, struct frame *frame) {
    unsigned char values[MOST_BYTES];
    struct target t;
    struct strong_access how;
    if (!strong_at(op, frame, &t, &how)) {
        ld_own(op, frame);
        return;
    }
    for (int i = 0; i < op->listed; ++i, next_element(&t, how.bytes))
        strong_load((char *)t.host + (size_t)i * how.bytes, values + (size_t)i * how.bytes, how);
    get(op, frame, values);
}

static void st_strong(const struct operation *op, struct frame *frame) {
    unsigned char values[MOST_BYTES];
    struct target t;
    struct strong_access how;
    check_stored(op, frame);
    if (!strong_at(op, frame, &t, &how)) {
        st_own(op, frame);
        return;
    }
    put(op, frame, values);
    for (int i = 0; i < op->listed; ++i, next_element(&t, how.bytes))
        strong_store((char *)t.host + (size_t)i * how.bytes, values + (size_t)i * how.bytes, how);
}

/* ---- decoding ---- */

static const char *const semantics[] = {"weak",     "relaxed", "acquire", "release",
                                        "volatile", "mmio",    NULL};
enum semantics { WEAK, RELAXED, ACQUIRE, RELEASE, VOLATILE, MMIO };
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
    if (take(d, "relaxed")) semantic = RELAXED; /* mmio.relaxed */
    int scope = take_one_of(d, scopes);
    const int space = take_space(d);
    if (semantic < 0) semantic = take_one_of(d, semantics); /* ld.global.relaxed.cta, in headers */
    if (scope < 0) scope = take_one_of(d, scopes);
    take_cache_words(d);
    const int vector = take_one_of(d, vectors);
    const struct ptx_type type = take_type(d);
    need_operands(d, 2, 3);
    if (d->why) return;
    const struct ptx_operand *const at = &d->source->operand[store ? 0 : 1],
                                    *const value = &d->source->operand[store ? 1 : 0];
    const struct ptx_operand *const first = value->kind == OPERAND_VECTOR ? value->part : value;
    const int parts = value->kind == OPERAND_VECTOR ? value->parts : 1; /* {a} is a, too */
    if (parts != (vector < 0 ? 1 : 2 << vector))
        refuse(d, "its vector has another length than it says");
    take_address(d, 0, at);
    op->option[OPTION_BYTES] = type.bytes;
    op->option[OPTION_SPACE] = space;
    op->option[OPTION_SIGNED] = type.kind == KIND_SIGNED;
    const int width = register_bytes(d, first);
    op->at[AT_WIDTH] = width ? width : type.bytes;
    const char letter = type.bytes <= 2 ? 'H' : type.bytes == 4 ? 'W' : type.bytes == 8 ? 'D' : 'q';
    if (letter == 'q' && vector >= 0) refuse(d, "there are no vectors of 128 bits");
    take_list(d, value, letter, !store);
    if (semantic == VOLATILE || semantic == MMIO) {
        semantic = RELAXED;
        scope = SIM_SCOPE_SYS;
    }
    if (semantic > WEAK) {
        static const enum sim_semantics semantics_of[] = {
            [RELAXED] = SIM_RELAXED, [ACQUIRE] = SIM_ACQUIRE, [RELEASE] = SIM_RELEASE};
        if (scope < 0) refuse(d, "its scope is missing");
        if (semantic == (store ? ACQUIRE : RELEASE)) refuse(d, "there is no such instruction");
        op->option[OPTION_SEMANTICS] = (int)semantics_of[semantic];
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

/* A policy only says how caches are used: its value is not looked at. */
static void policy(const struct operation *op, struct frame *frame) { VALUE(reg_u64, 0) = 0; }

static void decode_policy(struct decoder *d) {
    d->next = d->words;
    need_operands(d, 1, 4);
    if (d->why) return;
    d->op->run = policy;
    d->op->at[0] = written_operand(d, &d->source->operand[0], 'd');
}

#define MOVEMENT "Data Movement and Conversion Instructions: "
static const struct family families[] = {
    {"ld", decode_ld, MODELLED, MOVEMENT "ld"},
    {"ldu", decode_ld, MODELLED, MOVEMENT "ldu"},
    {"st", decode_st, MODELLED, MOVEMENT "st"},
    {"prefetch", decode_nothing, ORDERING, MOVEMENT "prefetch"},
    {"prefetchu", decode_nothing, ORDERING, MOVEMENT "prefetchu"},
    {"discard", decode_nothing, ORDERING, MOVEMENT "discard"},
    {"applypriority", decode_nothing, ORDERING, MOVEMENT "applypriority"},
    {"createpolicy", decode_policy, MODELLED, MOVEMENT "createpolicy"},
};
const struct family_group memory_families = FAMILY_GROUP(families);
