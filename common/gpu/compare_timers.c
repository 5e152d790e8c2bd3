/*
 * compare_timers.c: how far the GPUs' timers are apart, so that their records share an axis.
 *
 * The %globaltimer of each GPU counts nanoseconds, but nothing sets two of them to the same time.
 * So two GPUs exchange messages through each other's memory (clocks.h).
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "gpu/clocks.h"
#include "gpu/cuda_call.h"
#include "gpu/devices.h"
#include "gpu/gpu_state.h"

/* One GPU beside the first. Its kernel waits for the first one's, so it is enqueued first. */
static bool compare(int gpu, struct timer_mailbox *boxes[2], struct timer_comparison *found,
                    struct timer_comparison *result) {
    cudaStream_t streams[GEMM_DEVICES];
    if (!devices_fork(gpu_state.stream, gpu + 1, streams)) return false;
    bool good = devices_select(gpu) && cuda_ok(clocks_answer(boxes[1], boxes[0], streams[gpu]),
                                               "comparing two GPUs' timers");
    good = good && devices_select(0) &&
           cuda_ok(clocks_ask(boxes[0], boxes[1], found, streams[0]), "comparing two GPUs' timers");
    good &= devices_join(gpu_state.stream, gpu + 1);
    return good && cuda_ok(cudaStreamSynchronize(gpu_state.stream), "comparing two GPUs' timers") &&
           backend_copy_out(result, found, sizeof *result);
}

bool backend_compare_timers(int gpus, int64_t *ahead, double *uncertain_ns) {
    bool good = true;
    *uncertain_ns = 0;
    ahead[0] = 0;
    for (int gpu = 1; gpu < gpus && good; ++gpu) {
        struct timer_comparison result = {0, 0}, *found;
        struct timer_mailbox *boxes[2];
        found = backend_alloc(sizeof *found, "timers", true);
        boxes[0] = backend_alloc(sizeof *boxes[0], "timers", true);
        boxes[1] = backend_alloc_on(gpu, sizeof *boxes[1], "timers", true);
        good = found && boxes[0] && boxes[1] && backend_fill(boxes[0], 0, sizeof *boxes[0] / 2) &&
               backend_fill(boxes[1], 0, sizeof *boxes[1] / 2) &&
               compare(gpu, boxes, found, &result);
        if (good && result.took == 0) {
            fprintf(stderr, "GPU %d did not answer GPU 0: their timers cannot be compared\n", gpu);
            good = false;
        }
        ahead[gpu] = result.ahead;
        if (*uncertain_ns < (double)result.took) *uncertain_ns = (double)result.took;
        if (found) backend_free(found);
        for (int i = 0; i < 2; ++i)
            if (boxes[i]) backend_free(boxes[i]);
    }
    return good;
}
