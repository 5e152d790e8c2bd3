#include "harness/report.h"

#include <math.h>
#include <string.h>

#include "harness/options.h"

/* Dense FLOPs per cycle of the four Tensor Cores of an SM, of a GPU or as simulated; 0: not known.
 * Of 8.6, 8.9 and 12.0 it is not known, because there with fp32 sums it differs between products of
 * one compute capability. NVIDIA's whitepapers: "H100 Tensor Core GPU Architecture" (9.0), "A100
 * Tensor Core GPU Architecture" (8.0). A kernel for Hopper that Blackwell runs as PTX does not use
 * Blackwell's rate, so there it is not known either. */
static double flops_per_cycle(const struct backend_info *device, enum gemm_type type) {
    const struct gemm_machine_record *const machine = gemm_machine_record(device->machine);
    const bool scaled = gemm_type_is_scaled(type);
    if (device->compute_capability == 80) return scaled ? 0 : 2048;
    if (device->compute_capability && device->compute_capability != machine->capability) return 0;
    return (scaled ? 2 : 1) * machine->flops_per_cycle;
}

double result_cycles(const struct kernel_result *result) {
    if (result->cycles > 0) return result->cycles;
    if (result->timing.burst.cycles > 0) return result->timing.burst.cycles;
    return result->timing.sustained.cycles;
}

int report_gpus(const struct report *r, const struct gemm_kernel *kernel) {
    return kernel && kernel->several_devices ? r->device->gpus_open : 1;
}

static double flops_of(const struct gemm_kernel *kernel, struct problem_size size) {
    return kind_flops(kernel, size.m, size.n, size.k);
}

double tensor_core_utilization(const struct report *r, const struct gemm_kernel *kernel,
                               struct problem_size size, double cycles) {
    const double peak = flops_per_cycle(r->device, r->type);
    if (!(cycles > 0) || !(peak > 0)) return 0;
    const double flops = flops_of(kernel, size);
    const int sms = report_gpus(r, kernel) * r->device->sm_count;
    return flops / (sms * peak * cycles);
}

static bool is_simulated(const struct report *r) { return strcmp(r->device->backend, "sim") == 0; }

static const struct timing *cublas_timing(const struct report *r) {
    for (int i = 0; i < r->baseline_count; ++i)
        if (strcmp(r->baselines[i].contender.name, "cublas") == 0) return &r->baselines[i].timing;
    return NULL;
}

/* ---- the table ---- */

/* One mode's columns; dashes if it was not measured. */
static void print_speed(FILE *out, const struct report *r, const struct gemm_kernel *kernel,
                        const struct speed *speed, const struct speed *cublas, bool sustained) {
    if (speed->samples == 0) {
        fprintf(out, " | %9s %6s %6s %5s %5s %5s", "-", "-", "-", "-", "-", "-");
        if (sustained) fprintf(out, " %5s", "-");
        return;
    }
    fprintf(out, " | %9.4f %6.1f", speed->ms, speed->tflops);
    if (cublas && cublas->samples)
        fprintf(out, " %5.1f%%", 100 * speed->tflops / cublas->tflops);
    else
        fprintf(out, " %6s", "-");
    const double used = tensor_core_utilization(r, kernel, r->size, speed->cycles);
    if (used > 0)
        fprintf(out, " %4.1f%%", 100 * used);
    else
        fprintf(out, " %5s", "-");
    if (speed->cycles > 0)
        fprintf(out, " %5.0f", speed->clock_mhz);
    else
        fprintf(out, " %5s", "-");
    fprintf(out, " %4.1f%%", 100 * speed->spread);
    if (sustained && speed->power_w > 0)
        fprintf(out, " %5.0f", speed->power_w);
    else if (sustained)
        fprintf(out, " %5s", "-");
}

static void print_timing(FILE *out, const struct report *r, const struct gemm_kernel *kernel,
                         const struct timing *timing) {
    const struct timing *cublas = cublas_timing(r);
    if (r->timing & TIMING_BURST)
        print_speed(out, r, kernel, &timing->burst, cublas ? &cublas->burst : NULL, false);
    if (r->timing & TIMING_SUSTAINED)
        print_speed(out, r, kernel, &timing->sustained, cublas ? &cublas->sustained : NULL, true);
}

