/* program.c: from a function of PTX to a program: memory is laid out, and what can be reached is
 * decoded. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

#include "program/instructions.h"
#include "program/reach.h"
#include "program/sites.h"
#include "sim/units/registers/accumulators.h"

const char *const special_names[SPECIALS] = {
    [SPECIAL_TID_X] = "tid.x",
    [SPECIAL_TID_Y] = "tid.y",
    [SPECIAL_TID_Z] = "tid.z",
    [SPECIAL_NTID_X] = "ntid.x",
    [SPECIAL_NTID_Y] = "ntid.y",
    [SPECIAL_NTID_Z] = "ntid.z",
    [SPECIAL_CTAID_X] = "ctaid.x",
    [SPECIAL_CTAID_Y] = "ctaid.y",
    [SPECIAL_CTAID_Z] = "ctaid.z",
    [SPECIAL_NCTAID_X] = "nctaid.x",
    [SPECIAL_NCTAID_Y] = "nctaid.y",
    [SPECIAL_NCTAID_Z] = "nctaid.z",
    [SPECIAL_CLUSTERID_X] = "clusterid.x",
    [SPECIAL_CLUSTERID_Y] = "clusterid.y",
    [SPECIAL_CLUSTERID_Z] = "clusterid.z",
    [SPECIAL_NCLUSTERID_X] = "nclusterid.x",
    [SPECIAL_NCLUSTERID_Y] = "nclusterid.y",
    [SPECIAL_NCLUSTERID_Z] = "nclusterid.z",
    [SPECIAL_CLUSTER_CTAID_X] = "cluster_ctaid.x",
    [SPECIAL_CLUSTER_CTAID_Y] = "cluster_ctaid.y",
    [SPECIAL_CLUSTER_CTAID_Z] = "cluster_ctaid.z",
    [SPECIAL_CLUSTER_NCTAID_X] = "cluster_nctaid.x",
    [SPECIAL_CLUSTER_NCTAID_Y] = "cluster_nctaid.y",
    [SPECIAL_CLUSTER_NCTAID_Z] = "cluster_nctaid.z",
    [SPECIAL_CLUSTER_CTARANK] = "cluster_ctarank",
    [SPECIAL_CLUSTER_NCTARANK] = "cluster_nctarank",
    [SPECIAL_LANEID] = "laneid",
    [SPECIAL_WARPID] = "warpid",
    [SPECIAL_NWARPID] = "nwarpid",
    [SPECIAL_SMID] = "smid",
    [SPECIAL_NSMID] = "nsmid",
    [SPECIAL_LANEMASK_EQ] = "lanemask_eq",
    [SPECIAL_LANEMASK_LE] = "lanemask_le",
    [SPECIAL_LANEMASK_LT] = "lanemask_lt",
    [SPECIAL_LANEMASK_GE] = "lanemask_ge",
    [SPECIAL_LANEMASK_GT] = "lanemask_gt",
    [SPECIAL_DYNAMIC_SMEM_SIZE] = "dynamic_smem_size",
    [SPECIAL_TOTAL_SMEM_SIZE] = "total_smem_size",
    [SPECIAL_GRID_BARRIER_HIGH] = "envreg1",
    [SPECIAL_GRID_BARRIER_LOW] = "envreg2",
    [SPECIAL_AGGR_SMEM_SIZE] = "aggr_smem_size",
    [SPECIAL_GRIDID] = "gridid",
    [SPECIAL_IS_EXPLICIT_CLUSTER] = "is_explicit_cluster",
    [SPECIAL_RESERVED_BEGIN] = "reserved_smem_offset_begin",
    [SPECIAL_RESERVED_END] = "reserved_smem_offset_end",
    [SPECIAL_RESERVED_SIZE] = "reserved_smem_offset_cap",
    [SPECIAL_RESERVED_0] = "reserved_smem_offset_0",
    [SPECIAL_RESERVED_1] = "reserved_smem_offset_1",
};

/* ---- memory ---- */

static int put(int *used, int bytes, int align) {
    const int at = (*used + align - 1) / align * align;
    *used = at + bytes;
    return at;
}

/* The parameters of several calls have the same names, and one place: none outlives its call. */
static bool has_space(struct ptx_variable *v, int i) {
    for (int j = 0; j < i; ++j)
        if (v[j].space == SPACE_LOCAL && !strcmp(v[j].name, v[i].name)) return true;
    return false;
}

/* And that is large enough for each of them. */
static void make_room(struct ptx_variable *v, int i, int count) {
    for (int j = i + 1; j < count; ++j) {
        if (v[j].space != SPACE_PARAM || strcmp(v[j].name, v[i].name) != 0) continue;
        if (v[i].bytes < v[j].bytes) v[i].bytes = v[j].bytes;
        if (v[i].align < v[j].align) v[i].align = v[j].align;
    }
}

