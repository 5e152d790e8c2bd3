/*
 * unpack.h: the two ways in which nvcc compresses.
 */
#ifndef RUNTIME_UNPACK_H
#define RUNTIME_UNPACK_H

#include <stddef.h>

/* Each returns the bytes that it has written to `to`, which has `room`; 0: `from` is damaged. */
/* The LZ4 block format: github.com/lz4/lz4, doc/lz4_Block_format.md. */
size_t unpack_lz4(const unsigned char *from, size_t bytes, unsigned char *to, size_t room);
/* RFC 8878, by the system's libzstd. (size_t)-1: there is none. */
size_t unpack_zstd(const unsigned char *from, size_t bytes, unsigned char *to, size_t room);

#endif
