/*
 * cuts_test.c: the cuts that build/gpu/cuts times are ones that fitted.cu can be launched with, and
 * of every kind; fit.h's own answers are among them, and so are some drawn at random.
 */
#include "tools/cuts/cuts.h"

#include "tests/support/expect.h"
#include "tools/record/drawn_shapes.h"

/* Of an H200, without room for the configurations. */
static struct cuts_device device = {
    .sms = 132,
    .rates = {1, 1},
    .resident = {{264, 132, 84, 60, 50, 42, 36, 28}, {132, 66, 42, 30, 25, 21, 18, 14}}};

/* fit.h's answers are given, not measured here. Is the next one for a kernel with one slab? */
static bool one_slab;
int gemm_sm_count(void) { return device.sms; }
struct gemm_rates gemm_device_rates(void) {
    return (struct gemm_rates){1, 1};
}
int gemm_resident_clusters(const struct gemm_launch *launch) {
    return device.resident[!one_slab][launch->cluster - 1];
}
bool gemm_questions_failed(void) { return false; }

static struct fit answer_of(const struct gemm_problem *p, int slabs, bool splits) {
    const struct gemm_kernel kernel = {.tile_m = 64 * slabs};
    one_slab = slabs == 1;
    return fit_of(p, &kernel, splits);
}

static bool has(const struct cut *cuts, int count, int slabs, const struct fit *fit) {
    for (int i = 0; i < count; ++i)
        if (cuts[i].slabs == slabs && cuts[i].fit.width == fit->width &&
            cuts[i].fit.sharing_side == fit->sharing_side &&
            cuts[i].fit.sharing_fitted == fit->sharing_fitted &&
            cuts[i].fit.splits == fit->splits &&
            cuts[i].fit.splits_in_cluster == fit->splits_in_cluster &&
            cuts[i].fit.transposed == fit->transposed)
            return true;
    return false;
}

/* What the launch and the kernel build on. */
static bool legal(const struct gemm_problem *p, const struct cut *cut) {
    const struct fit *fit = &cut->fit;
    const int64_t tiles = fit_tiles(p, cut->slabs, fit);
    return cut->slabs >= 1 && cut->slabs <= 4 && fit->width >= 8 && fit->width % 8 == 0 &&
           fit->width <= FIT_WIDEST(cut->slabs) && cuts_form(fit) < CUTS_FORMS &&
           tiles % (fit->sharing_side * fit->sharing_fitted) == 0 && fit->splits >= 1 &&
           fit->splits <= ceil_div(p->k, BK) && fit->splits % fit->splits_in_cluster == 0 &&
           tiles * fit->splits <= INT32_MAX &&
           (fit->splits == fit->splits_in_cluster ||
            tiles * fit->splits_in_cluster <= GEMM_COUNTERS);
}

/* Is cut i neither an answer of fit.h, nor one of the ten best, nor of the three best of its
 * kernel, orientation or form, nor of the two best with so many parts? Then it was drawn at
 * random, but for a few: an answer that no list has is counted as one of the best. */
static bool was_drawn(const struct gemm_problem *p, const struct cut *cuts, int i) {
    const struct cut *cut = &cuts[i];
    int slabs = 0, orientation = 0, form = 0, parts = 0;
    for (int j = 0; j < i; ++j) {
        slabs += cuts[j].slabs == cut->slabs;
        orientation += cuts[j].fit.transposed == cut->fit.transposed;
        form += cuts_form(&cuts[j].fit) == cuts_form(&cut->fit);
        parts += cuts[j].fit.splits == cut->fit.splits;
    }
    for (int splits = 0; splits < 2; ++splits) {
        const struct fit answer = answer_of(p, cut->slabs, splits);
        if (has(cut, 1, cut->slabs, &answer)) return false;
    }
    return i >= 10 && slabs >= 3 && orientation >= 3 && form >= 3 &&
           (parts >= 2 || cut->fit.splits > 3);
}

