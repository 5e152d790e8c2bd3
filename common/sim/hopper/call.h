/*
 * call.h: how a kernel compiled as C calls the simulator, with the line of the chapter it calls
 * from.
 *
 * The headers beside this one are the simulator's half of those in hopper/: what a wrapper becomes
 * in a C build. Each function stands for the one instruction of the wrapper of the same name (see
 * there for shapes and rules). It is called by one simulated thread, on that thread's fiber;
 * warp-wide instructions are called by all 32 lanes.
 */
#ifndef SIM_HOPPER_CALL_H
#define SIM_HOPPER_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct sim_index {
    unsigned x, y, z;
};

/* The part of a simulated thread that kernels may read. */
struct sim_self {
    struct sim_index thread_index, block_index, block_dim, grid_dim;
    unsigned cluster_rank;
    /* Where the kernel's own variables end and its parameter lies, if it has asked for shared
     * memory. */
    const void *parameters;
    const void *arguments; /* the parameter itself, which AddressSanitizer moves among them */
    const char *file; /* the chapter's line that is being executed */
    int line;
    int verb; /* > 0 inside a pipeline verb: inner wrappers keep the caller's line */
};
extern struct sim_self *sim_self;

static inline void sim_at(const char *file, int line) {
    if (!sim_self->verb) {
        sim_self->file = file;
        sim_self->line = line;
    }
}

/* A wrapper's call, with the line it stands on. */
#define SIM(call) (sim_at(__FILE__, __LINE__), call)

/* An operand that the instruction has only as an immediate: the build stops unless it is a
 * constant, as nvcc's does. */
#define IMMEDIATE(value)                                                                           \
    ((void)sizeof(struct { _Static_assert((value) >= 0, "a constant"); char some; }), (value))

/* A call of a function that is itself made of wrappers, such as the verbs of pipeline.h: reports
 * name the caller's line. */
#define VERB(call) (sim_at(__FILE__, __LINE__), ++sim_self->verb, call, (void)--sim_self->verb)
#define VERB_VALUE(call)                                                                           \
    ({                                                                                             \
        sim_at(__FILE__, __LINE__);                                                                \
        ++sim_self->verb;                                                                          \
        __typeof__(call) value_ = (call);                                                          \
        --sim_self->verb;                                                                          \
        value_;                                                                                    \
    })

#endif
