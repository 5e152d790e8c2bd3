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
#include <stddef.h>
#include <stdint.h>

#include "sim/hopper/memory_calls.h"

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
    /* What touches a register is told by its name: the frame need not be looked at. */
    bool named_registers;
    const char *file;      /* the chapter's line that is being executed */
    int line;
    /* Inside a verb of a shared header, `file` also says which line of the header that is. */
    int verb;                   /* > 0: inside one, or several */
    const char *caller;         /* the chapter's file alone */
    const char *object, *alias; /* what the verb is called for, and what the header calls it */
    const void *first;          /* its first element */
    ptrdiff_t bytes;            /* of an element */
};
extern struct sim_self *sim_self;

/* What takes the place of a file's name in a verb: "building_blocks/pipeline.h:57 called from
 * 07_warp_specialized/kernel.cu", and the caller's line is said behind it. For the same arguments
 * the same pointer. */
const char *sim_called_from(const char *file, int line, const char *caller);

static inline void sim_at(const char *file, int line) {
    struct sim_self *const self = sim_self;
    if (self->verb) {
        self->file = sim_called_from(file, line, self->caller);
    } else {
        self->file = file;
        self->line = line;
    }
}

/* A verb begins, called from this line. */
static inline void sim_verb(const char *file, int line) {
    sim_at(file, line);
    if (!sim_self->verb++) sim_self->caller = file;
}

/* The same for a verb that is called for `object`, which the header knows as `alias`. */
static inline void sim_verb_of(const char *file, int line, const char *object, const char *alias,
                               const void *first, size_t bytes) {
    sim_verb(file, line);
    sim_self->object = object;
    sim_self->alias = alias;
    sim_self->first = first;
    sim_self->bytes = (ptrdiff_t)bytes;
}

static inline void sim_verb_ends(void) {
    --sim_self->verb;
    sim_self->object = NULL;
}

/* A wrapper's call, with the line it stands on. An argument that calls a wrapper in another
 * function would replace the line: such an argument needs a variable. */
#define SIM(call) (sim_at(__FILE__, __LINE__), call)

/* An operand that the instruction has only as an immediate: the build stops unless it is a
 * constant, as nvcc's does. */
#define IMMEDIATE(value)                                                                           \
    ((void)sizeof(struct {                                                                         \
         _Static_assert((value) >= 0, "a constant");                                               \
         char some;                                                                                \
     }),                                                                                           \
     (value))

/* A call of a function that is itself made of wrappers, such as the verbs of pipeline.h: reports
 * name the caller's line beside the header's. */
#define VERB(call) (sim_verb(__FILE__, __LINE__), call, sim_verb_ends())
#define VERB_VALUE(call)                                                                           \
    ({                                                                                             \
        sim_verb(__FILE__, __LINE__);                                                              \
        __typeof__(call) value_ = (call);                                                          \
        sim_verb_ends();                                                                           \
        value_;                                                                                    \
    })
/* One that names the elements of an array: what it initializes as `alias`[i] is called `name`[i] in
 * reports. Both are strings. */
#define VERB_OF(name, alias, array, call)                                                          \
    (sim_verb_of(__FILE__, __LINE__, name, alias, array, sizeof *(array)), call, sim_verb_ends())

#endif
