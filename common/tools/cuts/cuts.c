#include "tools/cuts/cuts.h"

#include <stdlib.h>

#include "splitmix64.h"

enum {
    ALL = 65536, /* room for the cuts of a problem */
    BEST = 10,   /* of all cuts */
    BEST_OF_KIND = 3,
    BEST_OF_PARTS = 2,
    DRAWN = 4,
    KINDS = 6 + CUTS_FORMS, /* kernels, orientations, forms of clusters */
};
static const int parts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64};
enum { PARTS = sizeof parts / sizeof *parts };
/* Partial sums that take more memory are slower than anything else. */
static const double MOST_SUMS = 2e8;
/* Drawn cuts are predicted to take at most so many times as long as the fastest. */
static const double DRAWN_WITHIN = 2;
/* The same for configurations. */
static const double CONFIGURATIONS_WITHIN = 1.7;

const int cuts_forms[CUTS_FORMS][3] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {1, 2, 1}, {2, 2, 1},
                                       {4, 2, 1}, {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 5},
                                       {1, 1, 6}, {1, 1, 7}, {1, 1, 8}};

struct gemm_problem cuts_problem(int m, int n, int k) {
    return (struct gemm_problem){.m = m,
                                 .n = n,
                                 .k = k,
                                 .lda = (k + 7) / 8 * 8,
                                 .ldb = (k + 7) / 8 * 8,
                                 .ldd = (n + 7) / 8 * 8};
}

/* CTAs of a cluster that compute the same part of k. */
static int sharing(const struct fit *fit) { return fit->sharing_side * fit->sharing_fitted; }

/* Clusters of this cut's form at once. */
static int resident_of(const struct cuts_device *device, const struct cut *cut) {
    return device->resident[cut->slabs > 1][sharing(&cut->fit) * cut->fit.splits_in_cluster - 1];
}

int cuts_form(const struct fit *fit) {
    int form = 0;
    while (form < CUTS_FORMS && (cuts_forms[form][0] != fit->sharing_side ||
                                 cuts_forms[form][1] != fit->sharing_fitted ||
                                 cuts_forms[form][2] != fit->splits_in_cluster))
        ++form;
    return form;
}

double cut_cycles(const struct gemm_problem *p, const struct cuts_device *device,
                  const struct cut *cut) {
    if (cut->slabs == 0)
        return selection_cycles(cut->configuration, &device->tile[cut->configuration], device->sms,
                                device->rates, p);
    struct fit_search search = fit_search_of(p, cut->slabs, device->sms, device->rates);
    search.resident = resident_of(device, cut);
    if (search.resident < 1) return INFINITY;
    fit_try(&search, cut->fit, (int)(fit_tiles(p, cut->slabs, &cut->fit) / sharing(&cut->fit)));
    return search.best.cycles;
}

/* Can the kernel compute the problem so, and is it worth a look? */
static bool acceptable(const struct gemm_problem *p, const struct cuts_device *device,
                       const struct cut *cut) {
    const struct fit *fit = &cut->fit;
    const int fitted = fit->transposed ? p->m : p->n, side = fit->transposed ? p->n : p->m;
    const int k_tiles = ceil_div(p->k, BK);
    if (fit->width >= fitted + 8 || side <= 64 * (cut->slabs - 1) ||
        ceil_div(fitted, fit->width) < fit->sharing_side ||
        ceil_div(side, 64 * cut->slabs) < fit->sharing_fitted)
        return false;
    if (resident_of(device, cut) < 1) return false;
    const int64_t tiles = fit_tiles(p, cut->slabs, fit);
    if (fit->splits == 1) return tiles <= INT32_MAX;
    if (fit->splits * FIT_LEAST_K_TILES > k_tiles + 1) return false;
    const int layers = fit->splits / fit->splits_in_cluster;
    if (layers == 1) return tiles * fit->splits <= INT32_MAX;
    return tiles * fit->splits_in_cluster <= GEMM_COUNTERS &&
           256.0 * (double)tiles * layers * cut->slabs * fit->width <= MOST_SUMS;
}

/* All of them. Returns how many. */
static int every_cut(const struct gemm_problem *p, const struct cuts_device *device,
                     struct cut *cuts) {
    int count = 0;
    for (int kind = 0; kind < 4 * 2 * CUTS_FORMS; ++kind)
        for (int width = 8; width <= FIT_WIDEST(1 + kind % 4); width += 8)
            for (int i = 0; i < PARTS; ++i) {
                const int *form = cuts_forms[kind / 8];
                struct cut cut = {.slabs = 1 + kind % 4,
                                  .fit = {.width = width,
                                          .sharing_side = form[0],
                                          .sharing_fitted = form[1],
                                          .splits = form[2] * parts[i],
                                          .splits_in_cluster = form[2],
                                          .transposed = kind / 4 % 2 != 0}};
                if (!acceptable(p, device, &cut) || count == ALL) continue;
                cut.fit.cycles = cut_cycles(p, device, &cut);
                cuts[count++] = cut;
            }
    return count;
}

static int compare_whole(int a, int b) { return (a > b) - (a < b); }

