/* launch.c: the shape of a launch, the module's variables, and the simulator's launch. */
#include "machine/launch.h"

#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "sim/core/grid.h"

static int count(struct three v) { return v.x * v.y * v.z; }

static const char *name_of(const struct launch *l) { return l->program->function->name; }

static bool refuse(const struct launch *l, const char *why, long have, long limit) {
    fprintf(stderr, "%s: ", name_of(l));
    fprintf(stderr, why, have, limit);
    fputc('\n', stderr);
    return false;
}

static bool same(const int declared[3], struct three given) {
    return !declared[0] ||
           (declared[0] == given.x && declared[1] == given.y && declared[2] == given.z);
}

bool launch_acceptable(const struct launch *l) {
    const struct program *const p = l->program;
    const struct ptx_function *const f = p->function;
    const long most = (long)f->max_threads[0] * f->max_threads[1] * f->max_threads[2];
    if (most && count(l->block) > most)
        return refuse(l, "%ld threads of a CTA, but .maxntid says %ld", count(l->block), most);
    if (!same(f->required_threads, l->block))
        return refuse(l, "%ld threads of a CTA, but .reqntid says %ld along x", count(l->block),
                      f->required_threads[0]);
    if (!same(f->cluster, l->cluster))
        return refuse(l, "clusters of %ld CTAs, but .reqnctapercluster says %ld along x",
                      count(l->cluster), f->cluster[0]);
    if (l->grid.x % l->cluster.x || l->grid.y % l->cluster.y || l->grid.z % l->cluster.z)
        return refuse(l, "a grid of %ld CTAs is not made of clusters of %ld", count(l->grid),
                      count(l->cluster));
    if (p->frame_bytes + p->local_bytes > MOST_STACK_BYTES)
        return refuse(l,
                      "its registers and local memory have %ld bytes for each thread; more than "
                      "%ld are not modelled",
                      p->frame_bytes + p->local_bytes, MOST_STACK_BYTES);
    return true;
}

size_t launch_shared_bytes(const struct launch *l) {
    const struct program *const p = l->program;
    const int at = p->dynamic_shared ? p->dynamic_shared_offset : p->static_shared_bytes;
    return (size_t)(at + l->dynamic_shared_bytes); /* also of a kernel that declares none */
}

size_t launch_reserved_shared_at(const struct launch *l) {
    enum { ALIGNMENT = 128 };
    return (launch_shared_bytes(l) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t all_shared_bytes(const struct launch *l) {
    return l->program->reserved_shared ? launch_reserved_shared_at(l) + RESERVED_SHARED_BYTES
                                       : launch_shared_bytes(l);
}

/* ---- variables of the module, in global memory ---- */

static void place_address(const struct ptx_variable *v, const struct ptx_initializer *at,
                          uintptr_t address) {
    const uint64_t bits =
        (((uint64_t)address + (uint64_t)at->plus) & at->mask) >> __builtin_ctzll(at->mask);
    memcpy((char *)v->memory + at->offset, &bits, (size_t)v->type.bytes);
}

/* A pointer to a function is where the module describes it. */
static bool place_function(const struct ptx_module *m, const struct ptx_variable *v,
                           const struct ptx_initializer *at) {
    for (int i = 0; i < m->functions; ++i) {
        const struct ptx_function *const f = &m->function[i];
        if (!f->defined || strcmp(f->name, at->symbol) != 0) continue;
        place_address(v, at, (uintptr_t)f);
        return true;
    }
    return false;
}

static bool place_symbols(const struct ptx_module *m, const struct ptx_variable *v) {
    for (int i = 0; i < v->symbol_count; ++i) {
        const struct ptx_variable *of = NULL;
        if (place_function(m, v, &v->symbols[i])) continue;
        for (int j = 0; j < m->variables; ++j)
            if (!strcmp(m->variable[j].name, v->symbols[i].symbol)) of = &m->variable[j];
        if (!of || !of->memory) {
            fprintf(stderr, "%s: %s holds the address of %s, which has none here\n", m->file,
                    v->name, v->symbols[i].symbol);
            return false;
        }
        place_address(v, &v->symbols[i], (uintptr_t)of->memory);
    }
    return true;
}

bool launch_place_variables(const struct ptx_module *m) {
    bool placed = true;
    for (int i = 0; i < m->variables; ++i) {
        struct ptx_variable *const v = &m->variable[i];
        if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST) continue;
        v->memory = backend_alloc(v->bytes ? v->bytes : 1, v->name, v->space == SPACE_GLOBAL);
        if (!v->memory) {
            fprintf(stderr, "%s: no memory for %s\n", m->file, v->name);
            return false;
        }
        memset(v->memory, 0, v->bytes);
        if (v->initial) memcpy(v->memory, v->initial, v->bytes);
    }
    for (int i = 0; i < m->variables; ++i)
        if (m->variable[i].memory) placed &= place_symbols(m, &m->variable[i]);
    return placed;
}

void launch_free_variables(const struct ptx_module *m) {
    for (int i = 0; i < m->variables; ++i) {
        if (m->variable[i].memory) backend_free(m->variable[i].memory);
        m->variable[i].memory = NULL;
    }
}

/* ---- */

static int ctas_of(const void *kernel) {
    if (kernel != thread_kernel() || !launch_running) return 0;
    return launch_running->program->function->min_ctas;
}

static struct gemm_launch simulated(const struct launch *l) {
    return (struct gemm_launch){.kernel = thread_kernel(),
                                .name = name_of(l),
                                .grid = count(l->grid),
                                .cluster = count(l->cluster),
                                .threads = count(l->block),
                                .early = l->early ? GEMM_EARLY : GEMM_IN_ORDER,
                                .smem_bytes = all_shared_bytes(l)};
}

/* What the simulator looks up while `l` is under way, and what was there before. */
struct outer {
    int (*bounds)(const void *kernel);
    struct launch *launch;
};

static struct outer enter(struct launch *l) {
    const struct outer outer = {grid_loaded_bounds, launch_running};
    launch_running = l;
    grid_loaded_bounds = ctas_of;
    return outer;
}

static void leave(struct outer outer) {
    grid_loaded_bounds = outer.bounds;
    launch_running = outer.launch;
}

int launch_ask(const struct launch *l, int (*answer)(const struct gemm_launch *launch)) {
    struct launch copy = *l;
    const struct gemm_launch launch = simulated(l);
    const struct outer outer = enter(&copy);
    const int found = answer(&launch);
    leave(outer);
    return found;
}

enum gemm_status launch_run(struct launch *l, const void *args, size_t args_bytes) {
    if (!launch_acceptable(l)) return GEMM_LAUNCH_FAILED;
    const struct gemm_launch launch = simulated(l);
    const struct outer outer = enter(l);
    enum gemm_status status = GEMM_LAUNCH_FAILED;
    if (l->keeps_variables || launch_place_variables(l->program->module))
        status = (gemm_launch_kernel)(&launch, args, args_bytes);
    if (!l->keeps_variables) launch_free_variables(l->program->module);
    leave(outer);
    return status;
}
