/*
 * launching.h: a launch, as all of CUDA's ways to make one have it.
 */
#ifndef RUNTIME_LAUNCHING_H
#define RUNTIME_LAUNCHING_H

#include "machine/launch.h"
#include "runtime/cuda.h"
#include "runtime/modules.h"

struct request {
    const void *handle;                /* kernel_find() */
    struct three grid, block, cluster; /* cluster.x 0: what the kernel says */
    size_t dynamic_shared;
    void **argument;    /* the address of each; NULL: */
    const void *packed; /* all of them as the kernel's parameters lie */
    size_t packed_bytes;
    const void *stream;
    bool cooperative;
    bool early; /* it may begin while the launch before it on the stream still runs */
};

/* Runs it to its end. Thereafter the GPU is lost if it was abandoned: errors.h. */
cudaError_t launch_request(const struct request *request);
/* CTAs of it that an SM takes; 0: it is refused. */
int launch_ctas_per_sm(const struct request *request);
int launch_clusters(const struct request *request);

/* Work is given to this stream. With the second one people are told what is not seen. */
void launch_uses(const void *stream);

/* What all launches so far have taken, in the model's milliseconds. */
double launch_milliseconds(void);

#endif