/* How much faster than the step it builds on: by the speed of a burst if there is one. */
static double gain(const struct report *r, const struct kernel_result *result) {
    if (result->before < 0) return 0;
    const struct kernel_result *before = &r->results[result->before];
    const struct timing *now = &result->timing, *then = &before->timing;
    if (now->burst.ms > 0 && then->burst.ms > 0) return then->burst.ms / now->burst.ms;
    if (now->sustained.ms > 0 && then->sustained.ms > 0)
        return then->sustained.ms / now->sustained.ms;
    return is_simulated(r) && result->cycles > 0 && before->cycles > 0
               ? flops_of(result->kernel, result->size) / result->cycles /
                     (flops_of(before->kernel, before->size) / before->cycles)
               : 0;
}

static bool has_gains(const struct report *r) {
    for (int i = 0; i < r->count; ++i)
        if (gain(r, &r->results[i]) > 0) return true;
    return false;
}

static void print_gain(FILE *out, double factor) {
    if (factor <= 0)
        fprintf(out, " | %6s", "");
    else
        fprintf(out, factor < 10 ? " | %5.2fx" : " | %5.0fx", factor);
}

/* "bias: D = A * B + bias, --bias drawn"; "" of a kind without a name. */
static void kind_text(const struct report *r, char *text, size_t size) {
    const struct problem_kind *const kind = r->count ? kind_of(r->results[0].kernel) : NULL;
    *text = '\0';
    if (!kind || !kind->name) return;
    snprintf(text, size, "%s: %s", kind->name, kind->formula);
    for (int i = 0; i < kind->option_count; ++i) {
        const struct backend_setting *const option = &kind->options[i];
        const size_t used = strlen(text);
        char number[24];
        snprintf(text + used, size - used, ", %s %s", option->option,
                 setting_word(option, option->value, number));
    }
}

void report_problem(const struct report *r, char *text, size_t size) {
    char kind[256];
    kind_text(r, kind, sizeof kind);
    snprintf(text, size, "%d x %d x %d, %s, %s input%s%s", r->size.m, r->size.n, r->size.k,
             type_names[r->type], input_names[r->input], *kind ? "; " : "", kind);
}

static void print_heading(FILE *out, const struct report *r, int width, bool gains) {
    const bool simulated = is_simulated(r);
    char kind[256];
    kind_text(r, kind, sizeof kind);
    fprintf(out, "%s: %d x %d x %d, %s, %s input\n\n", r->device->name, r->size.m, r->size.n,
            r->size.k, type_names[r->type], input_names[r->input]);
    if (*kind) fprintf(out, "%s\n\n", kind);
    if (r->timing) {
        fprintf(out, "%-*s %8s", width, "", "");
        if (r->timing & TIMING_BURST) fprintf(out, " | %-41s", "burst");
        if (r->timing & TIMING_SUSTAINED) fprintf(out, " | %-47s", "sustained");
        fputs(" |\n", out);
    }
    fprintf(out, "%-*s %8s", width, "chapter", "verified");
    for (int mode = TIMING_BURST; mode <= TIMING_SUSTAINED; ++mode) {
        if (!(r->timing & mode)) continue;
        fprintf(out, " | %9s %6s %6s %5s %5s %5s", "ms", "TFLOPS", "cuBLAS", "TCore", "MHz", "+-");
        if (mode == TIMING_SUSTAINED) fprintf(out, " %5s", "W");
    }
    if (simulated) fprintf(out, " | %16s %15s", "simulated cycles", "simulated TCore");
    if (gains) fprintf(out, " | %6s", "gain");
    fputs(" | technique\n", out);
}

static const char *outcome_word(const struct kernel_result *result) {
    switch (result->code) {
    case EXIT_VERIFIED:
        return "yes";
    case EXIT_HAZARD:
        return "HAZARD";
    default:
        return result->compared ? "WRONG" : "FAILED";
    }
}

static const char *baseline_word(const struct baseline_result *result) {
    if (result->code == EXIT_VERIFIED) return result->compared ? "yes" : "";
    return result->compared ? "WRONG" : "FAILED";
}

