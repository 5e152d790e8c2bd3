/*
 * aligned.c: do the four warps of a warpgroup execute the same fences and waits?
 *
 * `.sync` makes wgmma.fence and wgmma.wait_group wait for the lanes of the warp only, so the warps
 * come to them at different times. `.aligned` is about the warpgroup nevertheless: all its threads
 * have to execute the same instruction, and a condition around it has to be the same in all four
 * warps. So each warp's calls are held against what the first warp that came so far has executed.
 *
 * PTX ISA: wgmma.fence, wgmma.commit_group, wgmma.wait_group.
 */
#include "sim/units/wgmma/aligned.h"

#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/storage.h"

#define ALL_OF_THEM                                                                                \
    "All four warps have to execute the same wgmma.fence and wgmma.wait_group: take them out "     \
    "of the condition."

static void append(struct aligned_calls *calls, const struct sim_thread *thread, const char *name) {
    if (calls->count == calls->room) {
        const int room = calls->room ? 2 * calls->room : 8;
        struct aligned_call *const grown =
            sim_arena_alloc(thread->cta->cluster, (size_t)room * sizeof *grown);
        if (calls->count) memcpy(grown, calls->call, (size_t)calls->count * sizeof *grown);
        calls->call = grown;
        calls->room = room;
    }
    calls->call[calls->count++] =
        (struct aligned_call){name, thread, thread->self.file, thread->self.line};
}

/* What all four warps have executed need not be remembered. */
static void forget(struct aligned_calls *calls) {
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        if (calls->executed[w] < calls->count) return;
    calls->count = 0;
    memset(calls->executed, 0, sizeof calls->executed);
}

void wgmma_aligned_call(struct aligned_calls *calls, const char *name) {
    const struct sim_thread *const thread = sim_thread();
    int *const mine = &calls->executed[thread->warp->index % WARPGROUP_WARPS];
    if (*mine == calls->count) {
        append(calls, thread, name);
    } else {
        const struct aligned_call *const first = &calls->call[*mine];
        if (first->name != name || first->line != thread->self.line ||
            first->file != thread->self.file)
            sim_fatal("diverged-warpgroup", thread,
                      "at %s where warp %d of the warpgroup executed %s, %s:%d.\n"
                      "    " ALL_OF_THEM,
                      name, first->thread->warp->index, first->name, source_name(first->file),
                      first->line);
    }
    ++*mine;
    forget(calls);
}

void wgmma_aligned_meet(struct aligned_calls *calls, const char *where) {
    if (!calls->count) return;
    int least = calls->count;
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        if (calls->executed[w] < least) least = calls->executed[w];
    const struct aligned_call *const left_out = &calls->call[least];
    sim_hazard_at("diverged-warpgroup", left_out->file, left_out->line, left_out->thread,
                  "some warps of the warpgroup execute %s, and others reach %s without "
                  "it.\n    " ALL_OF_THEM,
                  left_out->name, where);
    calls->count = 0;
    memset(calls->executed, 0, sizeof calls->executed);
}
