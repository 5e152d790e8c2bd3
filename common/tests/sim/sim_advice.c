/*
 * sim_advice.c: what reports advise where the same symptom has several causes. Each kernel has one,
 * and its report has to name it.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "hopper/tensormap.h"
#include "hopper/tma.h"
#include "tests/support/capture.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

/* A box is 8 rows of 64 elements. */
enum { COLUMNS = 64, ROWS = 8, BOX = ROWS * COLUMNS, BOX_BYTES = 2 * BOX, MATRIX_ROWS = 128 };
enum { MAPS_AT = 48 << 10 }; /* byte of D where maps lie */

struct smem {
    element_t box[2][BOX] __attribute__((aligned(1024)));
    struct tensor_map map __attribute__((aligned(128)));
    mbarrier_t full;
};

static int me(void) { return (int)threadIdx.x; }
static struct tensor_map *map_of(const struct gemm_args *args, int i) {
    return (struct tensor_map *)((char *)args->d + MAPS_AT) + i;
}

/* This lane's, of 32 of a map. */
static void *word_of(const struct tensor_map *map) { return (uint32_t *)(uintptr_t)map + me(); }

static void begin(struct smem *shared, const struct gemm_args *args) {
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    if (me() < 32) st_shared_b32(word_of(&shared->map), *(const uint32_t *)word_of(&args->map_a));
    for (int i = me(); i < BOX; i += (int)blockDim.x) st_shared_b32((uint32_t *)shared->box + i, 7);
    fence_proxy_async();
    __syncthreads();
}

#define LOAD(map, row)                                                                             \
    if (me() == 0) {                                                                               \
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);                                       \
        tma_load(shared->box[0], map, row, 0, &shared->full);                                      \
    }                                                                                              \
    mbarrier_wait(&shared->full, 0)
#define RUNS(name, ...)                                                                            \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        begin(shared, &args);                                                                      \
        __VA_ARGS__                                                                                \
    }

/* ---- a map whose parts are stored by all lanes ---- */

#define STORE_PART                                                                                 \
    st_global_b32(word_of(map_of(&args, 0)), *(const uint32_t *)word_of(&args.map_a))
#define RELEASE_AND_LOAD                                                                           \
    if (me() == 0) {                                                                               \
        fence_tensor_map_release(SCOPE_GPU);                                                       \
        fence_tensor_map_acquire(map_of(&args, 0), SCOPE_GPU);                                     \
    }                                                                                              \
    LOAD(map_of(&args, 0), 0)
/* Lane 0 does not wait for the other lanes, which store nothing yet, */
RUNS(stored_too_late, if (me() == 0) { STORE_PART; } RELEASE_AND_LOAD; if (me()) { STORE_PART; })
/* or store and are not ordered before it: it comes after lane 31, and changes a word itself. */
RUNS(stored_without_order,
     if (me()) { STORE_PART; }
     if (me() == 31) atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
     if (me() == 0) {
         while (atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU) == 0) {}
         st_global_b32(map_of(&args, 0), 1);
     }
     RELEASE_AND_LOAD;)
RUNS(stored_wrongly, st_global_b32(word_of(map_of(&args, 0)), 1); __syncwarp();
     RELEASE_AND_LOAD;)

/* ---- two writers ---- */

RUNS(two_write_a_map, tensor_map_copy_release(map_of(&args, 0), &shared->map, SCOPE_GPU);)
RUNS(two_write_a_counter, if (me() == 0) st_global_b32(args.tile_counter + 8, 1);)
RUNS(two_write_an_element, if (me() == 0) st_global_element(&args.d[77], args.a[0]);)

/* ---- maps that reach beyond the memory ---- */

RUNS(too_many_rows, LOAD(&args.map_b, 4 * MATRIX_ROWS);)
RUNS(pitch_too_large, LOAD(&args.map_d, MATRIX_ROWS - ROWS);)

/* ---- a map that is edited behind its copy ---- */

#define EDIT(rows) if (me() == 0) tensor_map_replace_dim(&shared->map, 1, rows); __syncwarp()
#define COPY                                                                                       \
    tensor_map_copy_release(map_of(&args, 0), &shared->map, SCOPE_GPU);                            \
    fence_tensor_map_acquire(map_of(&args, 0), SCOPE_GPU)
RUNS(edited_and_copied, EDIT(8 * MATRIX_ROWS); COPY; LOAD(map_of(&args, 0), 4 * MATRIX_ROWS);)
RUNS(edited_behind_the_copy,
     EDIT(8 * MATRIX_ROWS); COPY; EDIT(ROWS); LOAD(map_of(&args, 0), 4 * MATRIX_ROWS);)

/* ---- a word that is polled ---- */

RUNS(reset_last,
     if (me() == 5) atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
     __syncwarp();
     if (me() == 7) { MARK st_global_relaxed(args.tile_counter, 0, SCOPE_GPU); }
     __syncwarp();
     if (me() == 0) while (ld_global_acquire(args.tile_counter, SCOPE_GPU) == 0) {})
