/*
 * mbarrier_state.h: the state of an mbarrier and its transitions, exactly, and nothing else.
 *
 * PTX ISA: "mbarrier": "Phase of the mbarrier object", "Tracking asynchronous operations by the
 * mbarrier object".
 */
#ifndef SIM_MODELS_MBARRIER_STATE_H
#define SIM_MODELS_MBARRIER_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MBARRIER_MAX_ARRIVALS = (1 << 20) - 1,
    MBARRIER_MAX_TX = (1 << 20) - 1 /* of either sign */
};

struct mbarrier_state {
    uint32_t phase;   /* completed phases; the current phase has parity phase % 2 */
    int32_t expected; /* arrivals of every phase */
    int32_t pending;  /* arrivals still to come in the current one */
    int32_t tx;       /* bytes still to come; negative if some came before they were announced */
};

enum mbarrier_error {
    MBARRIER_OK,
    MBARRIER_BAD_COUNT,  /* arrivals outside 1 .. 2^20 - 1 */
    MBARRIER_TOO_MANY,   /* more arrivals than the phase has pending */
    MBARRIER_TX_OVERFLOW /* the tx-count left its range */
};

/* Phase 0 with `arrivals` expected in every phase. */
enum mbarrier_error mbarrier_state_init(struct mbarrier_state *s, int64_t arrivals);

/* Each returns an error and leaves the state as it was, or MBARRIER_OK. *flipped: the phase
 * completed. */
enum mbarrier_error mbarrier_state_expect_tx(struct mbarrier_state *s, int64_t bytes);
enum mbarrier_error mbarrier_state_complete_tx(struct mbarrier_state *s, int64_t bytes,
                                               bool *flipped);
enum mbarrier_error mbarrier_state_arrive(struct mbarrier_state *s, int64_t count, bool *flipped);
/* The same, and later phases expect `count` fewer. */
enum mbarrier_error mbarrier_state_arrive_drop(struct mbarrier_state *s, int64_t count,
                                               bool *flipped);

/* What test_wait.parity answers: the phase of this parity, the current or the one before, has
 * completed. */
static inline bool mbarrier_state_passed(const struct mbarrier_state *s, uint32_t parity) {
    return (s->phase & 1) != (parity & 1);
}

/* What a barrier's 8 bytes hold in the simulator: a tag, a generation that changes with every
 * kernel launch, and the index of its record. Anything else there means that the barrier is not
 * initialized, or was overwritten. */
uint64_t mbarrier_word(uint32_t index, uint32_t generation);
bool mbarrier_word_decode(uint64_t word, uint32_t generation, uint32_t *index);

#endif
