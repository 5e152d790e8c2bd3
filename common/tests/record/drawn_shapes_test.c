/* drawn_shapes_test.c: the shapes of compare --drawn are spread as they are said to be. With a seed
 * as argument it prints that seed's shapes. */
#include "tools/record/drawn_shapes.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/expect.h"

enum { SEEDS = 200, ALL = SEEDS * DRAWN_SHAPES };

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The median of a log-uniform extent is the geometric mean of its bounds, unless the limit on
 * operations or the rounding moves it. */
static void check_median(const char *what, int *values, double least, double most) {
    qsort(values, ALL, sizeof *values, by_value);
    const int median = values[ALL / 2];
    EXPECT(median >= least && median <= most, "%s: median %d, expected from %g to %g", what, median,
           least, most);
    EXPECT(values[0] < 2 * least / 20 && values[ALL - 1] > 10 * most, "%s: from %d to %d", what,
           values[0], values[ALL - 1]);
}

int main(int argc, char **argv) {
    static int m[ALL], n[ALL], k[ALL];
    int unaligned = 0, off_lines = 0, on_lines = 0, same = 0;
    if (argc > 1) {
        for (int i = 0; i < DRAWN_SHAPES; ++i) {
            const struct problem_size s = drawn_shape(strtoull(argv[1], NULL, 10), i);
            printf("%dx%dx%d\n", s.m, s.n, s.k);
        }
        return 0;
    }
    for (int i = 0; i < ALL; ++i) {
        const struct problem_size s = drawn_shape((uint64_t)(i / DRAWN_SHAPES), i % DRAWN_SHAPES);
        const struct problem_size again =
            drawn_shape((uint64_t)(i / DRAWN_SHAPES), i % DRAWN_SHAPES);
        const struct problem_size other =
            drawn_shape((uint64_t)(i / DRAWN_SHAPES) + SEEDS, i % DRAWN_SHAPES);
        EXPECT(s.m == again.m && s.n == again.n && s.k == again.k, "shape %d differs", i);
        same += s.m == other.m && s.n == other.n && s.k == other.k;
        EXPECT(s.m >= 8 && s.m <= 16384 && s.n >= 8 && s.n <= 16384 && s.k >= 64 && s.k <= 32768 &&
                   2.0 * s.m * s.n * s.k <= 4e12,
               "shape %d: %d x %d x %d", i, s.m, s.n, s.k);
        on_lines += s.n % 64 == 0 && s.k % 64 == 0;
        off_lines += s.n % 8 == 0 && s.k % 8 == 0 && s.n % 64 && s.k % 64;
        unaligned += s.n % 8 != 0 || s.k % 8 != 0;
        m[i] = s.m;
        n[i] = s.n;
        k[i] = s.k;
    }
    EXPECT(same == 0, "%d shapes of different seeds are the same", same);
    /* Of 12,000: 3/15, less the few of these that are multiples by chance; 4/15; 8/15. */
    EXPECT(abs(unaligned - 2340) < 150, "%d shapes are not aligned", unaligned);
    EXPECT(abs(off_lines - 3230) < 150, "%d shapes are aligned, but not to lines", off_lines);
    EXPECT(abs(on_lines - 6420) < 180, "%d shapes are aligned to lines", on_lines);
    check_median("m", m, 300, 380);
    check_median("n", n, 280, 380);
    check_median("k", k, 1200, 1500);
    return expect_result();
}
