/*
 * release.h: order through words of global memory: releases, acquires, fences, and their scopes.
 *
 * PTX ISA, "Memory Consistency Model": a *release pattern* is a write with .release, or a fence and
 * then a write; an *acquire pattern* is a read with .acquire, or a read and then a fence. Where the
 * read sees the write, or an atomic that has followed upon it, everything before the first pattern
 * comes before everything behind the second, provided that each scope contains the other thread.
 */
#ifndef SIM_ORDER_RELEASE_H
#define SIM_ORDER_RELEASE_H

#include "sim/core/threads.h"

/* Widening: each contains those before it. */
enum sim_scope { SIM_SCOPE_CTA, SIM_SCOPE_CLUSTER, SIM_SCOPE_GPU, SIM_SCOPE_SYS };
extern const char *const scope_names[]; /* ".cta", ... */

enum sim_semantics {
    SIM_RELAXED = 0,
    SIM_ACQUIRE = 1,
    SIM_RELEASE = 2,
    SIM_ACQ_REL = 3,
    SIM_SC = 7 /* of fences alone: sequential_fences.h */
};

/* The scopes that contain a thread, and the launch that it is of. */
struct sim_scopes {
    int launch;               /* of those that follow each other in the run */
    int device, cluster, cta; /* indices; cluster and CTA in the grids of all of them */
};
struct sim_scopes sim_scopes_of(const struct sim_thread *thread);
/* The same of a thread that may have ended: `thread` counts in the cluster. */
struct sim_scopes sim_scopes_at(int cluster, int thread);
/* The narrowest scope that contains both. */
enum sim_scope sim_distance(struct sim_scopes a, struct sim_scopes b);

/* ---- what a thread does ---- */

/* Writes a word: with `semantics`, and behind the thread's fences. An atomic (`rmw`) leaves what
 * the word carries; any other write begins anew. */
void release_write(struct sim_thread *thread, const void *word, enum sim_semantics semantics,
                   enum sim_scope scope, bool rmw);
/* Reads a word, and acquires what it carries, now or at a later fence. */
void release_read(struct sim_thread *thread, const void *word, enum sim_semantics semantics,
                  enum sim_scope scope);
/* fence.acq_rel, or of `semantics` the half; fence.sc. */
void release_fence(struct sim_thread *thread, enum sim_semantics semantics, enum sim_scope scope);
/* Patterns of an mbarrier. A relaxed wait has seen what this CTA's arrivals and copies have
 * released, and in `cluster` what others' have (NULL: nothing): for a fence behind it. */
void release_waited(struct sim_thread *thread, const struct sim_sync *cta,
                    const struct sim_sync *cluster, int slot, uint32_t epoch);
/* A relaxed arrival takes along what the thread's fences of this scope, and of wider ones, have
 * released. */
void release_arrive(struct sim_thread *thread, struct sim_sync *sync, enum sim_scope least);
/* An ordinary store to these bytes: words there carry nothing any more. */
void release_forget(const void *pointer, size_t bytes);

void release_launch_begins(void);

/* ---- for reports ---- */

/* Why something that a word carried did not come to be ordered before the thread that read it. */
enum release_failure {
    RELEASE_PENDING,      /* no acquire has followed upon the read */
    RELEASE_NONE,         /* nothing has released it before the write */
    RELEASE_TOO_NARROW,   /* the scope of the release, or of the write */
    RELEASE_READ_NARROW,  /* the scope of the read */
    RELEASE_FENCE_NARROW, /* the scope of the fence behind the read */
};

/* A release, in a word, or as a thread has seen it. */
struct release {
    struct release *next;
    struct sim_scopes writer;       /* of the thread that wrote */
    int slot;                       /* its slot in the cluster */
    enum sim_scope scope;           /* the narrower of the fence's and the write's */
    uint16_t site, write_site;      /* of what releases (a fence or the write), of the write */
    bool hollow;                    /* a relaxed write with no fence before it: releases nothing */
    enum release_failure failure;   /* as seen */
    uint16_t read_site, fence_site; /* as seen: of the read, of a fence that was too narrow */
    enum sim_scope acquire_scope;   /* as seen: of what was too narrow */
    struct sim_sync sync;
};

/* What a thread of this one's CTA has seen of this access, in vain; NULL: nothing. */
const struct release *release_seen(const struct sim_thread *thread, int cluster, int slot,
                                   uint32_t epoch);

#endif
