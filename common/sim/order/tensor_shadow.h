/*
 * tensor_shadow.h: who touched which words of tensor memory last, and whether the next access is
 * ordered after it.
 *
 * A multiplication of thread W is complete for thread X when X has waited for a commit of W that
 * covers it: an epoch of W's slot, in X's clock C as any other. A load of W is complete when W has
 * waited for it. Instructions that are asynchronous need more: what X issues is ordered only after
 * what X knew at its latest fence::after_thread_sync, and of what W has done, only after what W has
 * fenced by fence::before_thread_sync. So a thread keeps a copy of its C from the latest
 * after-fence, and the epochs of its generic accesses at which it executed before-fences and
 * waits. Nothing else is needed: barriers and mbarriers pass these epochs on as they do all others.
 *
 * PTX ISA: "Memory Consistency Model for 5th generation of TensorCore operations".
 */
#ifndef SIM_ORDER_TENSOR_SHADOW_H
#define SIM_ORDER_TENSOR_SHADOW_H

#include "sim/core/jobs.h"
#include "sim/core/threads.h"

enum { TENSOR_CELL_COLUMNS = 8 };

/* Of a thread that uses tensor memory. */
struct tensor_order {
    int slot; /* of its multiplications; epoch: commits + 1; 0: it has none */
    uint32_t commits;
    struct sim_clock after; /* C at the latest fence::after_thread_sync */
    uint32_t *fence;        /* the thread's epoch at each fence::before_thread_sync */
    struct tensor_wait {
        uint32_t epoch, fences; /* of the thread, at each wait::ld */
    } * wait;
    uint32_t fences, fence_room, waits, wait_room;
    /* units/tcgen05.c: its latest multiplication that is under way, what can be used again. */
    struct sim_job *last;
    struct operation *pool;
    struct operation *first_commit, *last_commit; /* under way */
    uint64_t busy_until;                          /* the Tensor Core, with its multiplications */
    bool narrow; /* it has passed a barrier whose remote arrival, or wait, had the CTA's scope */
};

struct tensor_shadow;

struct tensor_order *tensor_order_of(struct sim_thread *thread);
/* Of its multiplications: of what they read in shared memory, too. */
int tensor_slot(struct sim_thread *thread);
void tensor_fence_before(struct sim_thread *thread);
void tensor_fence_after(struct sim_thread *thread);
void tensor_wait_load(struct sim_thread *thread);

enum tensor_access {
    TENSOR_MMA, /* writes, and reads if it accumulates */
    TENSOR_LOAD,
    TENSOR_FREE,      /* tcgen05.dealloc, which is synchronous */
    TENSOR_FREE_PEER, /* the same by the other CTA of the pair: only looks */
};

struct tensor_shadow *tensor_shadow_new(struct sim_cta *cta);
/* The thread issues an access to these words of the CTA's tensor memory. `key`, of a
 * multiplication: equal for those that are executed in order. `reads`: it needs values. */
void tensor_touch(struct sim_thread *thread, struct sim_cta *cta, struct tensor_shadow *shadow,
                  enum tensor_access access, int lane, int lanes, int column, int columns,
                  uint32_t key, bool reads);

#endif
