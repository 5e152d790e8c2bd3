/* api_stream.c: CUDA Runtime API, "Stream Management" and "Event Management". Everything is
 * complete when the call that asked for it returns, so a stream has nothing to remember and an
 * event only its time. */
#include <stdlib.h>

#include "runtime/errors.h"
#include "runtime/graphs.h"
#include "runtime/launching.h"
#include "runtime/session.h"
#include "sim/order/launches_ahead.h"

struct CUstream_st {
    int priority;
    unsigned flags;
};

struct CUevent_st {
    double milliseconds;
    uint64_t captured; /* where in a capture it was recorded; 0: in none */
};

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    *stream = calloc(1, sizeof **stream);
    if (!*stream) return errors_note(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    (*stream)->priority = priority;
    return errors_note(errors_lost());
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if ((uintptr_t)stream > (uintptr_t)cudaStreamPerThread) free(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (capture_of(stream)) return errors_note(cudaErrorStreamCaptureUnsupported);
    launches_ahead_complete();
    return errors_note(errors_lost());
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)flags;
    if (event && event->captured) return errors_note(capture_wait(stream, event->captured));
    launches_ahead_complete();
    return errors_note(errors_lost());
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    *priority = (uintptr_t)stream > (uintptr_t)cudaStreamPerThread ? stream->priority : 0;
    return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    *flags = (uintptr_t)stream > (uintptr_t)cudaStreamPerThread ? stream->flags : 0;
    return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    (void)stream;
    return *device = 0, cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
    (void)flags;
    launches_ahead_complete();
    callback(stream, errors_lost(), data);
    return cudaSuccess;
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return errors_note(*event ? errors_lost() : cudaErrorMemoryAllocation);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)flags;
    if (!event) return errors_note(cudaErrorInvalidResourceHandle);
    event->captured = capture_record(stream);
    if (event->captured) return cudaSuccess;
    launches_ahead_complete();
    event->milliseconds = launch_milliseconds();
    return errors_note(errors_lost());
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event && event->captured) return errors_note(cudaErrorCapturedEvent);
    launches_ahead_complete();
    return errors_note(errors_lost());
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start || !end) return errors_note(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)(end->milliseconds - start->milliseconds);
    session_note("the program has read a time (cudaEventElapsedTime): it is that of a model, and "
                 "not for comparison with a GPU");
    return errors_note(errors_lost());
}
