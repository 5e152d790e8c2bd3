/* unpack.c: LZ4 blocks: what they hold, and that a damaged one is refused and never read or written
 * beyond its ends. Zstandard is libzstd's; programs.sh has both as nvcc makes them. */
#include "runtime/unpack.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void expect(const char *what, const char *block, size_t bytes, size_t room,
                   const char *wanted) {
    unsigned char to[512];
    memset(to, '#', sizeof to);
    const size_t size = unpack_lz4((const unsigned char *)block, bytes, to, room);
    const size_t length = strlen(wanted);
    if (size == length && !memcmp(to, wanted, length) && to[room] == '#') return;
    printf("%s: %zu bytes, expected %zu\n", what, size, length);
    failed = 1;
}

/* A literal, a match of 20 that overlaps itself, and the last literals. */
#define BLOCK                                                                                      \
    "\x1f"                                                                                         \
    "a"                                                                                            \
    "\x01\x00"                                                                                     \
    "\x01"                                                                                         \
    "\x30"                                                                                         \
    "end"
#define HELD "aaaaaaaaaaaaaaaaaaaaaend"

int main(void) {
    char block[64];
    const size_t bytes = sizeof BLOCK - 1;
    expect("a block", BLOCK, bytes, 100, HELD);
    expect("no room for the match", BLOCK, bytes, 20, "");
    expect("no room for the literals", BLOCK, bytes, 22, "");
    static const char nowhere[] = {0x10, 'a', 0, 0, 0x10, 'b'};
    static const char too_far[] = {0x10, 'a', 2, 0, 0x10, 'b'};
    expect("a distance of 0", nowhere, sizeof nowhere, 100, "");
    expect("a distance beyond the beginning", too_far, sizeof too_far, 100, "");
    expect("literals that the block does not have", "\xf0\xff\xff\x10", 4, 100, "");
    for (size_t cut = 1; cut < bytes; ++cut) { /* every beginning that ends with no literals */
        memcpy(block, BLOCK, cut);
        unsigned char to[128];
        const size_t size = unpack_lz4((const unsigned char *)block, cut, to, sizeof to);
        if (size != 0 && size != (cut == 2 ? 1 : 0)) {
            printf("the first %zu bytes give %zu\n", cut, size);
            failed = 1;
        }
    }
    return failed;
}
