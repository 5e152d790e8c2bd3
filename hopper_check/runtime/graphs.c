/* graphs.c: CUDA Runtime API, "Graph Management", and of "Stream Management" the captures. One
 * capture is under way at a time. */
#include "runtime/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/errors.h"
#include "runtime/memory.h"
#include "runtime/session.h"
#include "sim/order/launches_ahead.h"

struct node {
    struct node *next;
    enum { NODE_LAUNCH, NODE_ROWS, NODE_CALL } what;
    bool of_origin; /* it was given to the stream whose capture began */
    struct request request;
    struct rows rows;
    cudaHostFn_t function;
    void *data; /* of a call, or a launch's parameters, which are ours */
};

struct CUgraph_st {
    int owners; /* itself, and each executable graph */
    struct node *first, **end;
};

struct CUgraphExec_st {
    cudaGraph_t graph;
};

/* ---- the capture ---- */

enum { MOST_STREAMS = 64 };
static cudaGraph_t capture; /* NULL: none */
static struct {
    const void *stream;
    uint64_t latest; /* what happened last on it */
    bool joined;     /* another one waits for that */
} member[MOST_STREAMS];
static int members;           /* the first is the origin */
static uint64_t clock, begun; /* counts what happens in captures; where this one begins */

static int member_of(const void *stream) {
    for (int i = 0; capture && i < members; ++i)
        if (member[i].stream == stream) return i;
    return -1;
}

bool capture_of(const void *stream) { return member_of(stream) >= 0; }

static void happens_on(int i) {
    member[i].latest = ++clock;
    member[i].joined = false;
}

static struct node *add(const void *stream, struct node made) {
    struct node *const node = malloc(sizeof *node);
    if (!node) return NULL;
    const int i = member_of(stream);
    *node = made;
    node->of_origin = i == 0;
    *capture->end = node;
    capture->end = &node->next;
    happens_on(i);
    return node;
}

cudaError_t capture_launch(const struct request *request, const void *packed, size_t bytes) {
    struct node made = {.what = NODE_LAUNCH, .request = *request, .data = malloc(bytes + 1)};
    if (!made.data) return cudaErrorMemoryAllocation;
    memcpy(made.data, packed, bytes);
    made.request.argument = NULL;
    made.request.packed = made.data;
    made.request.packed_bytes = bytes;
    return add(request->stream, made) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t capture_rows(const void *stream, const struct rows *rows) {
    const struct node made = {.what = NODE_ROWS, .rows = *rows};
    return add(stream, made) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t capture_call(const void *stream, cudaHostFn_t function, void *data) {
    const struct node made = {.what = NODE_CALL, .function = function, .data = data};
    return add(stream, made) ? cudaSuccess : cudaErrorMemoryAllocation;
}

uint64_t capture_record(const void *stream) {
    const int i = member_of(stream);
    return i < 0 ? 0 : member[i].latest;
}

cudaError_t capture_wait(const void *stream, uint64_t recorded) {
    int from = -1, to = member_of(stream);
    if (!capture || recorded <= begun) return cudaErrorCapturedEvent;
    for (int i = 0; capture && i < members; ++i)
        if (member[i].latest == recorded) from = i;
    if (to < 0 && members == MOST_STREAMS) return cudaErrorStreamCaptureUnsupported;
    if (to < 0) member[to = members++].stream = stream;
    happens_on(to);
    if (from >= 0) member[from].joined = true;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    session_get();
    if (!stream || stream == cudaStreamLegacy)
        return errors_note(cudaErrorStreamCaptureUnsupported);
    if (capture_of(stream)) return errors_note(cudaErrorIllegalState);
    if (capture) session_refuse(REFUSED_INCOMPLETE, "two captures at a time are not modelled");
    capture = calloc(1, sizeof *capture);
    if (!capture) return errors_note(cudaErrorMemoryAllocation);
    capture->owners = 1;
    capture->end = &capture->first;
    member[0].stream = stream;
    members = 1;
    begun = clock;
    happens_on(0);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    if (member_of(stream) != 0) return errors_note(cudaErrorIllegalState);
    bool joined = true;
    for (int i = 1; i < members; ++i)
        joined &= member[i].joined;
    *graph = capture;
    capture = NULL;
    if (joined) return cudaSuccess;
    cudaGraphDestroy(*graph);
    *graph = NULL;
    return errors_note(cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    *status = capture_of(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    static enum cudaStreamCaptureMode kept = cudaStreamCaptureModeGlobal;
    const enum cudaStreamCaptureMode old = kept;
    kept = *mode;
    *mode = old;
    return cudaSuccess;
}

/* ---- graphs ---- */

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (!graph) return errors_note(cudaErrorInvalidValue);
    if (--graph->owners > 0) return cudaSuccess;
    for (struct node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->what == NODE_LAUNCH) free(node->data);
        free(node);
    }
    free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    if (nodes) session_refuse(REFUSED_INCOMPLETE, "the nodes of a captured graph are not modelled");
    *count = 0;
    for (const struct node *node = graph->first; node; node = node->next)
        ++*count;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    (void)flags;
    *exec = graph ? malloc(sizeof **exec) : NULL;
    if (!*exec) return errors_note(graph ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    ++graph->owners;
    (*exec)->graph = graph;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    if (!exec) return errors_note(cudaErrorInvalidValue);
    cudaGraphDestroy(exec->graph);
    free(exec);
    return cudaSuccess;
}

/* With other parameters, and not with other nodes. */
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *result) {
    const struct node *old = exec->graph->first, *now = graph->first;
    for (; old && now && old->what == now->what; old = old->next)
        now = now->next;
    const bool same = !old && !now;
    memset(result, 0, sizeof *result);
    result->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    if (!same) return errors_note(cudaErrorGraphExecUpdateFailure);
    ++graph->owners;
    cudaGraphDestroy(exec->graph);
    exec->graph = graph;
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    (void)exec, (void)stream;
    return cudaSuccess;
}

static cudaError_t perform(const struct node *node, const void *stream) {
    const struct rows *const r = &node->rows;
    struct request request = node->request;
    if (node->of_origin) request.stream = stream;
    switch (node->what) {
    case NODE_LAUNCH:
        return launch_request(&request);
    case NODE_CALL:
        launches_ahead_complete();
        node->function(node->data);
        return cudaSuccess;
    case NODE_ROWS:
        break;
    }
    return r->from ? memory_copy_rows(r->to, r->to_pitch, r->from, r->from_pitch, r->width,
                                      r->height, r->kind)
                   : memory_fill(r->to, r->to_pitch, r->value, 1, r->width, r->height);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    launch_uses(stream); /* which refuses one that is captured: a graph within a graph */
    for (const struct node *node = exec->graph->first; node && !error; node = node->next)
        error = perform(node, stream);
    return errors_note(error);
}
