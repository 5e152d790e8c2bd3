/*
 * report.h: the results as a table, as JSON, and as rows for the page.
 */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "harness/experiment.h"
#include "timeline/timeline.h"

/* What a report is about. */
struct report {
    const struct backend_info *device;
    struct problem_size size;
    enum gemm_type type;
    const char *scales; /* operand_format.scales */
    enum input_kind input;
    int timing; /* TIMING_ flags */
    const struct kernel_result *results;
    int count;
    const struct baseline_result *baselines;
    int baseline_count;
};

/* "768 x 1536 x 512, bf16, uniform input", and what a kind says of it. */
void report_problem(const struct report *report, char *text, size_t size);
/* The text table. */
void report_table(const struct report *report, FILE *out);
/* One JSON object per kernel and line; what is not known is null. Simulated cycles and their
 * utilization are told from measured ones by the field "backend". */
void report_json(const struct report *report, FILE *out);
/* The rows of the page's table: kernels, then baselines. Returns how many; `rows` has room for all
 * of them. */
int report_rows(const struct report *report, struct report_row *rows);

/* Cycles of one multiplication: simulated, or as measured; <= 0: not known. */
double result_cycles(const struct kernel_result *result);
/* GPUs that a kernel uses; NULL: a library. */
int report_gpus(const struct report *report, const struct gemm_kernel *kernel);
/* FLOPs / (SMs * 4096 * cycles), of e4m3 8192, without padding; 0: not known. 4096 is Hopper's, and
 * the peak of most other GPUs is not known here. */
double tensor_core_utilization(const struct report *report, const struct gemm_kernel *kernel,
                               struct problem_size size, double cycles);

#endif
