/* known_clocks.c: what a thread knows of threads in other clusters. */
#include "sim/order/known_clocks.h"

#include "sim/core/storage.h"
#include "sim/order/clock.h"

const struct sim_sync *known_get(const struct sim_known *known, int cluster) {
    for (; known; known = known->next)
        if (known->cluster == cluster) return &known->sync;
    return NULL;
}

struct sim_sync *known_of(struct sim_cluster *owner, struct sim_known **known, int cluster) {
    for (struct sim_known *k = *known; k; k = k->next)
        if (k->cluster == cluster) return &k->sync;
    struct sim_known *k = sim_arena_alloc(owner, sizeof *k);
    k->cluster = cluster;
    k->next = *known;
    *known = k;
    return &k->sync;
}

/* The clocks alone: of one cluster. */
static void join_clocks(struct sim_cluster *owner, struct sim_sync *into,
                        const struct sim_sync *from) {
    sim_clock_join(owner, &into->c, &from->c);
    sim_clock_join(owner, &into->p, &from->p);
    sim_clock_join(owner, &into->g, &from->g);
}

void known_join(struct sim_cluster *owner, struct sim_known **into, const struct sim_known *from) {
    for (; from; from = from->next)
        join_clocks(owner, known_of(owner, into, from->cluster), &from->sync);
}

void known_clear(struct sim_known *known) {
    for (; known; known = known->next)
        sim_sync_clear(&known->sync);
}

static void learn(struct sim_thread *thread, int cluster, const struct sim_sync *sync) {
    struct sim_cluster *own = thread->cta->cluster;
    if (cluster == own->index)
        sim_acquire(thread, &(struct sim_sync){sync->c, sync->p, sync->g, NULL, sync->x});
    else
        join_clocks(own, known_of(own, &thread->known, cluster), sync);
}

void known_acquire(struct sim_thread *thread, int cluster, const struct sim_sync *sync) {
    learn(thread, cluster, sync);
    for (const struct sim_known *k = sync->known; k; k = k->next)
        learn(thread, k->cluster, &k->sync);
}
