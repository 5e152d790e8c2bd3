/*
 * elf.h: what a program's file says of it, before it is started.
 */
#ifndef COMMAND_ELF_H
#define COMMAND_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct elf {
    const unsigned char *bytes;
    size_t size;
    bool dynamic;  /* a loader finds its libraries */
    bool has_cuda; /* it holds kernels: a section of fat binaries */
    const void *symbols;
    size_t symbol_count;
    const char *names;
    size_t names_size;
};

/* False: the file cannot be read, or is none of this machine's executables and libraries. */
bool elf_open(const char *path, struct elf *elf);
void elf_close(struct elf *elf);
/* The i-th name that it needs from others, or offers to them; NULL: there are no more. *i goes
 * on. */
const char *elf_needs(const struct elf *elf, size_t *i);
const char *elf_offers(const struct elf *elf, size_t *i);

#endif