/* Where the errors of operands with scales come from. */
static void print_parts(FILE *out, const struct report *r) {
    char label[96];
    bool headed = false;
    for (int i = 0; i < r->count; ++i) {
        const struct comparison *v = &r->results[i].comparison;
        if (!v->has_parts) continue;
        if (!headed)
            fputs("\nerror, root mean square, for the real data's product: of the quantization, of "
                  "the sums, of D's rounding\n",
                  out);
        headed = true;
        fprintf(out, "  %-24s %.2e  %.2e  %.2e\n",
                kernel_label(r->results[i].kernel, label, sizeof label), v->quantization,
                v->accumulation, v->rounding);
    }
}

void report_table(const struct report *r, FILE *out) {
    char label[96];
    int width = 12;
    for (int i = 0; i < r->count; ++i) {
        const int length = (int)strlen(kernel_label(r->results[i].kernel, label, sizeof label));
        if (length > width) width = length;
    }
    const bool gains = has_gains(r);
    print_heading(out, r, width, gains);
    for (int i = 0; i < r->count; ++i) {
        const struct kernel_result *result = &r->results[i];
        fprintf(out, "%-*s %8s", width, kernel_label(result->kernel, label, sizeof label),
                outcome_word(result));
        print_timing(out, r, result->kernel, &result->timing);
        if (is_simulated(r) && result->cycles > 0)
            fprintf(out, " | %16.0f %14.1f%%", result->cycles,
                    100 * tensor_core_utilization(r, result->kernel, result->size, result->cycles));
        else if (is_simulated(r))
            fprintf(out, " | %16s %15s", "-", "-");
        if (gains) print_gain(out, gain(r, result));
        fprintf(out, " | %s%s%s\n", result->selected ? result->selected : "",
                result->selected ? ": " : "", result->kernel->technique);
    }
    for (int i = 0; i < r->baseline_count && r->timing; ++i) {
        fprintf(out, "%-*s %8s", width, r->baselines[i].contender.name,
                baseline_word(&r->baselines[i]));
        print_timing(out, r, NULL, &r->baselines[i].timing);
        if (gains) print_gain(out, 0);
        fputs(" |\n", out);
    }
    if (is_simulated(r))
        fputs("\nsimulated TCore: simulated Tensor Core utilization; a model's prediction, nothing "
              "was measured\n",
              out);
    else if (r->timing)
        fprintf(out,
                "\ncuBLAS: share of its speed; TCore: Tensor Core utilization by SM cycles%s; +-: "
                "quartile spread\n",
                flops_per_cycle(r->device, r->type) > 0 ? "" : ", not known of this GPU");
    print_parts(out, r);
    if (gains) fputs("gain: speed over that of the step that it builds on\n", out);
}

/* ---- the page ---- */

static void fill_timing(struct report_row *row, const struct timing *timing) {
    row->burst_ms = timing->burst.ms;
    row->burst_tflops = timing->burst.tflops;
    row->burst_clock_mhz = timing->burst.clock_mhz;
    row->burst_spread = timing->burst.spread;
    row->sustained_ms = timing->sustained.ms;
    row->sustained_tflops = timing->sustained.tflops;
    row->sustained_clock_mhz = timing->sustained.clock_mhz;
    row->sustained_spread = timing->sustained.spread;
    row->power_w = timing->sustained.power_w;
}

int report_rows(const struct report *r, struct report_row *rows) {
    int count = 0;
    for (int i = 0; i < r->count; ++i) {
        const struct kernel_result *result = &r->results[i];
        const double cycles = result_cycles(result);
        rows[count] = (struct report_row){
            .name = result->kernel->name,
            .variant = result->kernel->variant,
            .technique = result->kernel->technique,
            .verified = result->code == EXIT_VERIFIED,
            .failure = result->code == EXIT_VERIFIED ? NULL : outcome_word(result),
            .cycles = cycles > 0 ? cycles : 0,
            .utilization = tensor_core_utilization(r, result->kernel, result->size, cycles),
            .registers = result->info.registers > 0 ? result->info.registers : 0,
            .smem_bytes = result->kernel->smem_bytes};
        fill_timing(&rows[count++], &result->timing);
    }
    for (int i = 0; i < r->baseline_count && r->timing; ++i) {
        const struct timing *timing = &r->baselines[i].timing;
        rows[count] = (struct report_row){
            .name = r->baselines[i].contender.name,
            .baseline = true,
            .cycles = timing->burst.cycles,
            .utilization = tensor_core_utilization(r, NULL, r->size, timing->burst.cycles)};
        fill_timing(&rows[count++], timing);
    }
    return count;
}
