/*
 * sim_tensor_maps.c: tensor maps in global memory: written by the host, by an earlier kernel, by
 * another CTA, by the CTA that uses them. Right in several ways and wrong in more; the verdict must
 * be the same under every schedule. And which map the TMA uses if nothing is ordered.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "hopper/tensormap.h"
#include "hopper/tma.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

/* A and D are rows of 64 elements; a box is 8 rows, and box b begins with element 512 b. */
enum { COLUMNS = 64, ROWS = 8, BOX = ROWS * COLUMNS, BOX_BYTES = 2 * BOX, MATRIX_ROWS = 128 };
enum { MAPS_AT = 48 << 10 }; /* byte of D and of A where maps lie */

struct smem {
    element_t box[4][BOX] __attribute__((aligned(1024)));
    struct tensor_map map __attribute__((aligned(128)));
    mbarrier_t full[4];
};

static int me(void) { return (int)threadIdx.x; }
static struct tensor_map *map_of(const struct gemm_args *args, int i) {
    return (struct tensor_map *)((char *)args->d + MAPS_AT) + i;
}
static const void *box_of(const struct gemm_args *args, int box) { return args->a + box * BOX; }

static void begin(struct smem *shared) {
    if (me() == 0) {
        for (int i = 0; i < 4; ++i) mbarrier_init(&shared->full[i], 1);
        fence_mbarrier_init();
    }
    __syncthreads();
}

/* The parameter's map of A, in shared memory. */
static void take(struct smem *shared, const struct gemm_args *args) {
    st_shared_b32((char *)&shared->map + 4 * me(), ((const uint32_t *)&args->map_a)[me()]);
    __syncwarp();
}

/* Lane 0 makes it the map of A from box `box` on. */
static void edit(struct smem *shared, const struct gemm_args *args, int box) {
    if (me() == 0) {
        tensor_map_replace_address(&shared->map, box_of(args, box));
        tensor_map_replace_dim(&shared->map, 1, ROWS);
    }
    __syncwarp();
}

/* Lane 0 loads through the map into box i of shared memory. */
#define LOAD(i, map)                                                                               \
    if (me() == 0) {                                                                               \
        mbarrier_arrive_expect_tx(&shared->full[i], BOX_BYTES);                                    \
        tma_load(shared->box[i], map, 0, 0, &shared->full[i]);                                     \
    }
#define WAIT(i, phase) mbarrier_wait(&shared->full[i], phase)
/* What box i begins with becomes word `at` of D; then the TMA may fill the box again. */
static void tell(struct smem *shared, const struct gemm_args *args, int i, int at) {
    if (me() == 0) st_global_b32((uint32_t *)args->d + at, ld_shared_b32(shared->box[i]));
    fence_proxy_async();
    __syncwarp();
}

#define RUNS(name, ...)                                                                            \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        begin(shared);                                                                             \
        __VA_ARGS__                                                                                \
    }

/* ---- the host has written map 0 ---- */

#define OF_THE_HOST(name, map, acquire)                                                            \
    RUNS(name,                                                                                     \
         const struct tensor_map *const given = map; acquire                                       \
         MARK LOAD(0, given) WAIT(0, 0); tell(shared, &args, 0, 0);)

OF_THE_HOST(host_acquired, map_of(&args, 0), fence_tensor_map_acquire(given, SCOPE_SYS);)
OF_THE_HOST(host_acquired_by_one, map_of(&args, 0),
            if (me() == 31) fence_tensor_map_acquire(given, SCOPE_SYS); __syncwarp();)
OF_THE_HOST(host_prefetched, map_of(&args, 0),
            tma_prefetch_map(given); fence_tensor_map_acquire(given, SCOPE_SYS);)
OF_THE_HOST(input_acquired, (const struct tensor_map *)((const char *)args.a + MAPS_AT),
            fence_tensor_map_acquire(given, SCOPE_SYS);)
OF_THE_HOST(parameter, &args.map_a, )

OF_THE_HOST(host_not_acquired, map_of(&args, 0), )
OF_THE_HOST(input_not_acquired, (const struct tensor_map *)((const char *)args.a + MAPS_AT), )
OF_THE_HOST(host_acquired_gpu, map_of(&args, 0), fence_tensor_map_acquire(given, SCOPE_GPU);)
OF_THE_HOST(host_acquired_by_another, map_of(&args, 0),
            if (me() == 31) fence_tensor_map_acquire(given, SCOPE_SYS);)
