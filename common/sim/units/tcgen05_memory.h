/*
 * tcgen05_memory.h: a CTA's tensor memory: what is allocated, and its words.
 */
#ifndef SIM_UNITS_TCGEN05_MEMORY_H
#define SIM_UNITS_TCGEN05_MEMORY_H

#include "blackwell/tcgen05.h"
#include "sim/core/threads.h"
#include "sim/order/tensor_shadow.h"

enum { TENSOR_BLOCK = 32, TENSOR_BLOCKS = TENSOR_COLUMNS / TENSOR_BLOCK };

struct tensor_allocation {
    int column, columns;
    struct sim_thread *thread; /* of the warp that allocated, the first */
    uint32_t epoch;            /* of its generic accesses, then */
    const char *file;
    int line;
    struct tensor_allocation *next;
};

struct tensor_memory {
    struct sim_exit_call at_exit; /* first */
    struct sim_cta *cta;
    float (*word)[TENSOR_COLUMNS]; /* [lane][column] */
    struct tensor_shadow *shadow;
    struct tensor_allocation *allocations;
    struct tensor_allocation *block[TENSOR_BLOCKS]; /* whose these 32 columns are */
    int last_columns;                               /* of the latest allocation */
    struct sim_warp *alloc_warp; /* waits for columns, while it is in its SM's list */
    const void *alloc_call;
    struct tensor_memory *next_waiting;
    struct sim_warp *pending; /* waits for the other CTA of its pair; NULL */
    const void *pending_call;
    const char *pending_name;
    const char *relinquished_file; /* NULL: it may allocate */
    int relinquished_line;
    const struct sim_thread *relinquished_by;
};

static inline int tensor_lane(uint32_t address) { return (int)(address >> 16); }
static inline int tensor_column(uint32_t address) { return (int)(address & 0xffff); }

/* The CTA's tensor memory, for an access of these columns by the running thread: ends the launch if
 * some of them are not allocated, and reports it if the thread is not ordered after that. */
struct tensor_memory *tensor_memory_at(struct sim_cta *cta, int column, int columns,
                                       const char *operation);
void tensor_launch_begins(void);
/* Ends the launch: the kernel is for Hopper. */
void tcgen05_no_machine(const char *operation);
/* All tcgen05 instructions of a kernel have the same group. */
void tcgen05_check_group(int group, const char *operation);

#endif
