/* elf.c: sections and dynamic symbols. elf(5). */
#include "command/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool inside(const struct elf *elf, uint64_t offset, uint64_t bytes) {
    return offset <= elf->size && bytes <= elf->size - offset;
}

static const char *text_at(const char *names, size_t size, size_t at) {
    return at < size && memchr(names + at, 0, size - at) ? names + at : "";
}

static void note_section(struct elf *elf, const Elf64_Ehdr *header, const Elf64_Shdr *section,
                         const Elf64_Shdr *s) {
    const Elf64_Shdr *const texts = &section[header->e_shstrndx];
    const char *const name =
        header->e_shstrndx < header->e_shnum && inside(elf, texts->sh_offset, texts->sh_size)
            ? text_at((const char *)elf->bytes + texts->sh_offset, texts->sh_size, s->sh_name)
            : "";
    if (!strcmp(name, ".nv_fatbin")) elf->has_cuda = true;
    if (s->sh_type != SHT_DYNSYM || s->sh_link >= header->e_shnum) return;
    const Elf64_Shdr *const names = &section[s->sh_link];
    if (!inside(elf, s->sh_offset, s->sh_size) || !inside(elf, names->sh_offset, names->sh_size))
        return;
    elf->symbols = elf->bytes + s->sh_offset;
    elf->symbol_count = s->sh_size / sizeof(Elf64_Sym);
    elf->names = (const char *)elf->bytes + names->sh_offset;
    elf->names_size = names->sh_size;
}

static bool read_headers(struct elf *elf) {
    Elf64_Ehdr header;
    if (elf->size < sizeof header) return false;
    memcpy(&header, elf->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    if (!inside(elf, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr)) ||
        !inside(elf, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr p;
        memcpy(&p, elf->bytes + header.e_phoff + (size_t)i * sizeof p, sizeof p);
        if (p.p_type == PT_INTERP) elf->dynamic = true;
    }
    const Elf64_Shdr *const section =
        (const Elf64_Shdr *)(const void *)(elf->bytes + header.e_shoff);
    for (int i = 0; i < header.e_shnum; ++i)
        note_section(elf, &header, section, &section[i]);
    return true;
}

bool elf_open(const char *path, struct elf *elf) {
    struct stat status;
    *elf = (struct elf){.bytes = NULL};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    if (!fstat(file, &status) && status.st_size > 0) {
        void *const at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) {
            elf->bytes = at;
            elf->size = (size_t)status.st_size;
        }
    }
    close(file);
    if (elf->bytes && read_headers(elf)) return true;
    elf_close(elf);
    return false;
}

void elf_close(struct elf *elf) {
    if (elf->bytes) munmap((void *)(uintptr_t)elf->bytes, elf->size);
    elf->bytes = NULL;
}

static const char *next(const struct elf *elf, size_t *i, bool defined) {
    for (; *i < elf->symbol_count; ++*i) {
        Elf64_Sym s;
        memcpy(&s, (const char *)elf->symbols + *i * sizeof s, sizeof s);
        const char *const name = text_at(elf->names, elf->names_size, s.st_name);
        if (!*name || (s.st_shndx != SHN_UNDEF) != defined) continue;
        if (!defined && ELF64_ST_BIND(s.st_info) == STB_WEAK) continue;
        ++*i;
        return name;
    }
    return NULL;
}

const char *elf_needs(const struct elf *elf, size_t *i) { return next(elf, i, false); }
const char *elf_offers(const struct elf *elf, size_t *i) { return next(elf, i, true); }
