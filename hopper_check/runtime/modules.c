/* modules.c: registered fat binaries, and the PTX in them. */
#include "runtime/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/launch.h"
#include "program/sites.h"
#include "ptx/demangle.h"
#include "runtime/advice.h"
#include "runtime/fat_binary.h"
#include "runtime/outputs.h"
#include "runtime/session.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"

struct symbol {
    const void *host;
    const char *name;
    struct module *module;
    size_t bytes;
    struct symbol *next;
};

struct module {
    const void *binary; /* NULL once it has been parsed */
    struct ptx_module *ptx;
};

static struct kernel *kernels;
static struct symbol *symbols;
static struct arena names;

struct module *module_new(const void *binary) {
    struct module *const module = host_zeroed(1, sizeof *module, "a module");
    module->binary = binary;
    return module;
}

/* ---- PTX ---- */

static bool has_lines(const struct ptx_module *ptx) {
    for (int i = 0; i < ptx->functions; ++i)
        for (int j = 0; j < ptx->function[i].instructions; ++j)
            if (ptx->function[i].instruction[j].place) return true;
    return false;
}

static void parse(struct module *module, const char *name, const char *text) {
    char error[512] = "", file[300];
    snprintf(file, sizeof file, "%s%s", *name ? name : "program", " (PTX)");
    module->ptx = ptx_parse(arena_text(&names, file, strlen(file)), text, error, sizeof error);
    module->binary = NULL;
    if (!module->ptx)
        session_refuse(REFUSED_INCOMPLETE, "the program's PTX cannot be read: %s", error);
    if (!has_lines(module->ptx))
        session_note("the program has no lines, so reports have those of its PTX; " BUILD_ADVICE);
    if (!launch_place_variables(module->ptx))
        session_refuse(REFUSED_INCOMPLETE, "the variables of %s cannot be placed",
                       module->ptx->file);
}

struct module *module_of_text(const char *text) {
    struct module *const module = module_new(NULL);
    parse(module, "", text);
    return module;
}

static struct ptx_module *ptx_of(struct module *module) {
    struct fat_ptx found;
    if (module->ptx) return module->ptx;
    session_get();
    if (!module->binary || !fat_binary_ptx(module->binary, &found))
        session_refuse(REFUSED_INPUT, "the program's kernels are in a form that is not known; " //
                       BUILD_ADVICE);
    if (!found.text && found.others)
        session_refuse(REFUSED_INPUT,
                       "the program's PTX is for a target after sm_90a, which is not "
                       "modelled; " BUILD_ADVICE);
    if (!found.text)
        session_refuse(
            REFUSED_INPUT,
            "the program has machine code and no PTX, or it is relocatable device code "
            "(-rdc=true, as dynamic parallelism needs it), which is not read; " BUILD_ADVICE);
    parse(module, found.name, found.text);
    free(found.text);
    return module->ptx;
}

/* ---- kernels ---- */

static struct kernel *add(struct module *module, const void *host, const char *name) {
    struct kernel *const k = host_zeroed(1, sizeof *k, "a kernel");
    const char *const kept = arena_text(&names, name, strlen(name));
    *k = (struct kernel){.host = host,
                         .name = kept,
                         .shown = demangle(&names, kept),
                         .module = module,
                         .next = kernels};
    return kernels = k;
}

void module_add_kernel(struct module *module, const void *host, const char *name) {
    session_enter();
    add(module, host, name);
    session_leave();
}

static void refuse_instructions(const struct kernel *k) {
    char text[1800];
    size_t used = 0;
    const struct program *const p = k->program;
    for (int i = 0; i < p->refusals && used < sizeof text; ++i) {
        int line;
        const char *const file = site_file(p->module, p->refusal[i].first, &line);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s:%d: %s (%d times): %s",
                             i ? "; " : "", source_name(file), line, p->refusal[i].first->opcode,
                             p->refusal[i].count, p->refusal[i].why);
    }
    session_refuse(REFUSED_INCOMPLETE, "%s has what is not modelled: %s", k->shown, text);
}

/* Itself, or a function that it may call. */
static bool launches_dependents(const struct ptx_module *ptx, const struct ptx_function *kernel) {
    for (int i = 0; i < ptx->functions; ++i) {
        const struct ptx_function *const f = &ptx->function[i];
        for (int j = 0; j < f->instructions && (f == kernel || !f->entry); ++j)
            if (!strcmp(f->instruction[j].opcode, "griddepcontrol.launch_dependents")) return true;
    }
    return false;
}

static bool prepare(struct kernel *k) {
    if (k->program) return true;
    struct ptx_module *const ptx = ptx_of(k->module);
    for (int i = 0; i < ptx->functions && !k->function; ++i)
        if (ptx->function[i].entry && ptx->function[i].defined &&
            !strcmp(ptx->function[i].name, k->name))
            k->function = &ptx->function[i];
    if (!k->function) return false;
    k->program = program_of(ptx, k->function);
    if (k->program->refusals) refuse_instructions(k);
    k->outputs = outputs_of(ptx, k->function);
    k->lets_next = launches_dependents(ptx, k->function);
    return true;
}

struct kernel *kernel_find(const void *handle) {
    for (struct kernel *k = kernels; k; k = k->next) {
        if ((k->host != handle || !handle) && k != handle) continue;
        if (!prepare(k))
            session_refuse(REFUSED_INPUT, "the program's PTX has no kernel %s; " BUILD_ADVICE,
                           k->shown);
        return k;
    }
    return NULL;
}

struct kernel *module_kernel(struct module *module, const char *name) {
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->module == module && !strcmp(k->name, name)) return prepare(k) ? k : NULL;
    struct kernel *const k = add(module, NULL, name);
    if (prepare(k)) return k;
    kernels = k->next;
    free(k);
    return NULL;
}

/* ---- variables ---- */

void module_add_symbol(struct module *module, const void *host, const char *name, size_t bytes) {
    session_enter();
    struct symbol *const s = host_zeroed(1, sizeof *s, "a variable");
    *s = (struct symbol){host, arena_text(&names, name, strlen(name)), module, bytes, symbols};
    symbols = s;
    session_leave();
}

void *module_symbol(struct module *module, const char *name, size_t *bytes) {
    const struct ptx_module *const ptx = ptx_of(module);
    for (int i = 0; i < ptx->variables; ++i)
        if (ptx->variable[i].memory && !strcmp(ptx->variable[i].name, name)) {
            *bytes = ptx->variable[i].bytes;
            return ptx->variable[i].memory;
        }
    return NULL;
}

void *symbol_find(const void *host, size_t *bytes) {
    for (const struct symbol *s = symbols; s; s = s->next)
        if (s->host == host) return module_symbol(s->module, s->name, bytes);
    return NULL;
}