OF_THE_HOST(host_acquired_other_map, map_of(&args, 0),
            fence_tensor_map_acquire(map_of(&args, 1), SCOPE_SYS);)

/* ---- the CTA changes a map and uses it ---- */

#define ACQUIRE(i, scope) fence_tensor_map_acquire(map_of(&args, i), scope); __syncwarp();
#define COPY(i, scope) tensor_map_copy_release(map_of(&args, i), &shared->map, scope);
#define CHANGE(box) edit(shared, &args, box);

RUNS(changed, take(shared, &args); CHANGE(3) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)
              LOAD(0, map_of(&args, 0)) WAIT(0, 0); tell(shared, &args, 0, 0);)

/* All fields, from zeros. */
RUNS(made, st_shared_b32((char *)&shared->map + 4 * me(), 0); __syncwarp();
     if (me() == 0) {
         struct tensor_map *const map = &shared->map;
         tensor_map_replace_address(map, box_of(&args, 3));
         tensor_map_replace_rank(map, 2);
         tensor_map_replace_dim(map, 0, COLUMNS);
         tensor_map_replace_dim(map, 1, ROWS);
         tensor_map_replace_pitch(map, COLUMNS * 2);
         tensor_map_replace_box(map, 0, COLUMNS);
         tensor_map_replace_box(map, 1, ROWS);
         tensor_map_replace_element_stride(map, 0, 1);
         tensor_map_replace_element_stride(map, 1, 1);
         tensor_map_replace_type(map, TENSOR_MAP_FP16);
         tensor_map_replace_interleave(map, 0);
         tensor_map_replace_swizzle(map, SWIZZLE_128B);
         tensor_map_replace_fill(map, 0);
     }
     __syncwarp(); COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)
     LOAD(0, map_of(&args, 0)) WAIT(0, 0); tell(shared, &args, 0, 0);)

/* Two maps in turn: a change waits for the load before the last. */
RUNS(two_in_turn, take(shared, &args);
     for (int i = 0; i < 6; ++i) {
         if (i >= 2) WAIT(i % 2, (uint32_t)(i / 2 - 1) % 2);
         if (i >= 2) tell(shared, &args, i % 2, i - 2);
         CHANGE(i) COPY(i % 2, SCOPE_CTA) ACQUIRE(i % 2, SCOPE_CTA)
         LOAD(i % 2, map_of(&args, i % 2))
     }
     WAIT(0, 0); WAIT(1, 0); tell(shared, &args, 0, 4); tell(shared, &args, 1, 5);)

RUNS(one_drained, take(shared, &args);
     for (int i = 0; i < 4; ++i) {
         CHANGE(i) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)
         LOAD(i, map_of(&args, 0)) WAIT(i, 0); tell(shared, &args, i, i);
     })

RUNS(one_not_drained, take(shared, &args);
     CHANGE(1) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA) LOAD(0, map_of(&args, 0))
     CHANGE(2) MARK COPY(0, SCOPE_CTA)
     ACQUIRE(0, SCOPE_CTA) WAIT(0, 0); tell(shared, &args, 0, 0);)

/* A bulk group contains stores, not loads that complete on a barrier. */
RUNS(group_does_not_drain, take(shared, &args);
     CHANGE(1) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA) LOAD(0, map_of(&args, 0))
     if (me() == 0) { bulk_commit_group(); bulk_wait_group_read(0); }
     CHANGE(2) MARK COPY(0, SCOPE_CTA)
     ACQUIRE(0, SCOPE_CTA) WAIT(0, 0);)

/* One lane has waited, and the copy is all lanes' work. */
RUNS(drained_by_one, take(shared, &args);
     CHANGE(1) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA) LOAD(0, map_of(&args, 0))
     CHANGE(2) if (me() == 0) WAIT(0, 0);
     MARK COPY(0, SCOPE_CTA))

RUNS(not_acquired, take(shared, &args); CHANGE(3) COPY(0, SCOPE_CTA)
     MARK LOAD(0, map_of(&args, 0))
     WAIT(0, 0);)
RUNS(acquired_before, take(shared, &args); CHANGE(3) ACQUIRE(0, SCOPE_SYS) COPY(0, SCOPE_CTA)
     MARK LOAD(0, map_of(&args, 0))
     WAIT(0, 0);)
/* The second change is not acquired. */
RUNS(acquired_once, take(shared, &args); CHANGE(1) COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)
     LOAD(0, map_of(&args, 0)) WAIT(0, 0); CHANGE(2) COPY(0, SCOPE_CTA)
     MARK LOAD(1, map_of(&args, 0))
     WAIT(1, 0); tell(shared, &args, 1, 0);)

