/*
 * predict.c: how chapter 10 ranks its kernels for a problem, without a GPU.
 *
 *     build/sim/predict docs/results/h200-cuts.txt 4096x4096x4096 16x7168x2048
 *
 * The record tells which GPU is meant: its SMs, its rates, and how many clusters of each kernel it
 * has room for. For each shape, in the order of their predictions: cycles without the launch, the
 * kernel, and of a kernel of fitted.cu its best cut.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tools/cuts/cuts_record.h"

enum { MOST = CUTS_KERNELS + SELECTION_MOST };

static int by_cycles(const void *a, const void *b) {
    const struct cut *x = a, *y = b;
    return (x->fit.cycles > y->fit.cycles) - (x->fit.cycles < y->fit.cycles);
}

static void print_way(const struct cut *cut) {
    const struct fit *fit = &cut->fit;
    printf("  %10.0f  ", fit->cycles);
    if (cut->slabs)
        printf("fitted%d: %swidth %d, clusters of %d x %d, %d parts, %d of a cluster\n", cut->slabs,
               fit->transposed ? "transposed, " : "", fit->width, fit->sharing_side,
               fit->sharing_fitted, fit->splits, fit->splits_in_cluster);
    else
        printf("%s\n", selection_name(cut->configuration));
}

static void print_ranking(const struct gemm_problem *p, const struct cuts_device *device) {
    struct cut ways[MOST];
    int count = 0;
    for (int slabs = 1; slabs <= CUTS_KERNELS; ++slabs)
        ways[count++] = cuts_answer(p, device, slabs, true);
    for (int i = 0; i < selection_count(); ++i) {
        ways[count] = (struct cut){.configuration = i};
        ways[count].fit.cycles = cut_cycles(p, device, &ways[count]);
        ++count;
    }
    qsort(ways, (size_t)count, sizeof *ways, by_cycles);
    printf("%d x %d x %d\n", p->m, p->n, p->k);
    for (int i = 0; i < count && isfinite(ways[i].fit.cycles); ++i)
        print_way(&ways[i]);
}

int main(int argc, char **argv) {
    struct cuts_record record;
    char error[512];
    if (argc < 3) {
        fprintf(stderr, "usage: predict RECORD MxNxK...\n");
        return 2;
    }
    if (!cuts_record_read(&record, argv[1], error, sizeof error)) {
        fprintf(stderr, "predict: %s; record.sh cuts makes such a record\n", error);
        cuts_record_free(&record);
        return 2;
    }
    int status = 0;
    for (int i = 2; i < argc && !status; ++i) {
        int m, n, k, end = 0;
        if (sscanf(argv[i], "%dx%dx%d%n", &m, &n, &k, &end) != 3 || argv[i][end] || m < 1 ||
            n < 1 || k < 1) {
            fprintf(stderr, "predict: '%s' is no shape; write 4096x4096x4096\n", argv[i]);
            status = 2;
            continue;
        }
        const struct gemm_problem problem = cuts_problem(m, n, k);
        print_ranking(&problem, &record.device);
    }
    cuts_record_free(&record);
    return status;
}
