/* poll.c: threads that poll words of global memory. */
#include "sim/units/poll.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/global_shadow.h"

static struct sim_wait_queue pollers;

void poll_launch_begins(void) { pollers.head = NULL; }

/* What a thread has loaded, hung on it when it first does. */
struct poll_state {
    const void *word; /* of global memory that it has loaded last */
    uint32_t value;
    uint32_t epoch;     /* of the thread, then */
    int loads;          /* of that word in a row */
    int others;         /* strong loads of others since it was parked */
    const void *before; /* the word of its latest strong access, */
    bool wrote;         /* which was a write */
};

static struct poll_state *state_of(struct sim_thread *thread) {
    if (!thread->poll) thread->poll = sim_arena_alloc(thread->cta->cluster, sizeof *thread->poll);
    return thread->poll;
}

static uint32_t value_of(const void *word) {
    uint32_t value;
    memcpy(&value, (const void *)((uintptr_t)word & ~(uintptr_t)3), sizeof value);
    return value;
}

static void describe_spin(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    char where[96], writer[256];
    const void *const word = (const void *)((uintptr_t)object & ~(uintptr_t)3);
    const struct sim_cluster *const cluster = thread->cta->cluster;
    for (int rank = 0; rank < cluster->ctas; ++rank) {
        const struct sim_cta *const cta = &cluster->cta[rank];
        const size_t offset = (uintptr_t)object - (uintptr_t)cta->shared;
        if (offset >= cta->shared_bytes) continue;
        snprintf(text, size, "polls the word at %s, which stays %u",
                 sim_where(cta, offset, where, sizeof where), value_of(object));
        return;
    }
    snprintf(text, size, "polls the word at %s, which stays %u, %s",
             global_where(object, where, sizeof where), value_of(object),
             global_last_writer(word, sizeof(uint32_t), writer, sizeof writer));
}

static const struct sim_wait wait_for_word = {describe_spin, NULL, false, true};

/* Loads of the word in a row, all alike, with no release or fence in between. */
static int loads_in_a_row(struct sim_thread *thread, const void *word) {
    struct poll_state *const poll = state_of(thread);
    const uint32_t value = value_of(word);
    if (poll->word != word || poll->value != value || poll->epoch != thread->epoch) poll->loads = 0;
    poll->word = word;
    poll->value = value;
    poll->epoch = thread->epoch;
    return poll->loads++;
}

void poll_strong(const void *word) {
    /* A spin on several words in turn: loads since the thread was parked. */
    enum { AT_MOST = 64 };
    struct sim_thread *const thread = sim_thread();
    const bool again = loads_in_a_row(thread, word) > 0;
    if (!again && ++thread->poll->others < AT_MOST) return;
    thread->poll->others = 0;
    sim_park(&pollers, &wait_for_word, word);
}

void poll_between(const void *word, bool write) {
    struct poll_state *const poll = state_of(sim_thread());
    const bool both = poll->before == word && poll->wrote != write;
    poll->before = word;
    poll->wrote = write;
    if (!both || sim.schedule != SCHEDULE_LATE) return;
    while (sim_park(&pollers, &wait_for_word, word)) {
    }
}

void poll_ordinary(const void *pointer) {
    enum { AT_MOST = 16 };
    struct sim_thread *const thread = sim_thread();
    if (loads_in_a_row(thread, pointer) < AT_MOST) return;
    sim_progress();
    sim_park(&pollers, &wait_for_word, pointer);
}

void poll_written(void) { poll_written_later(0); }

void poll_written_later(uint64_t cycles) {
    sim_progress();
    if (pollers.head) sim_wake_all(&pollers, sim_now() + cycles);
}