/* By predicted cycles; the rest only so that the order is the same everywhere. */
static int by_cycles(const void *a, const void *b) {
    const struct cut *x = a, *y = b;
    if (x->fit.cycles != y->fit.cycles) return x->fit.cycles < y->fit.cycles ? -1 : 1;
    int order = compare_whole(x->slabs, y->slabs);
    if (!order) order = compare_whole(x->fit.width, y->fit.width);
    if (!order) order = compare_whole(x->configuration, y->configuration);
    if (!order) order = compare_whole(x->fit.sharing_side, y->fit.sharing_side);
    if (!order) order = compare_whole(x->fit.sharing_fitted, y->fit.sharing_fitted);
    if (!order) order = compare_whole(x->fit.splits, y->fit.splits);
    if (!order) order = compare_whole(x->fit.splits_in_cluster, y->fit.splits_in_cluster);
    return order ? order : compare_whole(x->fit.transposed, y->fit.transposed);
}

static bool is_same(const struct cut *a, const struct cut *b) {
    return a->slabs == b->slabs && a->configuration == b->configuration &&
           a->fit.width == b->fit.width && a->fit.sharing_side == b->fit.sharing_side &&
           a->fit.sharing_fitted == b->fit.sharing_fitted && a->fit.splits == b->fit.splits &&
           a->fit.splits_in_cluster == b->fit.splits_in_cluster &&
           a->fit.transposed == b->fit.transposed;
}

/* Is it of this kind? Kernels are kinds 0 to 3, orientations 4 and 5; then come the forms of
 * clusters. */
static bool is_kind(const struct cut *cut, int kind) {
    if (kind < 4) return cut->slabs == 1 + kind;
    if (kind < 6) return cut->fit.transposed == (kind == 5);
    return cuts_form(&cut->fit) == kind - 6;
}

/* Adds a cut, unless it is there. */
static void add(struct cut *cuts, int *count, const struct cut *cut) {
    for (int i = 0; i < *count; ++i)
        if (is_same(&cuts[i], cut)) return;
    if (*count < CUTS_MOST) cuts[(*count)++] = *cut;
}

struct cut cuts_answer(const struct gemm_problem *p, const struct cuts_device *device, int slabs,
                       bool splits) {
    struct fit_question question = {.m = p->m,
                                    .n = p->n,
                                    .k = p->k,
                                    .splits = splits,
                                    .lda = p->lda,
                                    .ldb = p->ldb,
                                    .sms = device->sms,
                                    .rates = device->rates,
                                    .slabs = slabs};
    memcpy(question.resident, device->resident[slabs > 1], sizeof question.resident);
    return (struct cut){.slabs = slabs, .fit = fit_answer(p, &question)};
}

/* What fit.h answers. */
static void add_answers(const struct gemm_problem *p, const struct cuts_device *device,
                        struct cut *cuts, int *count) {
    for (int i = 0; i < 8; ++i) {
        const struct cut cut = cuts_answer(p, device, 1 + i / 2, i % 2);
        if (isfinite(cut.fit.cycles)) add(cuts, count, &cut);
    }
}

/* Draws some of those that are not much slower than the first. */
static void add_drawn(const struct gemm_problem *p, const struct cut *all, int all_count,
                      struct cut *cuts, int *count) {
    uint64_t random = (uint64_t)p->m << 40 ^ (uint64_t)p->n << 20 ^ (uint64_t)p->k;
    int within = 0;
    while (within < all_count && all[within].fit.cycles <= DRAWN_WITHIN * all[0].fit.cycles)
        ++within;
    for (int i = 0; i < DRAWN && within; ++i)
        add(cuts, count, &all[splitmix64(&random) % (uint64_t)within]);
}

/* Those that are predicted to take not much longer than the fastest way. */
static void add_configurations(const struct gemm_problem *p, const struct cuts_device *device,
                               struct cut *cuts, int *count) {
    const int before = *count;
    double least = INFINITY;
    for (int i = 0; i < before; ++i)
        least = fmin(least, cuts[i].fit.cycles);
    for (int i = 0; i < selection_count(); ++i) {
        const struct cut cut = {.configuration = i};
        least = fmin(least, cut_cycles(p, device, &cut));
    }
    for (int i = 0; i < selection_count(); ++i) {
        struct cut cut = {.configuration = i};
        cut.fit.cycles = cut_cycles(p, device, &cut);
        if (cut.fit.cycles <= CONFIGURATIONS_WITHIN * least && isfinite(cut.fit.cycles))
            add(cuts, count, &cut);
    }
}

int cuts_choose(const struct gemm_problem *p, const struct cuts_device *device, struct cut *cuts) {
    struct cut *all = malloc(ALL * sizeof *all);
    if (!all) abort();
    const int all_count = every_cut(p, device, all);
    qsort(all, (size_t)all_count, sizeof *all, by_cycles);
    int count = 0, of_kind[KINDS] = {0}, of_parts[3] = {0};
    add_answers(p, device, cuts, &count);
    for (int i = 0; i < all_count; ++i) {
        bool wanted = i < BEST;
        for (int kind = 0; kind < KINDS; ++kind)
            wanted |= is_kind(&all[i], kind) && of_kind[kind]++ < BEST_OF_KIND;
        const int splits = all[i].fit.splits;
        wanted |= splits <= 3 && of_parts[splits - 1]++ < BEST_OF_PARTS;
        if (wanted) add(cuts, &count, &all[i]);
    }
    add_drawn(p, all, all_count, cuts, &count);
    add_configurations(p, device, cuts, &count);
    qsort(cuts, (size_t)count, sizeof *cuts, by_cycles);
    free(all);
    return count;
}
