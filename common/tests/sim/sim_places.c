/*
 * sim_places.c: how reports name barriers and lines when a kernel uses shared headers: barriers by
 * the object in the kernel's shared memory, not by the header's parameter; lines by the header's
 * and the kernel's.
 */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "tests/sim/sim_trials.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

enum { STAGES = 2, BOX_ELEMENTS = TRIAL_BOX * 64, BOX_BYTES = BOX_ELEMENTS * 2, THREADS = 128 };

struct smem {
    element_t box[STAGES][BOX_ELEMENTS];
    struct pipeline_stage tiles[STAGES], slots[2][STAGES], turns[4];
    mbarrier_t store_done, order[3];
};

static int me(void) { return (int)threadIdx.x; }

static void init_order(struct smem *memory) {
    for (int i = 0; i < 3; ++i) mbarrier_init(&memory->order[i], 1);
}

static void begin(struct smem *shared) {
    if (me() == 0) {
        pipeline_init(shared->tiles, STAGES, 1);
        for (int i = 0; i < 2; ++i) pipeline_init(shared->slots[i], STAGES, 1);
        mbarrier_init(&shared->store_done, 1);
        init_order(shared);
        fence_mbarrier_init();
        pipeline_init_some(shared->turns, 0, 2, 4, 1);
    } else if (me() == 32) {
        pipeline_init_some(shared->turns, 1, 2, 4, 1);
    }
    __syncthreads();
}

/* Waits for a phase of one barrier that never completes: by number, see the trials below. */
KERNEL(THREADS, 1) waits_for(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared);
    const struct pipeline_state first = {0, 0}, second = {1, 0}, third = {2, 0};
    switch (args.splits) {
    case 0: consumer_wait(shared->tiles, second); break;
    case 1: consumer_wait(shared->slots[0], first); break;
    case 2: mbarrier_wait(&shared->slots[1][1].empty, 0); break;
    case 3: mbarrier_wait(&shared->store_done, 0); break;
    case 4: mbarrier_wait(&shared->order[2], 0); break;
    case 5: consumer_wait(shared->turns, third); break;
    }
}

/* Both sides lie in a header: the staging buffer is written while the store before it reads. */
enum { FIRST_STORE = __LINE__ + 4, SECOND_STORE };
__attribute__((noinline)) static void store_twice(struct smem *memory,
                                                  const struct gemm_args *args) {
    const float acc[EPILOGUE_N / 2] = {0};
    epilogue_store(memory->box, args, 0, 0, EPILOGUE_M, EPILOGUE_N, acc, 1);
    epilogue_store(memory->box, args, 64, 0, EPILOGUE_M, EPILOGUE_N, acc, 1);
}

KERNEL(THREADS, 1) overwritten_staging(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    store_twice(shared, &args);
    if (me() == 0) bulk_wait_group(0);
}

/* Behind a verb a report names the kernel's line alone. */
enum { ALONE = __LINE__ + 7 };
KERNEL(THREADS, 1) after_a_verb(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared);
    const struct pipeline_state first = {0, 0};
    if (me() == 0) consumer_release(shared->tiles, first);
    mbarrier_wait(&shared->order[0], 0);
}

KERNEL(THREADS, 1) half_are_counted(KERNEL_ARGS args) {
    (void)args;
    named_barrier_sync(1, THREADS / 2);
}

// clang-format on

#define WAITS(number, barrier)                                                                     \
    {                                                                                              \
        .name = "waits_for", .kernel = waits_for, .hazard = "deadlock",                            \
        .text = "mbarrier " barrier " at ", .threads = THREADS, .cluster = 1,                      \
        .smem_bytes = sizeof(struct smem), .argument = number                                      \
    }
#define SAYS(called, kind, what)                                                                   \
    {                                                                                              \
        .name = #called, .kernel = called, .hazard = kind, .text = what, .threads = THREADS,       \
        .cluster = 1, .smem_bytes = sizeof(struct smem)                                            \
    }

static char texts[3][160];

int main(int argc, char **argv) {
    snprintf(texts[0], sizeof texts[0], "called from sim/sim_places.c:%d: thread", SECOND_STORE);
    snprintf(texts[1], sizeof texts[1], "called from sim/sim_places.c:%d by thread", FIRST_STORE);
    snprintf(texts[2], sizeof texts[2], "hazard: deadlock: sim/sim_places.c:%d: thread", ALONE);
    const struct sim_trial trials[] = {
        WAITS(0, "tiles[1].full"),
        WAITS(1, "slots[0].full"),
        WAITS(2, "slots[3].empty"),
        WAITS(3, "store_done"),
        WAITS(4, "order[2]"),
        WAITS(5, "turns[2].full"),
        SAYS(waits_for, "deadlock", "hazard: deadlock: building_blocks/pipeline.h:"),
        SAYS(waits_for, "deadlock", ", initialized at building_blocks/pipeline.h:"),
        SAYS(overwritten_staging, "overwritten-while-read",
             "hazard: overwritten-while-read: building_blocks/epilogue_store.h:"),
        SAYS(overwritten_staging, "overwritten-while-read", texts[0]),
        SAYS(overwritten_staging, "overwritten-while-read",
             "by TMA store, issued at building_blocks/epilogue_store.h:"),
        SAYS(overwritten_staging, "overwritten-while-read", texts[1]),
        SAYS(after_a_verb, "deadlock", texts[2]),
        SAYS(half_are_counted, "barrier-shared", "its count, 64, is too low"),
    };
    run_trials(trials, (int)(sizeof trials / sizeof *trials), NULL, argc, argv);
    return expect_result();
}
