/* function_name.c: the symbol table of the object that the function lies in. elf(5). */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "function_name.h"

/* `count` elements at this place of the file; to be freed. NULL: there are none. */
static void *read_at(FILE *file, uint64_t offset, size_t count, size_t element) {
    void *const memory = count ? calloc(count, element) : NULL;
    if (memory && !fseek(file, (long)offset, SEEK_SET) &&
        fread(memory, element, count, file) == count)
        return memory;
    free(memory);
    return NULL;
}

static bool find(FILE *file, const Elf64_Shdr *symbols, const Elf64_Shdr *names, uint64_t address,
                 char *text, size_t size) {
    const size_t count = symbols->sh_size / sizeof(Elf64_Sym);
    Elf64_Sym *const symbol = read_at(file, symbols->sh_offset, count, sizeof *symbol);
    char *const name = read_at(file, names->sh_offset, names->sh_size, 1);
    bool found = false;
    for (size_t i = 0; symbol && name && i < count && !found; ++i) {
        found = symbol[i].st_value == address && ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
                symbol[i].st_name < names->sh_size;
        if (found) snprintf(text, size, "%s", name + symbol[i].st_name);
    }
    free(symbol);
    free(name);
    return found;
}

bool function_name(const void *function, char *text, size_t size) {
    Dl_info object;
    if (!dladdr(function, &object)) return false;
    FILE *const file = fopen(object.dli_fname, "rb");
    if (!file) return false;
    const uint64_t address = (uintptr_t)function - (uintptr_t)object.dli_fbase;
    Elf64_Ehdr *const header = read_at(file, 0, 1, sizeof *header);
    Elf64_Shdr *const section =
        header ? read_at(file, header->e_shoff, header->e_shnum, sizeof *section) : NULL;
    bool found = false;
    for (int i = 0; section && i < header->e_shnum && !found; ++i)
        found = section[i].sh_type == SHT_SYMTAB && section[i].sh_link < header->e_shnum &&
                find(file, &section[i], &section[section[i].sh_link], address, text, size);
    free(section);
    free(header);
    fclose(file);
    return found;
}