static void check_shape(const struct gemm_problem *p, int *all, int *drawn) {
    struct cut cuts[CUTS_MOST], again[CUTS_MOST];
    const int count = cuts_choose(p, &device, cuts);
    bool same = cuts_choose(p, &device, again) == count;
    EXPECT(count >= 8 && count < CUTS_MOST, "%d x %d x %d: %d cuts", p->m, p->n, p->k, count);
    for (int i = 0; i < count; ++i) {
        same &= has(&again[i], 1, cuts[i].slabs, &cuts[i].fit);
        EXPECT(legal(p, &cuts[i]), "%d x %d x %d: %d slabs, width %d, %d parts", p->m, p->n, p->k,
               cuts[i].slabs, cuts[i].fit.width, cuts[i].fit.splits);
        EXPECT(cuts[i].fit.cycles == cut_cycles(p, &device, &cuts[i]), "%g cycles, then %g",
               cuts[i].fit.cycles, cut_cycles(p, &device, &cuts[i]));
        EXPECT(i == 0 || cuts[i - 1].fit.cycles <= cuts[i].fit.cycles, "cut %d is out of order", i);
        *drawn += was_drawn(p, cuts, i);
        EXPECT(!has(cuts, i, cuts[i].slabs, &cuts[i].fit), "cut %d is there twice", i);
    }
    EXPECT(same, "%d x %d x %d: other cuts at the second time", p->m, p->n, p->k);
    for (int slabs = 1; slabs <= 4; ++slabs)
        for (int splits = 0; splits < 2; ++splits) {
            const struct fit answer = answer_of(p, slabs, splits);
            EXPECT(has(cuts, count, slabs, &answer), "%d x %d x %d: the answer for %d slabs", p->m,
                   p->n, p->k, slabs);
        }
    *all += count;
}

/* Where everything is possible, everything is tried. */
static void check_kinds(void) {
    const struct gemm_problem p = cuts_problem(1536, 1536, 4096);
    struct cut cuts[CUTS_MOST];
    const int count = cuts_choose(&p, &device, cuts);
    int slabs[5] = {0}, forms[CUTS_FORMS] = {0}, splits[4] = {0}, transposed[2] = {0};
    for (int i = 0; i < count; ++i) {
        ++slabs[cuts[i].slabs];
        for (int form = 0; form < CUTS_FORMS; ++form)
            forms[form] += cuts[i].slabs && cuts_form(&cuts[i].fit) == form;
        ++transposed[cuts[i].fit.transposed];
        if (cuts[i].fit.splits < 4) ++splits[cuts[i].fit.splits];
    }
    for (int i = 1; i <= 4; ++i)
        EXPECT(slabs[i] >= 3, "%d cuts with %d slabs", slabs[i], i);
    for (int i = 0; i < CUTS_FORMS; ++i)
        EXPECT(forms[i] >= 3, "%d cuts with clusters of %d x %d, %d parts", forms[i],
               cuts_forms[i][0], cuts_forms[i][1], cuts_forms[i][2]);
    for (int i = 1; i <= 3; ++i)
        EXPECT(splits[i] >= 2, "%d cuts with %d parts", splits[i], i);
    for (int i = 0; i < 2; ++i)
        EXPECT(transposed[i] >= 3, "%d cuts of orientation %d", transposed[i], i);
}

/* Configurations are chosen by their predictions: those within a factor 1.7, if they fit the device
 * and are for the problem. */
static void check_configurations(void) {
    const struct gemm_problem p = cuts_problem(4096, 4096, 4096);
    const int pp192 = selection_find("pp192"), coop256 = selection_find("coop256");
    EXPECT(pp192 >= 0 && coop256 >= 0 && selection_find("pp") < 0, "numbers %d and %d", pp192,
           coop256);
    /* With one cluster at once coop256 is slow, and the others have no room. */
    device.tile[pp192] = (struct selection_tile){128, 192, 64, 1, 132};
    device.tile[coop256] = (struct selection_tile){128, 256, 64, 2, 1};
    struct cut cuts[CUTS_MOST];
    for (int resident = 0; resident < 2; ++resident) {
        device.tile[pp192].resident = 132 * resident;
        const int count = cuts_choose(&p, &device, cuts);
        int chosen[SELECTION_MOST] = {0};
        for (int i = 0; i < count; ++i)
            if (cuts[i].slabs == 0) ++chosen[cuts[i].configuration];
        for (int i = 0; i < selection_count(); ++i)
            EXPECT(chosen[i] == (resident && i == pp192), "%s is chosen %d times",
                   selection_name(i), chosen[i]);
    }
    memset(device.tile, 0, sizeof device.tile);
}

int main(void) {
    int cuts = 0, drawn = 0;
    for (int i = 0; i < DRAWN_SHAPES; ++i) {
        const struct problem_size size = drawn_shape(9, i);
        const struct gemm_problem p = cuts_problem(size.m, size.n, size.k);
        check_shape(&p, &cuts, &drawn);
    }
    check_kinds();
    check_configurations();
    EXPECT(drawn > 2 * DRAWN_SHAPES, "%d cuts of %d shapes were drawn", drawn, DRAWN_SHAPES);
    printf("%d cuts of %d shapes, %d of them drawn\n", cuts, DRAWN_SHAPES, drawn);
    return expect_result();
}
