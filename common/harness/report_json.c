/*
 * report_json.c: what came of the kernels and baselines, one line of JSON for each kernel.
 */
#include <math.h>

#include "harness/options.h"
#include "harness/report.h"

static void json_string(FILE *out, const char *text) {
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; ++c)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    fputc('"', out);
}

/* JSON has no NaN and no infinity. */
static void json_number(FILE *out, const char *key, double value, bool known) {
    if (known && isfinite(value))
        fprintf(out, "\"%s\": %.9g", key, value);
    else
        fprintf(out, "\"%s\": null", key);
}

static void json_speed(FILE *out, const char *key, const struct speed *speed, bool sustained) {
    if (speed->samples == 0) {
        fprintf(out, "\"%s\": null", key);
        return;
    }
    fprintf(out, "\"%s\": {", key);
    json_number(out, "ms", speed->ms, true);
    fputs(", ", out);
    json_number(out, "tflops", speed->tflops, true);
    fputs(", ", out);
    json_number(out, "clock_mhz", speed->clock_mhz, speed->clock_mhz > 0);
    fputs(", ", out);
    json_number(out, "spread", speed->spread, true);
    if (sustained) {
        fputs(", ", out);
        json_number(out, "power_w", speed->power_w, speed->power_w > 0);
    }
    fputc('}', out);
}

static void json_timing(FILE *out, const struct timing *timing) {
    json_speed(out, "burst", &timing->burst, false);
    fputs(", ", out);
    json_speed(out, "sustained", &timing->sustained, true);
}

/* What operands with scales have besides. */
static void json_parts(FILE *out, const struct report *r, const struct comparison *v) {
    fprintf(out, "\"scales\": \"%s\", ", r->scales);
    json_number(out, "quantization_error", v->quantization, v->has_parts);
    fputs(", ", out);
    json_number(out, "accumulation_error", v->accumulation, v->has_parts);
    fputs(", ", out);
    json_number(out, "rounding_error", v->rounding, v->has_parts);
    fputs(", ", out);
}

static void json_extent(FILE *out, const char *key, int value) {
    json_number(out, key, value, value > 0);
    fputs(", ", out);
}

/* How the library's kernel divides the work. */
static void json_algorithm(FILE *out, const struct algorithm *algorithm) {
    if (!algorithm->name) {
        fputs("\"algo\": null", out);
        return;
    }
    fputs("\"algo\": {\"name\": ", out);
    json_string(out, algorithm->name);
    fputs(", ", out);
    json_extent(out, "id", algorithm->id);
    json_extent(out, "tile_m", algorithm->tile_m);
    json_extent(out, "tile_n", algorithm->tile_n);
    json_extent(out, "tile_k", algorithm->tile_k);
    json_extent(out, "stages", algorithm->stages);
    json_extent(out, "cluster_m", algorithm->cluster_m);
    json_extent(out, "cluster_n", algorithm->cluster_n);
    json_extent(out, "splits", algorithm->splits);
    fputs("\"reduction\": ", out);
    json_string(out, algorithm->reduction);
    fputc('}', out);
}

static void json_baseline(FILE *out, const struct baseline_result *result) {
    const bool verified = result->code == EXIT_VERIFIED;
    fputs("{\"name\": ", out);
    json_string(out, result->contender.name);
    fputs(", ", out);
    json_timing(out, &result->timing);
    fprintf(out, ", \"verified\": %s, ",
            verified && !result->compared ? "null"
            : verified                    ? "true"
                                          : "false");
    json_number(out, "mismatches", (double)result->comparison.mismatches, result->compared);
    fputs(", ", out);
    json_number(out, "max_error", result->comparison.max_error, result->compared);
    fputs(", ", out);
    json_algorithm(out, &result->contender.algorithm);
    fputc('}', out);
}

/* The kind's name, if it has one, and its options. */
static void json_kind(FILE *out, const struct problem_kind *kind) {
    if (kind->name) {
        fputs("\"kind\": ", out);
        json_string(out, kind->name);
        fputs(", ", out);
    }
    for (int i = 0; i < kind->option_count; ++i) {
        const struct backend_setting *option = &kind->options[i];
        json_string(out, option->option + 2); /* without the two hyphens */
        fputs(": ", out);
        if (option->names)
            json_string(out, option->names[option->value]);
        else
            fprintf(out, "%llu", (unsigned long long)option->value);
        fputs(", ", out);
    }
    if (kind->json) kind->json(out);
}

static void json_result(const struct report *r, const struct kernel_result *result, FILE *out) {
    const struct gemm_kernel *kernel = result->kernel;
    const double cycles = result_cycles(result);
    fputs("{\"chapter\": ", out);
    json_string(out, kernel->name);
    fputs(", \"variant\": ", out);
    json_string(out, kernel->variant);
    fputs(", \"selected\": ", out);
    json_string(out, result->selected);
    fputs(", \"backend\": ", out);
    json_string(out, r->device->backend);
    fprintf(out, ", \"m\": %d, \"n\": %d, \"k\": %d, \"dtype\": \"%s\", \"verified\": %s, ",
            result->size.m, result->size.n, result->size.k, type_names[r->type],
            result->code == EXIT_VERIFIED ? "true" : "false");
    json_number(out, "mismatches", (double)result->comparison.mismatches, result->compared);
    fputs(", ", out);
    json_number(out, "max_error", result->comparison.max_error, result->compared);
    fputs(", ", out);
    json_number(out, "error_bound", result->comparison.error_bound, result->compared);
    fputs(", ", out);
    json_kind(out, kind_of(kernel));
    if (r->scales) json_parts(out, r, &result->comparison);
    json_number(out, "registers", result->info.registers, result->info.registers > 0);
    fprintf(out, ", \"smem_bytes\": %zu, \"stages\": ", kernel->smem_bytes);
    if (kernel->stages > 0)
        fprintf(out, "%d, ", kernel->stages);
    else
        fputs("null, ", out);
    json_number(out, "cycles", cycles, cycles > 0);
    fputs(", ", out);
    const double used = tensor_core_utilization(r, kernel, result->size, cycles);
    json_number(out, "tensor_core_utilization", used, used > 0);
    if (kernel->several_devices) fprintf(out, ", \"gpus\": %d", report_gpus(r, kernel));
    fputs(", ", out);
    json_timing(out, &result->timing);
    fputs(", \"baselines\": [", out);
    for (int i = 0; i < r->baseline_count; ++i) {
        if (i) fputs(", ", out);
        json_baseline(out, &r->baselines[i]);
    }
    fputs("]}\n", out);
}

void report_json(const struct report *r, FILE *out) {
    for (int i = 0; i < r->count; ++i)
        json_result(r, &r->results[i], out);
}
