/*
 * check_runs.c: the runs of --check, which the gallery of broken kernels (tools/gallery) searches
 * too: so its test holds that they find what is known.
 */
#include <string.h>

#include "backend.h"
#include "kind_options.h"
#include "sim/core/simulation.h"
#include "sim/settings.h"

/* A run on several devices takes several times as long, so their kernels get fewer. */
enum { RANDOM_SEEDS = 3, MORE_SEEDS = 40, SEEDS_OF_SEVERAL = 16, MOST_CLUSTERS = 3 };

struct shape {
    int m, n, k;
    int clusters; /* resident at once, at least */
};

enum {
    SHAPES = 13,
    FIRST_SHAPES = 5, /* these find most of what is wrong */
    LONG_SHAPES = 2   /* and these are for many more random schedules */
};

/* In tiles of the kernel. Every stage of the ring is used several times; a persistent kernel's CTA
 * computes several tiles; tiles are cut off at both edges, with n a multiple of 8 and not; k is cut
 * off; the least; enough SMs for a split of k; tiles that begin in the middle of the ring; many
 * tiles, shorter than the ring; four problems that are the same for every kernel; a single tile and
 * a long k on several SMs; a small D with a long k, whose parts clusters or many CTAs share. */
static struct shape make_shape(const struct gemm_kernel *kernel, int index) {
    const int tile_m = kernel->tile_m, tile_n = kernel->tile_n, tile_k = kernel->tile_k;
    const int ring = tile_k * (kernel->stages > 1 ? kernel->stages : 2);
    const struct shape shapes[SHAPES] = {
        {2 * tile_m + 8, 2 * tile_n + 8, 3 * tile_k + 8, 1},
        {tile_m + 8, tile_n + 8, 2 * ring + tile_k + 24, 1},
        {tile_m + 33, tile_n + 3, tile_k + 1, 1},
        {1, 1, 2, 1},
        {tile_m, 2 * tile_n, 4 * ring, 8},
        {2 * tile_m + 44, 2 * tile_n + 76, 5 * tile_k + 10, 1},
        {4 * tile_m + 88, 2 * tile_n + 76, tile_k + 6, 1},
        {200, 264, 1064, 4},
        {1, 9, 1, 1},
        {300, 460, 330, 1},
        {600, 460, 70, 1},
        {8, 8, 4 * ring + 5, 3},
        {40, 40, 3000, 8},
    };
    return shapes[index];
}

static void set_options(struct check_run *run, const struct kind_set *set) {
    memcpy(run->option, set->value, sizeof run->option);
}

static void set_run(struct check_run *run, const struct gemm_kernel *kernel,
                    const struct shape *shape, enum sim_schedule schedule, uint64_t seed) {
    *run = (struct check_run){
        .m = shape->m, .n = shape->n, .k = shape->k, .seed = seed, .input = INPUT_INTEGER};
    if (kernel->loop == GEMM_ALONG_N) { /* its kind draws options by the other */
        run->n = shape->k;
        run->k = shape->n;
    }
    run->k = kind_drawn_k(kernel, run->k, seed);
    const struct kind_set options = kind_get(kernel);
    set_options(run, &options);
    for (int i = 0; i < backend_setting_count; ++i)
        run->setting[i] = backend_settings[i].value;
    run->setting[SETTING_SMS] = (uint64_t)(kernel->cluster * shape->clusters);
    run->setting[SETTING_SCHEDULE] = schedule;
    if (schedule == SCHEDULE_RANDOM) run->setting[SETTING_SEED] = seed;
    if (!kernel->several_devices) return;
    run->gpus = 2;
    run->setting[SETTING_LAUNCHES] = 3 - seed % 3;
}