KERNEL(32, 1) no_syncwarp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared);
    take(shared, &args);
    if (me() == 0) tensor_map_replace_dim(&shared->map, 1, ROWS);
    MARK COPY(0, SCOPE_CTA)
}

/* ---- where and what a map is ---- */

RUNS(used_in_shared, take(shared, &args);
     MARK LOAD(0, &shared->map)
     WAIT(0, 0);)
RUNS(edited_to_nonsense, take(shared, &args);
     if (me() == 0) tensor_map_replace_address(&shared->map, (const char *)args.a + 2);
     __syncwarp(); COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)
     MARK LOAD(0, map_of(&args, 0))
     WAIT(0, 0);)
RUNS(edits_no_map, st_shared_b32((char *)&shared->map + 4 * me(), 7); __syncwarp();
     MARK if (me() == 0) tensor_map_replace_dim(&shared->map, 1, ROWS);)

/* ---- stores ---- */

static void stage(struct smem *shared) {
    for (int i = me(); i < BOX / 2; i += 32) st_shared_b32((uint32_t *)shared->box[0] + i, 7);
    fence_proxy_async();
    __syncwarp();
}
static void edit_of_d(struct smem *shared, const struct gemm_args *args, int box) {
    if (me() == 0) tensor_map_replace_address(&shared->map, args->d + box * BOX);
    __syncwarp();
}
#define STORE(map) if (me() == 0) { tma_store(map, 0, 0, shared->box[0]); bulk_commit_group(); }
#define STORES(name, wait)                                                                         \
    RUNS(name, take(shared, &args); stage(shared);                                                 \
         edit_of_d(shared, &args, 1); COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)                     \
         STORE(map_of(&args, 0))                                                                   \
         wait edit_of_d(shared, &args, 2); MARK COPY(0, SCOPE_CTA) ACQUIRE(0, SCOPE_CTA)           \
         STORE(map_of(&args, 0)) if (me() == 0) bulk_wait_group(0);)
STORES(stores_drained, if (me() == 0) bulk_wait_group_read(0);)
STORES(stores_not_drained, )

/* ---- another CTA makes the map: CTA 0 of four ---- */

static uint32_t *flag_of(const struct gemm_args *args) { return args->tile_counter; }

#define MADE_BY_ANOTHER(name, made, tell_others, acquire)                                          \
    RUNS(name,                                                                                     \
         if (blockIdx.x == 0) {                                                                    \
             take(shared, &args); CHANGE(3) made                                                   \
             __syncwarp();                                                                         \
             if (me() == 0) { tell_others; }                                                       \
             return;                                                                               \
         }                                                                                         \
         if (me() == 0) while (ld_global_acquire(flag_of(&args), SCOPE_GPU) == 0) {}               \
         __syncwarp(); acquire                                                                     \
         MARK LOAD(0, map_of(&args, 0)) WAIT(0, 0);                                                \
         if (blockIdx.x == 1) tell(shared, &args, 0, 0);)
#define FLAG st_global_release(flag_of(&args), 1, SCOPE_GPU)
/* The map, by ordinary stores. */
static void write_map(struct smem *shared, const struct gemm_args *args) {
    const uint32_t word = ld_shared_b32((char *)&shared->map + 4 * me());
    st_global_b32((char *)map_of(args, 0) + 4 * me(), word);
}

MADE_BY_ANOTHER(another, COPY(0, SCOPE_GPU), FLAG, ACQUIRE(0, SCOPE_GPU))
MADE_BY_ANOTHER(another_sys, COPY(0, SCOPE_SYS), FLAG, ACQUIRE(0, SCOPE_SYS))
MADE_BY_ANOTHER(another_stored, write_map(shared, &args); fence_tensor_map_release(SCOPE_GPU);,
                FLAG, ACQUIRE(0, SCOPE_GPU))
/* The release is cumulative. */
MADE_BY_ANOTHER(another_stored_one_fence, write_map(shared, &args);,
                fence_tensor_map_release(SCOPE_GPU); FLAG, ACQUIRE(0, SCOPE_GPU))

MADE_BY_ANOTHER(another_released_cta, COPY(0, SCOPE_CTA), FLAG, ACQUIRE(0, SCOPE_GPU))
MADE_BY_ANOTHER(another_acquired_cta, COPY(0, SCOPE_GPU), FLAG, ACQUIRE(0, SCOPE_CTA))
MADE_BY_ANOTHER(another_not_acquired, COPY(0, SCOPE_GPU), FLAG, )
MADE_BY_ANOTHER(another_not_released, write_map(shared, &args);, FLAG, ACQUIRE(0, SCOPE_GPU))
MADE_BY_ANOTHER(another_released_late, write_map(shared, &args);,
                FLAG; fence_tensor_map_release(SCOPE_GPU), ACQUIRE(0, SCOPE_GPU))
