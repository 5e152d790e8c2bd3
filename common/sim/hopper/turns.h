/*
 * turns.h: which calls of a kernel that multiplies by mma.sync, or by no Tensor Core, are cues.
 *
 * Such a kernel has hundreds of calls in a k-tile. What tells its story is where they change: the
 * first ldmatrix after an mma.sync, the first mma.sync after that. So a recorder keeps flags of
 * each recording thread: is the next call of a kind a cue? A call of that kind clears its flag, and
 * sets others:
 *
 *     cp.async          TURN_COPY; its commit, or arrival at an mbarrier, sets that
 *     ldmatrix          TURN_FRAGMENTS; sets TURN_MULTIPLY and TURN_BARRIER
 *     mma.sync          TURN_MULTIPLY; sets TURN_FRAGMENTS, TURN_BARRIER and TURN_RESULT
 *     __syncthreads()   TURN_BARRIER, before and behind it
 *     a conversion      TURN_RESULT: a sum becomes an element; ld_global_element() sets that, too
 *
 * st.shared.b128 sets TURN_BARRIER. What begins a wait clears it, because the barrier is a part of
 * the wait then: cp.async.wait_group, which is always a cue, and the proxy fence, which is one if
 * TURN_RESULT is set. No wgmma sets a flag. The recorders are the simulator's (core/events.h) and
 * the GPU's (timeline/recorder.h).
 */
#ifndef SIM_HOPPER_TURNS_H
#define SIM_HOPPER_TURNS_H

enum turn {
    TURN_COPY = 1,
    TURN_FRAGMENTS = 2,
    TURN_MULTIPLY = 4,
    TURN_BARRIER = 8,
    TURN_RESULT = 16,
    TURNS_AT_FIRST = TURN_COPY | TURN_FRAGMENTS | TURN_MULTIPLY,
};

#endif