/* Every shape from `shape` to `end` - 1 under every schedule. */
static struct check_run *add_shapes(struct check_run *run, const struct gemm_kernel *kernel,
                                    int shape, int end) {
    for (; shape < end; ++shape) {
        const struct shape made = make_shape(kernel, shape);
        struct check_run *const first = run;
        set_run(run++, kernel, &made, SCHEDULE_LATE, 1);
        set_run(run++, kernel, &made, SCHEDULE_EARLY, 1);
        for (uint64_t seed = 1; seed <= RANDOM_SEEDS; ++seed)
            set_run(run++, kernel, &made, SCHEDULE_RANDOM, seed);
        set_run(run++, kernel, &made, SCHEDULE_TIME, 1);
        for (int i = 0; i < run - first; ++i) /* both, of either type, in each shape */
            first[i].padding = (i + shape) % 2 ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

/* ---- a kind's options ---- */

/* The options' values on small problems of several tiles, of few rows, and of a tile and a bit. */
static struct check_run *add_options(struct check_run *run, const struct gemm_kernel *kernel) {
    static const enum sim_schedule schedules[] = {SCHEDULE_LATE, SCHEDULE_EARLY, SCHEDULE_RANDOM};
    const int tile_m = kernel->tile_m, tile_n = kernel->tile_n, tile_k = kernel->tile_k;
    const struct shape shapes[] = {{tile_m + 2, 8, tile_k, 1},
                                   {2 * tile_m + 2, tile_n + 8, 8, 2},
                                   {12, tile_n + 3, 2 * tile_k + 8, 1}};
    struct kind_set sets[KIND_SETS];
    const int count = kind_option_sets(kernel, sets);
    for (int i = 0; i < count; ++i, ++run) {
        set_run(run, kernel, &shapes[i % 3], schedules[i / 3 % 3], 1);
        set_options(run, &sets[i]);
        run->padding = i % 2 ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

static void set_least_options(struct check_run *run, const struct gemm_kernel *kernel) {
    const struct kind_set least = kind_least_set(kernel);
    set_options(run, &least);
}

/* ---- the kernel's boundaries ---- */

/* The extent of this name at its boundary, or a row beyond it; without one, a small one. */
static int at_boundary(const struct gemm_kernel *kernel, const char *of, int beyond, int small) {
    for (int i = 0; i < GEMM_BOUNDARIES && kernel->boundaries[i].of; ++i)
        if (!strcmp(kernel->boundaries[i].of, of)) return kernel->boundaries[i].at + beyond;
    return small;
}

/* Extents at their boundaries, the options least. */
static struct check_run *add_boundaries(struct check_run *run, const struct gemm_kernel *kernel) {
    for (int beyond = 0; beyond <= 1; ++beyond) {
        const struct shape shape = {at_boundary(kernel, "m", beyond, 0),
                                    at_boundary(kernel, "n", beyond, 0), 8, 2};
        if (!shape.m && !shape.n) continue;
        const struct shape made = {shape.m ? shape.m : kernel->tile_m + 8,
                                   shape.n ? shape.n : kernel->tile_n + 8, 8, 2};
        set_run(run, kernel, &made, beyond ? SCHEDULE_LATE : SCHEDULE_EARLY, 1);
        set_least_options(run, kernel);
        run++->padding = beyond ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

/* ---- inputs that are no whole numbers ---- */

/* Tiny rows and large ones: many of a single column, where no other column hides one; several
 * tiles. */
enum { OUTLIER_RUNS = 4 };
static struct check_run *add_outliers(struct check_run *run, const struct gemm_kernel *kernel) {
    const struct shape shapes[] = {{300, 1, 64, 1},
                                   {kernel->tile_m + 33, kernel->tile_n + 3, 330, 2}};
    for (int i = 0; i < OUTLIER_RUNS; ++i, ++run) {
        struct shape shape = shapes[i / 2];
        if (kernel->loop == GEMM_ALONG_N && i < 2) shape.k = 1; /* its columns */
        set_run(run, kernel, &shape, i % 2 ? SCHEDULE_EARLY : SCHEDULE_LATE, 1);
        run->input = INPUT_OUTLIERS;
        run->padding = i % 2 ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

/* The runs whose shape has one padding so far, with the other, on two clusters at most. */
static struct check_run *add_again(struct check_run *run, const struct check_run *first,
                                   const struct gemm_kernel *kernel) {
    const struct check_run *const end = run;
    for (const struct check_run *one = first; one < end; ++one) {
        bool both = false;
        for (const struct check_run *other = first; other < end; ++other)
            both |= other->m == one->m && other->n == one->n && other->k == one->k &&
                    other->padding != one->padding;
        if (both) continue;
        *run = *one;
        set_least_options(run, kernel);
        const uint64_t few = 2 * (uint64_t)kernel->cluster;
        if (run->setting[SETTING_SMS] > few) run->setting[SETTING_SMS] = few;
        run++->padding = one->padding == PADDING_NAN ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

/* Once each, by one schedule: what takes a larger problem to be seen. */
enum { WIDE_RUNS = 9 };
struct wide_run {
    int m, n, k, sms;
    enum sim_schedule schedule;
    uint64_t seed;
};

/* Tile orders go on behind their first group of rows, or of columns, with a cluster and without;
 * many short tiles on 16 SMs, where CTAs take them in any order; more SMs than 16; one tile, shared
 * by many SMs; sums split for three SMs; a k beyond 16 bits of bytes, and of which 256 k-tiles are
 * not enough. */
static struct check_run *add_wide(struct check_run *run, const struct gemm_kernel *kernel) {
    const int tile_m = kernel->tile_m, tile_n = kernel->tile_n, tile_k = kernel->tile_k;
    const int long_k = 258 * tile_k;
    const struct wide_run wide[WIDE_RUNS] = {
        {18 * tile_m - 4, tile_n + 8, tile_k, 2, SCHEDULE_LATE, 1},
        {tile_m + 8, 14 * tile_n - 4, tile_k, 2, SCHEDULE_EARLY, 1},
        {7 * tile_m + 104, 4 * tile_n - 3, tile_k, 16, SCHEDULE_LATE, 1},
        {5 * tile_m + 60, 2 * tile_n + 8, 10 * tile_k, 40, SCHEDULE_RANDOM, 6},
        {64, 64, 8000, 64, SCHEDULE_RANDOM, 7},
        {120, 240, 6000, 3, SCHEDULE_LATE, 1},
        {8, 8, long_k > 16512 ? long_k : 16500, 1, SCHEDULE_LATE, 1},
        {tile_m, tile_n, 6000, 3, SCHEDULE_LATE, 1},
        {7 * tile_m + 104, 4 * tile_n - 3, tile_k, 16, SCHEDULE_RANDOM, 3},
    };
    for (int i = 0; i < WIDE_RUNS - kernel->several_devices; ++i) {
        const struct wide_run *const w = &wide[i];
        const int clusters = w->sms / kernel->cluster;
        const struct shape shape = {w->m, w->n, w->k, clusters > 0 ? clusters : 1};
        set_run(run, kernel, &shape, w->schedule, w->seed);
        if (w->k >= 6000) set_least_options(run, kernel); /* it takes long as it is */
        run++->padding = w->schedule == SCHEDULE_RANDOM ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

/* Rows so far apart that 32 bits do not count the elements between them: several tiles, with n a
 * multiple of 8 and not, and a k to be split; and small ones. */
enum { FAR_RUNS = 4 };
static struct check_run *add_far(struct check_run *run, const struct gemm_kernel *kernel) {
    if (kernel->several_devices) return run;
    const int m = 2 * kernel->tile_m + 33, n = kernel->tile_n, k = kernel->tile_k + 8;
    const struct shape far[FAR_RUNS] = {
        {m, n + 8, 5 * kernel->tile_k + k, 2}, {m, n + 3, k, 2}, {33, 40, k, 2}, {2, 3, k, 2}};
    for (int i = 0; i < FAR_RUNS; ++i) {
        set_run(run, kernel, &far[i], i % 2 ? SCHEDULE_EARLY : SCHEDULE_LATE, 1);
        run++->far = true;
    }
    return run;
}

/* Where columns of a row may not count, those of a tile's first row, and of its last, end one
 * before and one behind a whole number of k-tiles. Of small numbers, so that each column weighs. */
enum { DIAGONAL_RUNS = 2 };
static struct check_run *add_diagonals(struct check_run *run, const struct gemm_kernel *kernel) {
    if (kernel->loop != GEMM_ALONG_N) return run;
    const int m = 3 * kernel->tile_m;
    const int columns[DIAGONAL_RUNS] = {m + kernel->tile_k - 2,
                                        m + kernel->tile_k + 1 - kernel->tile_m};
    for (int i = 0; i < DIAGONAL_RUNS; ++i) {
        const struct shape shape = {m, 8, columns[i], 1};
        set_run(run, kernel, &shape, i ? SCHEDULE_EARLY : SCHEDULE_LATE, 1);
        run->input = INPUT_UNIFORM;
        run++->padding = i ? PADDING_FINITE : PADDING_NAN;
    }
    return run;
}

int backend_check_runs(const struct gemm_kernel *kernel, struct check_run *runs) {
    struct check_run *run = add_shapes(runs, kernel, 0, FIRST_SHAPES);
    run = add_options(run, kernel);
    run = add_boundaries(run, kernel);
    run = add_outliers(run, kernel);
    run = add_diagonals(run, kernel);
    const uint64_t seeds = kernel->several_devices ? SEEDS_OF_SEVERAL : MORE_SEEDS;
    for (uint64_t seed = RANDOM_SEEDS + 1; seed <= seeds; ++seed) {
        const struct shape made = make_shape(kernel, (int)(seed % LONG_SHAPES));
        set_run(run, kernel, &made, SCHEDULE_RANDOM, seed);
        run++->padding = seed / LONG_SHAPES % 2 ? PADDING_FINITE : PADDING_NAN;
    }
    run = add_shapes(run, kernel, FIRST_SHAPES, SHAPES);
    const struct check_run *const once = run;
    run = add_wide(run, kernel);
    run = add_far(run, kernel);
    return (int)(add_again(run, once, kernel) - runs);
}

_Static_assert(SHAPES *(RANDOM_SEEDS + 3) + MORE_SEEDS - RANDOM_SEEDS + KIND_SETS + 2 +
                       2 * (WIDE_RUNS + FAR_RUNS) + OUTLIER_RUNS + DIAGONAL_RUNS <=
                   MOST_CHECK_RUNS,
               "room");

/* ---- drawn ones ---- */

static int below(uint64_t *random, int count) {
    *random = *random * 6364136223846793005u + 1442695040888963407u; /* Knuth's */
    return (int)((*random >> 33) % (uint64_t)count);
}

/* 1 to `most` tiles and a bit, or a bit less, or anything below. */
static int draw_extent(uint64_t *random, int tile, int most) {
    static const int around[] = {-8, -1, 0, 1, 3, 8, 24, 33};
    const int tiles = 1 + below(random, most);
    if (below(random, 3) == 0) return 1 + below(random, tiles * tile);
    const int extent = tiles * tile + around[below(random, sizeof around / sizeof *around)];
    return extent > 0 ? extent : 1;
}

void backend_check_draw(const struct gemm_kernel *kernel, uint64_t *random, struct check_run *run) {
    const int stages = kernel->stages > 1 ? kernel->stages : 2;
    const struct shape shape = {.m = draw_extent(random, kernel->tile_m, 3),
                                .n = draw_extent(random, kernel->tile_n, 2),
                                .k = draw_extent(random, kernel->tile_k, 2 * stages + 2),
                                .clusters = 1 + below(random, MOST_CLUSTERS)};
    /* Half of the runs under the schedule that differs from seed to seed. */
    const int schedule = below(random, 2 * (SIM_SCHEDULES - 1));
    set_run(run, kernel, &shape,
            schedule < SCHEDULE_RANDOM ? (enum sim_schedule)schedule : SCHEDULE_RANDOM,
            1 + (uint64_t)below(random, 1000000));
    run->padding = below(random, 2) ? PADDING_FINITE : PADDING_NAN;
    if (below(random, 16) == 0) run->input = INPUT_OUTLIERS;
}
