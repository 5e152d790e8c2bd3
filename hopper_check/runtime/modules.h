/*
 * modules.h: what a program has registered: its kernels and its variables, by the addresses that
 * the host knows them by. PTX is parsed when something of it is first used.
 */
#ifndef RUNTIME_MODULES_H
#define RUNTIME_MODULES_H

#include <stddef.h>

#include "program/program.h"

struct module;

struct kernel {
    const void *host; /* the stub that stands for it in the program; NULL: the driver's */
    const char *name; /* mangled */
    const char *shown;
    struct module *module;
    struct ptx_function *function; /* once it is used */
    struct program *program;
    const struct outputs *outputs;
    bool lets_next;          /* its text may let the next launch begin before its own end */
    int most_dynamic_shared; /* what cudaFuncSetAttribute() has allowed */
    struct kernel *next;
};

/* `binary` is what __cudaRegisterFatBinary() gets. */
struct module *module_new(const void *binary);
/* PTX as text, with a NUL. */
struct module *module_of_text(const char *text);
void module_add_kernel(struct module *module, const void *host, const char *name);
void module_add_symbol(struct module *module, const void *host, const char *name, size_t bytes);

/* By its host address, or the kernel itself; decoded. NULL: nothing is registered there. What is
 * not modelled in it ends the process. */
struct kernel *kernel_find(const void *handle);
/* By its mangled name. NULL: the module has none. */
struct kernel *module_kernel(struct module *module, const char *name);
/* A variable's memory. NULL: there is none. */
void *symbol_find(const void *host, size_t *bytes);
void *module_symbol(struct module *module, const char *name, size_t *bytes);

#endif