RUNS(never_written,
     if (me() == 0) while (ld_global_acquire(args.tile_counter + 1, SCOPE_GPU) == 0) {})

/* ---- a store that another thread commits ---- */

#define STORES(name, committer)                                                                    \
    RUNS(name,                                                                                     \
         if (me() == 0) tma_store(&args.map_a, 0, 0, shared->box[0]);                              \
         if (me() == committer) { bulk_commit_group(); }                                           \
         if (me() == 3) bulk_wait_group(0);                                                        \
         __syncwarp();                                                                             \
         if (me() == 0) st_shared_b32(shared->box[0], 8);                                          \
         if (me() == 0) bulk_wait_group(0);)
STORES(committed_by_another, 3)
STORES(waited_for_by_another, 0)

/* ---- the next copy, which comes too early ---- */

KERNEL(64, 1) refilled_too_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, &args);
    if (me() == 32) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box[0], &args.map_b, 0, 0, &shared->full);
        atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
    }
    if (me() == 0) {
        while (atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU) == 0) {}
        (void)ld_shared_b32(shared->box[0]);
    }
    mbarrier_wait(&shared->full, 0);
}

// clang-format on

/* ---- */

static void run(const char *name, struct test_launch launch, const char *kind, const char *says,
                bool lacks) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        char line[32], begin[48];
        test_open(schedule, (uint64_t)i, 4);
        memset(test_out, 0, TEST_BYTES);
        const struct capture capture = capture_begin();
        const enum run_status status = test_run(&launch, NULL);
        char *const text = capture_end(capture);
        snprintf(begin, sizeof begin, "hazard: %s: ", kind);
        snprintf(line, sizeof line, "sim_advice.c:%d by", marked_line);
        EXPECT(status == RUN_HAZARD && strstr(text, begin), "%s, %s: no %s\n%s", name,
               schedule_names[schedule], kind, text);
        EXPECT(!strstr(text, says) == lacks, "%s, %s: the report %s \"%s\"\n%s", name,
               schedule_names[schedule], lacks ? "says" : "lacks", says, text);
        EXPECT(!marked_line || strstr(text, line), "%s, %s: the report lacks \"%s\"\n%s", name,
               schedule_names[schedule], line, text);
        free(text);
    }
}

#define LAUNCH(kernel, grid, threads)                                                              \
#kernel, (struct test_launch) { kernel, grid, 1, threads, sizeof(struct smem) }
#define SAYS(kernel, grid, kind, says) run(LAUNCH(kernel, grid, 32), kind, says, false)
#define LACKS(kernel, grid, kind, says) run(LAUNCH(kernel, grid, 32), kind, says, true)

int main(void) {
    test_open(SCHEDULE_EARLY, 0, 4);
    const int rows_there_are = TEST_BYTES / 2 / COLUMNS;
    if (gemm_tensor_map(&test_args.map_a, GEMM_FP16, test_out, MATRIX_ROWS, COLUMNS, COLUMNS, ROWS,
                        COLUMNS, SWIZZLE_128B) ||
        gemm_tensor_map(&test_args.map_b, GEMM_FP16, test_in, 8 * rows_there_are, COLUMNS, COLUMNS,
                        ROWS, COLUMNS, SWIZZLE_128B) ||
        gemm_tensor_map(&test_args.map_d, GEMM_FP16, test_in, MATRIX_ROWS, COLUMNS, 16 * COLUMNS,
                        ROWS, COLUMNS, SWIZZLE_128B))
        return 1;
    SAYS(stored_too_late, 1, "tensor-map", "4 of its 128 bytes were written in this launch");
    SAYS(stored_too_late, 1, "tensor-map", "__syncwarp(),\n    or a barrier, is missing");
    SAYS(stored_without_order, 1, "tensor-map", "nothing orders that before this: __syncwarp()");
    SAYS(stored_wrongly, 1, "tensor-map", "it was last written at sim/sim_advice.c:");
    SAYS(two_write_a_map, 2, "global-write-write", "Two writers of one tensor map");
    SAYS(two_write_a_counter, 2, "global-write-write", "does each writer have a part of its own");
    SAYS(two_write_an_element, 2, "global-write-write", "do two tiles overlap");
    SAYS(too_many_rows, 1, "global-bounds", "the extents, the pitch or the address");
    SAYS(pitch_too_large, 1, "global-bounds", "128 rows of 64 columns, 2048 bytes from row to row");
    LACKS(edited_and_copied, 1, "global-bounds", "has been edited since then");
    SAYS(edited_behind_the_copy, 1, "global-bounds", "has been edited since then");
    SAYS(reset_last, 1, "deadlock", "tile counter + 0, which stays 0, last written at");
    SAYS(never_written, 1, "deadlock", "which nothing has written in this launch");
    SAYS(committed_by_another, 1, "overwritten-while-read", "belongs to no bulk group");
    LACKS(waited_for_by_another, 1, "overwritten-while-read", "belongs to no bulk group");
    run(LAUNCH(refilled_too_early, 1, 64), "read-before-landed", "If it is the next copy", false);
    backend_close();
    return expect_result();
}