/* Variables with a size come first, then the array without one, which the launch gives the rest. */
static void lay_out(struct program *kernel, struct program *p, struct ptx_variable *v, int count) {
    for (int i = 0; i < count; ++i) {
        if (v[i].space == SPACE_PARAM) { /* what a call passes */
            if (has_space(v, i)) continue;
            make_room(v, i, count);
            v[i].space = SPACE_LOCAL;
        }
        if (v[i].space == SPACE_LOCAL)
            v[i].offset = (size_t)put(&p->local_bytes, (int)v[i].bytes, (int)v[i].align);
        if (v[i].space != SPACE_SHARED) continue;
        if (kernel->static_shared_align < (int)v[i].align)
            kernel->static_shared_align = (int)v[i].align;
        if (v[i].bytes)
            v[i].offset =
                (size_t)put(&kernel->static_shared_bytes, (int)v[i].bytes, (int)v[i].align);
    }
}

static void lay_out_dynamic(struct program *p, struct ptx_variable *v) {
    int used = p->static_shared_bytes;
    v->offset = (size_t)put(&used, 0, (int)v->align);
    p->dynamic_shared = true;
    if (p->dynamic_shared_offset < used) p->dynamic_shared_offset = used;
}

static bool operand_names(const struct ptx_operand *o, const char *name) {
    if (o->kind == OPERAND_SYMBOL && !strcmp(o->name, name)) return true;
    for (int i = 0; i < o->parts; ++i)
        if (operand_names(&o->part[i], name)) return true;
    return false;
}

static bool function_names(const struct ptx_function *f, const char *name) {
    for (int i = 0; i < f->instructions; ++i)
        for (int j = 0; j < f->instruction[i].operands; ++j)
            if (operand_names(&f->instruction[i].operand[j], name)) return true;
    return false;
}

static bool kernel_names(const struct program *kernel, const char *name) {
    if (function_names(kernel->function, name)) return true;
    for (int i = 0; i < kernel->functions_called; ++i)
        if (function_names(kernel->function_called[i]->function, name)) return true;
    return false;
}

/* Shared memory is a kernel's if it names it: a module has that of all its kernels. */
static void lay_out_module(struct program *kernel, struct ptx_module *module) {
    for (int with_size = 1; with_size >= 0; --with_size)
        for (int i = 0; i < module->variables; ++i) {
            struct ptx_variable *const v = &module->variable[i];
            if (v->space != SPACE_SHARED || (v->bytes > 0) != with_size) continue;
            if (!kernel_names(kernel, v->name)) continue;
            lay_out(kernel, kernel, v, 1);
            if (!with_size) lay_out_dynamic(kernel, v);
        }
}

/* ---- registers that a wgmma uses ---- */

static void add_touches(struct decoder *d, const struct ptx_operand *operand) {
    if (operand->kind == OPERAND_REGISTER && d->slots.of_wgmma[operand->reg])
        *ARENA_PUSH(&d->module->arena, d->op->touch, d->op->touches) = d->slots.at[operand->reg];
    for (int i = 0; i < operand->parts; ++i)
        add_touches(d, &operand->part[i]);
}

/* Copies are none: compilers move them across wgmma.fence, and whoever uses the copy is found. */
static void find_touches(struct decoder *d) {
    const struct ptx_instruction *const s = d->source;
    if (!strncmp(s->opcode, "mov.", 4) || !strncmp(s->opcode, "wgmma.", 6)) return;
    const bool stores = !strncmp(s->opcode, "st", 2) || !strncmp(s->opcode, "red", 3);
    for (int i = !stores; i < s->operands; ++i)
        add_touches(d, &s->operand[i]);
    d->op->read = d->op->touches;
    if (!stores && s->operands) add_touches(d, &s->operand[0]);
    if (d->op->touches) d->op->flow = FLOW_UNIT;
}

/* ---- decoding ---- */

static void note_refusal(struct decoder *d) {
    struct program *const p = d->program;
    for (int i = 0; i < p->refusals; ++i)
        if (!strcmp(p->refusal[i].first->opcode, d->source->opcode)) {
            ++p->refusal[i].count;
            return;
        }
    *ARENA_PUSH(&d->module->arena, p->refusal, p->refusals) =
        (struct refusal){d->source, d->why, 1};
}

static void decode(struct decoder *d, int i) {
    struct operation *const op = &d->program->operation[i];
    d->source = &d->program->function->instruction[i];
    d->op = op;
    d->why = NULL;
    op->source = d->source;
    op->guard = d->source->guard < 0 ? -1 : d->slots.at[d->source->guard];
    op->guard_negated = d->source->guard_negated;
    op->file = site_file(d->module, d->source, &op->line);
    if (d->source->target >= 0) {
        op->flow = FLOW_BRANCH;
        op->target = d->source->target;
    } else if (targets_of(d->program->function, d->source)) {
        const struct ptx_targets *const list = targets_of(d->program->function, d->source);
        op->flow = FLOW_TABLE;
        op->list = list->target;
        op->listed = list->targets;
        op->at[0] = read_operand(d, &d->source->operand[0], 'w');
    } else if (!strcmp(d->source->opcode, "exit")) {
        op->flow = FLOW_EXIT;
    } else if (!strcmp(d->source->opcode, "ret") || !strcmp(d->source->opcode, "ret.uni")) {
        op->flow = FLOW_RETURN;
    } else {
        instruction_decode(d);
        find_touches(d);
    }
    if (d->why) note_refusal(d);
}

