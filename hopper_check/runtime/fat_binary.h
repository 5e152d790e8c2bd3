/*
 * fat_binary.h: the PTX that nvcc leaves in a program.
 *
 * A fat binary is a header, and entries behind it: machine code or PTX, one of each for every
 * architecture, compressed or not. NVIDIA documents none of it; the fields that are read here are
 * those on which cuobjdump's output and the files of CUDA 12 and 13 agree.
 */
#ifndef RUNTIME_FAT_BINARY_H
#define RUNTIME_FAT_BINARY_H

#include <stdbool.h>
#include <stddef.h>

struct fat_ptx {
    char *text;     /* with a NUL; free it. NULL: there is none that can be used */
    char name[256]; /* of the source file, or empty */
    int others;     /* entries of PTX for later targets, that cannot be used */
    int machine;    /* entries of machine code */
};

/* The PTX for the latest target up to sm_90a. `binary` is what __cudaRegisterFatBinary() or
 * cuModuleLoadData() gets: the wrapper, or the fat binary itself. False: it is neither. Compressed
 * PTX that cannot be unpacked ends the process. */
bool fat_binary_ptx(const void *binary, struct fat_ptx *out);

#endif