MADE_BY_ANOTHER(another_released_early,
                fence_tensor_map_release(SCOPE_GPU); __syncwarp(); write_map(shared, &args);,
                FLAG, ACQUIRE(0, SCOPE_GPU))
/* The flag says nothing of the data. */
MADE_BY_ANOTHER(another_not_ordered, COPY(0, SCOPE_GPU),
                st_global_relaxed(flag_of(&args), 1, SCOPE_GPU), ACQUIRE(0, SCOPE_GPU))

// clang-format on

/* ---- an earlier kernel has made it ---- */

RUNS(makes, take(shared, &args); CHANGE(3) COPY(0, SCOPE_GPU))
OF_THE_HOST(earlier_acquired, map_of(&args, 0), fence_tensor_map_acquire(given, SCOPE_GPU);)
OF_THE_HOST(earlier_not_acquired, map_of(&args, 0), )
OF_THE_HOST(earlier_acquired_cta, map_of(&args, 0), fence_tensor_map_acquire(given, SCOPE_CTA);)

static enum gemm_status enqueue_two(const struct contender *self,
                                    const struct gemm_problem *problem, void *stream) {
    static const struct test_launch first = {makes, 1, 1, 32, sizeof(struct smem)};
    const struct test_launch *const second = current_launch;
    current_launch = &first;
    const enum gemm_status status = test_enqueue(self, problem, stream);
    current_launch = second;
    return status == GEMM_OK ? test_enqueue(self, problem, stream) : status;
}

/* ---- the tests ---- */

static void make_maps(void) {
    struct tensor_map in_a;
    if (gemm_tensor_map(&test_args.map_a, GEMM_FP16, test_in, MATRIX_ROWS, COLUMNS, COLUMNS, ROWS,
                        COLUMNS, SWIZZLE_128B) ||
        gemm_tensor_map(&in_a, GEMM_FP16, test_in + 2 * BOX, MATRIX_ROWS, COLUMNS, COLUMNS, ROWS,
                        COLUMNS, SWIZZLE_128B))
        exit(1);
    memset(test_out, 0, TEST_BYTES);
    for (size_t i = 0; i < 2; ++i)
        backend_copy_in((char *)test_out + MAPS_AT + i * sizeof in_a, &in_a, sizeof in_a);
    backend_copy_in((char *)test_in + MAPS_AT, &in_a, sizeof in_a);
}

/* The first word of a box, as D holds it. */
static uint32_t word(int i) { return ((const uint32_t *)test_out)[i]; }
static uint32_t word_of(int box) {
    uint32_t word;
    memcpy(&word, test_in + box * BOX, sizeof word);
    return word;
}

struct expected {
    const char *name, *kind; /* NULL: nothing is reported, and */
    int box[6], boxes;       /* D begins with words of these boxes */
    struct test_launch launch;
    bool second; /* after makes() */
};

static void expect(const struct expected *e) {
    static const struct contender one = {.name = "test", .enqueue = test_enqueue};
    static const struct contender two = {.name = "test", .enqueue = enqueue_two};
    static const struct gemm_problem problem;
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        test_open(schedule, (uint64_t)i, 4);
        make_maps();
        current_launch = &e->launch;
        marked_line = 0;
        memset(test_counter, 0, 256);
        const enum run_status status = backend_run(e->second ? &two : &one, &problem, NULL);
        const char *got = "nothing", *file;
        int line = 0;
        hazards_get(0, &got, &file, &line);
        EXPECT(!e->kind ? status == RUN_OK : status == RUN_HAZARD && !strcmp(got, e->kind),
               "%s, %s: expected %s, got %s at line %d", e->name, schedule_names[schedule],
               e->kind ? e->kind : "nothing", got, line);
        if (e->kind)
            EXPECT(line == marked_line, "%s, %s: expected line %d, got %d", e->name,
                   schedule_names[schedule], marked_line, line);
        for (int j = 0; j < e->boxes && !e->kind; ++j)
            EXPECT(word(j) == word_of(e->box[j]), "%s, %s: word %d is %#x, not that of box %d",
                   e->name, schedule_names[schedule], j, word(j), e->box[j]);
    }
}