/* What every thread's frame begins with: the patterns of registers that have no value, and
 * constants. */
static void make_image(struct decoder *d) {
    struct program *const p = d->program;
    const uint32_t word = SIM_UNSET_WORD, sum = SIM_UNSET_FLOAT;
    p->frame_bytes = (d->used + 15) & ~15;
    p->image = arena_alloc(&d->module->arena, (size_t)p->frame_bytes);
    for (int at = 0; at < d->slots.bytes; at += 4) {
        const bool is_sum = at >= d->slots.floats && at < d->slots.floats_end;
        memcpy(p->image + at, is_sum ? &sum : &word, sizeof word);
    }
    for (int i = 0; i < d->constants; ++i)
        memcpy(p->image + d->constant[i].at, &d->constant[i].bits, (size_t)d->constant[i].bytes);
}

struct program *program_called(const struct decoder *d, const char *name) {
    const struct program *const kernel = d->kernel;
    for (int i = 0; i < kernel->functions_called; ++i)
        if (!strcmp(kernel->function_called[i]->function->name, name))
            return kernel->function_called[i];
    return NULL;
}

static void add_called(struct ptx_module *module, struct program *kernel, const char *name) {
    struct ptx_function *f = NULL;
    for (int i = 0; i < module->functions; ++i)
        if (module->function[i].defined && !strcmp(module->function[i].name, name))
            f = &module->function[i];
    for (int i = 0; f && i < kernel->functions_called; ++i)
        if (kernel->function_called[i]->function == f) return;
    if (!f) return;
    struct program *const p = arena_alloc(&module->arena, sizeof *p);
    p->module = module;
    p->function = f;
    lay_out(kernel, p, f->variable, f->variables);
    *ARENA_PUSH(&module->arena, kernel->function_called, kernel->functions_called) = p;
}

/* All functions that instructions of this one name: their shared memory is part of the kernel's. */
static void find_called(struct ptx_module *module, struct program *kernel,
                        const struct ptx_function *f) {
    for (int i = 0; i < f->instructions; ++i) {
        const struct ptx_instruction *const s = &f->instruction[i];
        for (int j = 0; j < s->operands; ++j)
            if (s->operand[j].kind == OPERAND_SYMBOL)
                add_called(module, kernel, s->operand[j].name);
    }
}

/* And those that variables of the module point to. */
static void find_pointed_to(struct ptx_module *module, struct program *kernel) {
    for (int i = 0; i < module->variables; ++i)
        for (int j = 0; j < module->variable[i].symbol_count; ++j)
            add_called(module, kernel, module->variable[i].symbols[j].symbol);
}

static void decode_body(struct ptx_module *module, struct program *kernel, struct program *p) {
    static struct decoder d; /* the words of an opcode are large */
    const struct ptx_function *const f = p->function;
    p->operations = f->instructions + 1; /* the end of the body ends the thread, too */
    p->operation = arena_alloc(&module->arena, (size_t)p->operations * sizeof *p->operation);
    p->operation[f->instructions] = (struct operation){.flow = FLOW_RETURN, .guard = -1};
    memset(&d, 0, sizeof d);
    d.module = module;
    d.program = p;
    d.kernel = kernel;
    d.slots = slots_of(f, &module->arena);
    d.used = d.slots.bytes;
    const bool *const reached = reach(f, &module->arena);
    for (int i = 0; i < f->instructions; ++i)
        if (reached[i]) decode(&d, i);
    make_image(&d);
}

struct program *program_of(struct ptx_module *module, struct ptx_function *f) {
    struct program *const p = arena_alloc(&module->arena, sizeof *p);
    p->module = module;
    p->function = f;
    p->static_shared_align = 16;
    lay_out(p, p, f->variable, f->variables);
    find_called(module, p, f);
    find_pointed_to(module, p);
    for (int i = 0; i < p->functions_called; ++i) /* which adds to them */
        find_called(module, p, p->function_called[i]->function);
    lay_out_module(p, module);
    decode_body(module, p, p);
    for (int i = 0; i < p->functions_called; ++i) {
        struct program *const called = p->function_called[i];
        decode_body(module, p, called);
        for (int j = 0; j < called->refusals; ++j)
            *ARENA_PUSH(&module->arena, p->refusal, p->refusals) = called->refusal[j];
    }
    return p;
}
