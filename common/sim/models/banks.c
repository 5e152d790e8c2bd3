/* banks.c: counting, for each bank, the different words that are wanted of it. */
#include "sim/models/banks.h"

enum { LANES = 32 };

/* Passes that these accesses take together: the most different words that any bank holds. */
static unsigned passes_of(const uint64_t *address, int count, unsigned words) {
    uint64_t held[SHARED_BANKS][LANES];
    int depth[SHARED_BANKS] = {0};
    int most = 0;
    for (int i = 0; i < count; ++i)
        for (unsigned w = 0; w < words; ++w) {
            const uint64_t word = address[i] / SHARED_BANK_BYTES + w;
            const int bank = (int)(word % SHARED_BANKS);
            int j = 0;
            while (j < depth[bank] && held[bank][j] != word)
                ++j;
            if (j < depth[bank]) continue;
            held[bank][depth[bank]++] = word;
            if (most < depth[bank]) most = depth[bank];
        }
    return (unsigned)most;
}

unsigned bank_passes(const uint64_t address[32], uint32_t lanes, unsigned bytes, unsigned *passes) {
    const int together = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    const unsigned words = (bytes + SHARED_BANK_BYTES - 1) / SHARED_BANK_BYTES;
    unsigned extra = 0;
    *passes = 0;
    for (int first = 0; first < LANES; first += together) {
        uint64_t some[LANES];
        int count = 0;
        for (int lane = first; lane < first + together; ++lane)
            if (lanes >> lane & 1) some[count++] = address[lane];
        if (!count) continue;
        const unsigned needed = passes_of(some, count, words);
        *passes += needed;
        extra += needed - 1;
    }
    return extra;
}
