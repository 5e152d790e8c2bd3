/* mbarrier_state.c: transitions of an mbarrier. */
#include "sim/models/mbarrier_state.h"

enum mbarrier_error mbarrier_state_init(struct mbarrier_state *s, int64_t arrivals) {
    if (arrivals < 1 || arrivals > MBARRIER_MAX_ARRIVALS) return MBARRIER_BAD_COUNT;
    *s = (struct mbarrier_state){.expected = (int32_t)arrivals, .pending = (int32_t)arrivals};
    return MBARRIER_OK;
}

/* The phase completes the moment that neither arrivals nor bytes are missing. */
static bool complete_phase(struct mbarrier_state *s) {
    if (s->pending != 0 || s->tx != 0) return false;
    ++s->phase;
    s->pending = s->expected;
    return true;
}

static enum mbarrier_error add_tx(struct mbarrier_state *s, int64_t bytes) {
    const int64_t tx = s->tx + bytes;
    if (tx < -MBARRIER_MAX_TX || tx > MBARRIER_MAX_TX) return MBARRIER_TX_OVERFLOW;
    s->tx = (int32_t)tx;
    return MBARRIER_OK;
}

enum mbarrier_error mbarrier_state_expect_tx(struct mbarrier_state *s, int64_t bytes) {
    if (bytes < 0 || bytes > MBARRIER_MAX_TX) return MBARRIER_TX_OVERFLOW;
    return add_tx(s, bytes);
}

enum mbarrier_error mbarrier_state_complete_tx(struct mbarrier_state *s, int64_t bytes,
                                               bool *flipped) {
    *flipped = false;
    if (bytes < 0 || bytes > MBARRIER_MAX_TX) return MBARRIER_TX_OVERFLOW;
    const enum mbarrier_error error = add_tx(s, -bytes);
    if (!error) *flipped = complete_phase(s);
    return error;
}

enum mbarrier_error mbarrier_state_arrive(struct mbarrier_state *s, int64_t count, bool *flipped) {
    *flipped = false;
    if (count < 1 || count > MBARRIER_MAX_ARRIVALS) return MBARRIER_BAD_COUNT;
    if (count > s->pending) return MBARRIER_TOO_MANY;
    s->pending -= (int32_t)count;
    *flipped = complete_phase(s);
    return MBARRIER_OK;
}

enum mbarrier_error mbarrier_state_arrive_drop(struct mbarrier_state *s, int64_t count,
                                               bool *flipped) {
    const int32_t expected = s->expected;
    if (count >= 1 && count <= s->pending) s->expected -= (int32_t)count;
    const enum mbarrier_error error = mbarrier_state_arrive(s, count, flipped);
    if (error) s->expected = expected;
    return error;
}

enum { WORD_TAG = 0x6d62 };
/* So that small numbers stored over half of a barrier are noticed, too. */
#define INDEX_MASK 0x9e3779b9u

uint64_t mbarrier_word(uint32_t index, uint32_t generation) {
    return (uint64_t)WORD_TAG << 48 | (uint64_t)(generation & 0xffff) << 32 | (index ^ INDEX_MASK);
}

bool mbarrier_word_decode(uint64_t word, uint32_t generation, uint32_t *index) {
    *index = (uint32_t)word ^ INDEX_MASK;
    return word >> 48 == WORD_TAG && (word >> 32 & 0xffff) == (generation & 0xffff);
}