#define LAUNCH(kernel, ctas)                                                                       \
    { kernel, ctas, 1, 32, sizeof(struct smem) }
#define RIGHT(kernel, ctas, boxes, ...)                                                            \
    expect(&(struct expected){#kernel, NULL, {__VA_ARGS__}, boxes, LAUNCH(kernel, ctas), false})
#define WRONG(kernel, ctas, kind)                                                                  \
    expect(&(struct expected){#kernel, kind, {0}, 0, LAUNCH(kernel, ctas), false})
#define SECOND(kernel, kind, box)                                                                  \
    expect(&(struct expected){#kernel, kind, {box}, 1, LAUNCH(kernel, 1), true})

/* What the TMA uses, although that is reported. */
static void expect_box(const char *name, void (*kernel)(const struct gemm_args),
                       enum sim_schedule schedule, int box) {
    const struct test_launch launch = LAUNCH(kernel, 1);
    test_open(schedule, 1, 4);
    make_maps();
    EXPECT(test_run(&launch, NULL) == RUN_HAZARD && word(0) == word_of(box),
           "%s, %s: the word is %#x, not that of box %d", name, schedule_names[schedule], word(0),
           box);
}

int main(void) {
    hazards_quiet(true);
    RIGHT(host_acquired, 1, 1, 2);
    RIGHT(host_acquired_by_one, 1, 1, 2);
    RIGHT(host_prefetched, 1, 1, 2);
    RIGHT(input_acquired, 1, 1, 2);
    RIGHT(parameter, 1, 1, 0);
    RIGHT(changed, 1, 1, 3);
    RIGHT(made, 1, 1, 3);
    RIGHT(two_in_turn, 1, 6, 0, 1, 2, 3, 4, 5);
    RIGHT(one_drained, 1, 4, 0, 1, 2, 3);
    RIGHT(stores_drained, 1, 0, 0);
    RIGHT(another, 4, 1, 3);
    RIGHT(another_sys, 4, 1, 3);
    RIGHT(another_stored, 4, 1, 3);
    RIGHT(another_stored_one_fence, 4, 1, 3);
    SECOND(earlier_acquired, NULL, 3);

    WRONG(host_not_acquired, 1, "tensor-map-not-acquired");
    WRONG(input_not_acquired, 1, "tensor-map-not-acquired");
    WRONG(host_acquired_gpu, 1, "tensor-map-not-acquired");
    WRONG(host_acquired_by_another, 1, "tensor-map-not-acquired");
    WRONG(host_acquired_other_map, 1, "tensor-map-not-acquired");
    WRONG(not_acquired, 1, "tensor-map-not-acquired");
    WRONG(acquired_before, 1, "tensor-map-not-acquired");
    WRONG(acquired_once, 1, "tensor-map-not-acquired");
    WRONG(another_not_acquired, 4, "tensor-map-not-acquired");
    WRONG(another_acquired_cta, 4, "tensor-map-not-acquired");
    SECOND(earlier_not_acquired, "tensor-map-not-acquired", 0);
    SECOND(earlier_acquired_cta, "tensor-map-not-acquired", 0);
    WRONG(another_released_cta, 4, "tensor-map-not-released");
    WRONG(another_not_released, 4, "tensor-map-not-released");
    WRONG(another_released_late, 4, "tensor-map-not-released");
    WRONG(another_released_early, 4, "tensor-map-not-released");
    WRONG(another_not_ordered, 4, "data-race");
    WRONG(one_not_drained, 1, "tensor-map-in-use");
    WRONG(group_does_not_drain, 1, "tensor-map-in-use");
    WRONG(drained_by_one, 1, "tensor-map-in-use");
    WRONG(stores_not_drained, 1, "tensor-map-in-use");
    WRONG(no_syncwarp, 1, "data-race");
    WRONG(used_in_shared, 1, "tensor-map-copy");
    WRONG(edited_to_nonsense, 1, "tensor-map");
    WRONG(edits_no_map, 1, "tensor-map");

    /* A stale map, and one that changes under a load. */
    expect_box("acquired_once", acquired_once, SCHEDULE_TIME, 1);
    expect_box("acquired_once", acquired_once, SCHEDULE_LATE, 1);
    expect_box("acquired_once", acquired_once, SCHEDULE_EARLY, 2);
    expect_box("one_not_drained", one_not_drained, SCHEDULE_EARLY, 1);
    expect_box("one_not_drained", one_not_drained, SCHEDULE_LATE, 2);
    backend_close();
    return expect_result();
}
