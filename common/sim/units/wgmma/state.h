/*
 * state.h: what the files of the asynchronous Tensor Core share: what a warpgroup has under
 * way, and its accumulators.
 */
#ifndef SIM_UNITS_WGMMA_STATE_H
#define SIM_UNITS_WGMMA_STATE_H

#include "sim/core/jobs.h"
#include "sim/core/threads.h"
#include "sim/cost/timing_async.h"
#include "sim/models/descriptor.h"
#include "sim/models/fragments.h"
#include "sim/models/tensor_core.h"
#include "sim/units/wgmma/aligned.h"

enum { A_REGISTERS = 4, CHUNK = 16, MAX_TILES = 16, FRAGMENT_WARP_ROWS = 16 };

/* What each thread passes. */
struct wgmma_call {
    int n;
    float *acc;
    uint64_t a, b;
    const uint32_t *a_registers; /* NULL: A is in shared memory */
    bool accumulate, mn_major;
    enum tensor_type type;   /* of A, and if not said otherwise of B */
    bool halves;             /* the sums are fp16, two in a register */
    bool saturates;          /* the sums are whole and stay in their range */
    bool negative;           /* subtracts the product */
    bool one_transposed;     /* B's major dimension is not A's */
    bool other_type;         /* B's is: */
    enum tensor_type b_type; /* of 8 bits, as A's */
};

static inline enum tensor_type wgmma_type_of_b(const struct wgmma_call *call) {
    return call->other_type ? call->b_type : call->type;
}
static inline bool wgmma_mn_major(const struct wgmma_call *call, char operand) {
    return call->mn_major != (operand == 'B' && call->one_transposed);
}
/* Registers of a thread that hold the accumulators of n columns. */
static inline int wgmma_registers(int n, bool halves) { return halves ? n / 4 : n / 2; }

/* wgmma.mma_async: the running thread's part. */
void wgmma_issue(struct wgmma_call call);

/* The accumulators of a warpgroup, by the threads' arrays. */
struct wgmma_tile {
    int n;
    bool halves; /* fp16, two in a register */
    float *acc[WARPGROUP_SIZE];
    bool fenced[WARPGROUP_SIZE]; /* a wgmma.fence since the values were delivered */
    /* No fence since the array was met, and earlier meetings may have been forgotten. */
    bool forgotten[WARPGROUP_SIZE];
    uint32_t tag[WARPGROUP_SIZE]; /* counts up: which tag the thread's registers hold */
    float *d;                     /* [64][n] */
    uint32_t epoch;               /* of the newest group that works on it: 1 + its number */
    uint32_t last_use;
    const char *file; /* of the newest wgmma that works on it */
    int line;
};

/* A wgmma under way. */
struct wgmma_operation {
    struct sim_job job; /* first */
    struct wgmma_state *state;
    struct wgmma_tile *tile;
    struct wgmma_call call;
    struct descriptor a, b;
    uint32_t a_values[WARPGROUP_SIZE][A_REGISTERS];
    const uint32_t *a_registers[WARPGROUP_SIZE];
    uint32_t group;
    struct busy busy;
    const char *file;
    int line;
    struct wgmma_operation *next;
};

/* Of a warpgroup. */
struct wgmma_state {
    struct sim_exit_call at_exit; /* first */
    struct sim_warpgroup *warpgroup;
    /* Of each warp's reads of shared memory; epoch: group + 1. A wait tells about the own warp's
     * part only. */
    int slot[WARPGROUP_WARPS];
    uint32_t committed; /* groups closed; operations now join group number `committed` */
    uint32_t used;      /* 1 + the newest group that has an operation */
    uint32_t uses;      /* counts up: the tiles' last_use */
    uint32_t tags;
    struct wgmma_operation *first, *last, *pool;
    struct wgmma_tile *tile[MAX_TILES];
    bool fenced[WARPGROUP_SIZE];     /* ever */
    uint32_t waited[WARPGROUP_SIZE]; /* groups that the thread knows to be complete */
    struct aligned_calls aligned;
};

static inline struct sim_thread *wgmma_thread(const struct sim_warpgroup *g, int i) {
    return &g->cta->thread[g->index * WARPGROUP_SIZE + i];
}

static inline int wgmma_index(const struct sim_thread *thread) {
    return thread->index % WARPGROUP_SIZE;
}

static inline bool wgmma_in_flight(const struct wgmma_state *state, const struct wgmma_tile *tile,
                                   int thread) {
    return state->waited[thread] < tile->epoch;
}

/* ---- accumulators.c ---- */

/* The tile of these accumulators: the one they were before, or another. */
struct wgmma_tile *wgmma_tile_of(struct wgmma_state *state, void *const operand[WARPGROUP_SIZE]);
/* Where accumulator `i` of a thread lies in the tile. */
static inline float *wgmma_element(const struct wgmma_tile *tile, int thread, int i) {
    const struct fragment_position at = fragment_of_d(thread, i);
    return &tile->d[at.row * tile->n + at.column];
}
/* What register `i` of a thread would hold now. */
uint32_t wgmma_value(const struct wgmma_tile *tile, int thread, int i);
/* Takes the accumulators over; from here on the threads hold the tag. */
void wgmma_gather(struct wgmma_state *state, struct wgmma_tile *tile,
                  void *const operand[WARPGROUP_SIZE]);
/* The thread has waited for the group: its accumulators hold values again. */
void wgmma_deliver(struct wgmma_state *state, struct wgmma_tile *tile, int thread);

/* ---- fragments.c ---- */

/* A warp at a wgmma: its threads, and their calls. */
struct wgmma_warp {
    struct sim_thread *thread; /* of the first lane */
    const struct wgmma_call *call[WARP_SIZE];
};

static inline uint32_t wgmma_word(const void *memory, int i) {
    uint32_t word;
    __builtin_memcpy(&word, (const char *)memory + (size_t)i * sizeof word, sizeof word);
    return word;
}

/* How A's registers were touched since the last wgmma.fence, in words; NULL: they were not. */
const char *wgmma_fragments_touched(const struct wgmma_warp *warp);
/* Has one of them never got a value? */
bool wgmma_fragments_unset(const struct wgmma_warp *warp);
/* ldmatrix, or a conversion, writes the thread's four registers: reports a wgmma under way that
 * reads them. */
void wgmma_fragment_loaded(const struct sim_thread *thread, const uint32_t *registers);
/* What each lane passes to a wait: where its stack ends, and how many groups may stay under way. */
struct wgmma_wait {
    const void *stack;
    int pending;
};
/* The warp of thread `first` waits. Are its fragments what they were when the wgmma was issued? */
bool wgmma_fragments_kept(const struct wgmma_operation *op, int first,
                          void *const operand[WARP_SIZE]);

/* ---- fences.c ---- */

/* Reports registers that were touched since the last wgmma.fence, and fragments of A without a
 * value. */
void wgmma_check_fences(const struct wgmma_state *state, const struct wgmma_tile *tile,
                        void *const operand[WARPGROUP_SIZE]);

/* ---- operands.c ---- */

/* Checks and records what the four warps will read of shared memory. */
void wgmma_note_operands(struct wgmma_state *state, const struct wgmma_call *call,
                         const struct descriptor *a, const struct descriptor *b);
/* Reads both operands, now. */
void wgmma_fetch_operands(const struct wgmma_operation *op, struct wgmma_operand *a,
                          struct wgmma_operand *b);

#endif
