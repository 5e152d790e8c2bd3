/*
 * program.h: a kernel that can be executed, or the list of what it cannot be executed for.
 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include "program/operation.h"

/* A value that a thread's frame has from the beginning, and that differs from thread to thread. */
enum special {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_GRID_BARRIER_HIGH, /* where cooperative groups have a grid's barrier */
    SPECIAL_GRID_BARRIER_LOW,
    SPECIAL_AGGR_SMEM_SIZE,
    SPECIAL_GRIDID,
    SPECIAL_IS_EXPLICIT_CLUSTER,
    SPECIAL_RESERVED_BEGIN, /* shared memory of the system's */
    SPECIAL_RESERVED_END,
    SPECIAL_RESERVED_SIZE,
    SPECIAL_RESERVED_0,
    SPECIAL_RESERVED_1,
    SPECIALS,
    SPECIAL_PARAM = SPECIALS, /* the address of a parameter */
    SPECIAL_LOCAL,            /* of a variable in local memory */
    SPECIAL_SHARED,           /* in the shared window, of the thread's own CTA */
    SPECIAL_GLOBAL            /* of a variable of the module */
};
extern const char *const special_names[SPECIALS]; /* "tid.x" */

struct preset {
    int at, bytes;
    enum special special;
    int64_t offset;
    const struct ptx_variable *variable; /* SPECIAL_GLOBAL */
};

/* Why a kernel cannot be judged: an instruction, and how often it occurs. */
struct refusal {
    const struct ptx_instruction *first;
    const char *why;
    int count;
};

struct program {
    const struct ptx_module *module;
    const struct ptx_function *function;
    struct operation *operation;
    int operations;
    /* A thread's registers as they are when it begins, and what differs from thread to thread. */
    unsigned char *image;
    int frame_bytes; /* of them */
    struct preset *preset;
    int presets;
    int local_bytes, static_shared_bytes, static_shared_align;
    bool reserved_shared; /* of a kernel: it asks where the system has shared memory of its own */
    bool dynamic_shared;
    int dynamic_shared_offset;
    struct refusal *refusal;
    int refusals;
    /* Of a kernel: the functions that it and they call, or take the address of, decoded once for
     * all calls. A pointer to a function is that of its struct ptx_function. */
    struct program **function_called;
    int functions_called;
};

/* Bytes of a fiber's stack that frames may have together. */
enum { MOST_STACK_BYTES = 96 << 10 };

/* Decodes the kernel; everything lives in the module's arena. What can be reached from its
 * beginning is decoded or refused. */
struct program *program_of(struct ptx_module *module, struct ptx_function *function);

#endif
