/*
 * global_shadow.h: who has accessed each 16 bytes of global memory in this launch, and whether the
 * next access is ordered after it.
 *
 * Only memory that kernels may write is followed (GLOBAL_WRITABLE). A launch begins with nothing:
 * all that came before it on the stream is ordered. Of several launches that follow each other on
 * several devices only the first one does (launch_order.h).
 */
#ifndef SIM_ORDER_GLOBAL_SHADOW_H
#define SIM_ORDER_GLOBAL_SHADOW_H

#include "sim/core/global_memory.h"
#include "sim/order/release.h"

/* What makes an access; those from GLOBAL_TMA_LOAD on belong to the async proxy. */
enum global_how {
    GLOBAL_LD_ST,
    GLOBAL_STRONG, /* ld, st, atom or red with semantics and a scope */
    GLOBAL_CP_ASYNC,
    GLOBAL_TMA_LOAD,
    GLOBAL_TMA_MAP, /* the TMA reads a tensor map, through the tensormap proxy: map_order.h */
    GLOBAL_TMA_STORE,
    GLOBAL_TMA_REDUCE /* relaxed atomics of .gpu scope */
};

/* An ordinary access by T, now: checked and recorded. */
void sim_global_generic(struct sim_thread *thread, const void *pointer, size_t bytes,
                        enum sim_access access);
/* The same of a write that brings these bytes, before they are in memory. NULL: not known. */
void sim_global_store(struct sim_thread *thread, const void *pointer, size_t bytes,
                      const void *value);
/* A relaxed access, or a stronger one. An atomic is a write that keeps what others have added. The
 * order that it makes is release.h's: call this first. */
enum global_strong { STRONG_LOAD, STRONG_STORE, STRONG_ADD, STRONG_ADD_ZERO };
void sim_global_strong(struct sim_thread *thread, const void *pointer, size_t bytes,
                       enum global_strong access, enum sim_scope scope);
/* An access that an async unit makes some time after T issues it here; complete when T's cluster
 * reaches `epoch` of `slot`. */
void sim_global_async(struct sim_thread *thread, const void *pointer, size_t bytes,
                      enum global_how how, int slot, uint32_t epoch);
/* The same of a TMA store, which will bring these bytes. */
void sim_global_tma_store(struct sim_thread *thread, const void *pointer, size_t bytes,
                          const void *value, int slot, uint32_t epoch);
/* The byte there that a TMA store under way will bring, the newest of (slot, epoch) of the cluster.
 * NULL: none will, they are complete. hooks.c sets it. */
extern const unsigned char *(*global_under_way)(int cluster, int slot, uint32_t epoch,
                                                const void *at);
/* A generic write that belongs to no single thread: complete when T's cluster reaches `epoch` of
 * `slot`. T is one of those that make it, and is checked. */
void sim_global_write_by(struct sim_thread *thread, const void *pointer, size_t bytes, int slot,
                         uint32_t epoch);
/* fence.proxy.async.global: what is ordered before T's next access is also ordered before what the
 * async proxy does to global memory later. */
void sim_global_proxy_fence(struct sim_thread *thread);

/* Has a launch written to this allocation that may still be running when the present one begins,
 * because it and all that follow it are early? */
bool global_written_ahead(const void *pointer);

/* Has an earlier launch written to this allocation, and the host not since? */
bool global_written_before(const void *pointer);
/* The host writes to it, between launches. */
void global_written_by_host(const void *pointer);

void global_shadow_launch_begins(void);

/* ---- between global_shadow.c, global_report.c and map_order.c ---- */

struct global_record {
    uint32_t epoch;
    uint32_t issued;  /* of the thread: its epoch when it issued an asynchronous access */
    uint32_t cluster; /* index in the grid; its memory may be another cluster's by now */
    uint32_t next;    /* of the same cell; 0: none */
    uint16_t slot, site;
    uint16_t bytes;       /* mask */
    uint16_t thread : 14; /* in the cluster */
    uint16_t write : 1;
    uint8_t scope : 2; /* if strong */
    uint8_t how : 3;
    uint8_t strong : 2; /* enum global_strong, of GLOBAL_STRONG */
    uint8_t equal : 1;  /* not ordered before the write in the making, which brings the same */
};

/* Does it lie in D of a launch of this run? */
bool global_is_of_d(const void *pointer);

/* Calls each() for the latest writes of these bytes in this launch. */
void global_last_writes(const void *pointer, size_t bytes,
                        void (*each)(void *object, const struct global_record *write),
                        void *object);

/* "last written at kernel.cu:80 by thread 5 of CTA 2", or that nothing has written it in this
 * launch. Returns text. */
const char *global_last_writer(const void *pointer, size_t bytes, char *text, size_t size);

static inline bool global_is_async(unsigned how) { return how >= GLOBAL_TMA_LOAD; }
static inline bool global_is_strong(unsigned how) {
    return how == GLOBAL_STRONG || how == GLOBAL_TMA_REDUCE;
}

/* Is one of the two strong accesses a store and the other an atomic that adds? Whichever of them
 * comes last decides whether the addition is kept. */
bool global_loses_update(const struct global_record *a, const struct global_record *b);

/* Is (slot, epoch) of the cluster in T's C, or in its G? */
bool global_knows(const struct sim_thread *thread, uint32_t cluster, int slot, uint32_t epoch,
                  bool for_async_proxy);

/* Reports that `now`, by `thread`, is not ordered after `then`. `one_writer`: two writes to D. */
void global_accuse(struct sim_thread *thread, const struct global_record *now,
                   const struct global_record *then, const void *pointer, bool one_writer);

#endif
