#include "harness/lap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/problem_kind.h"

/* Is it one of those that the options ask for? */
static bool is_selected(const struct kernel_entry *entry, const struct options *options) {
    const struct gemm_kernel *kernel = kernel_of_any_type(entry);
    const bool named =
        options->variant && kernel->variant && strcmp(options->variant, kernel->variant) == 0;
    const bool own = !options->variant && (program_is_tour ? entry->step : kernel->variant == NULL);
    return (named || own) && (options->chapters >> chapter_of_kernel(kernel) % 32 & 1);
}

/* The type of which a tour runs it. */
static enum gemm_type type_in_tour(const struct kernel_entry *entry,
                                   const struct options *options) {
    enum gemm_type type = options->backend.type;
    for (int other = 0; options->usual_type && !entry->of_type[type] && other < ELEMENT_TYPES;
         ++other)
        if (entry->of_type[other]) type = (enum gemm_type)other;
    return type;
}

struct lap select_kernels(struct options *options, int *next) {
    const size_t room = (size_t)kernel_registry_count + 1;
    static const char what[] = "the kernels of a lap";
    struct lap s = {.kernels = allocate(room, sizeof *s.kernels, what),
                    .traced = allocate(room, sizeof *s.traced, what),
                    .selected = allocate(room, sizeof *s.selected, what),
                    .entries = allocate(room, sizeof *s.entries, what),
                    .copies = allocate(2 * room, sizeof *s.copies, what)};
    const struct problem_kind *kind = NULL;
    enum gemm_type type = options->backend.type;
    enum gemm_machine machine = MACHINE_HOPPER;
    s.more = *next > 0;
    for (; *next < kernel_registry_count; ++*next) {
        const struct kernel_entry *const entry = &kernel_registry[*next];
        if (!is_selected(entry, options)) continue;
        const enum gemm_type own_type = program_is_tour ? type_in_tour(entry, options) : type;
        const struct problem_kind *const own_kind = kind_of(kernel_of_any_type(entry));
        const enum gemm_machine own_machine = kernel_of_any_type(entry)->machine;
        if (s.count == 0) {
            type = own_type;
            kind = own_kind;
            machine = own_machine;
        } else if (program_is_tour &&
                   (own_type != type || own_kind != kind || own_machine != machine)) {
            s.more = true;
            break;
        }
        s.kernels[s.count] = kernel_of_type(entry, type);
        s.entries[s.count] = entry;
        s.traced[s.count++] = kernel_of_type(&kernel_trace_registry[*next], type);
    }
    options->backend.type = type;
    options->backend.machine = machine;
    if (program_is_tour && kind && kind->depth) options->k = kind->depth;
    return s;
}

void free_lap(struct lap *s) {
    free(s->kernels);
    free(s->traced);
    free(s->selected);
    free(s->entries);
    free(s->copies);
}

int oldest_of(const struct lap *s) {
    int oldest = 0;
    for (int i = 0; i < s->count; ++i)
        if (s->entries[i]->ptx && (!oldest || s->entries[i]->ptx < oldest))
            oldest = s->entries[i]->ptx;
    return oldest;
}

/* "05_tma_mbarrier, which needs 9.0 or later (TMA, mbarriers)": the left-out kernels with this PTX
 * and code for a machine of this compute capability, appended to `list`. */
static void list_left_out(const struct kernel_entry *const *left_out, int count, int ptx, int own,
                          char *list, size_t size) {
    int listed = 0;
    for (int i = 0; i < count; ++i) {
        char name[64];
        if (left_out[i]->ptx != ptx || capability_of_entry(left_out[i]) != own) continue;
        kernel_label(kernel_of_any_type(left_out[i]), name, sizeof name);
        const size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", !used ? "" : listed ? ", " : "; ", name);
        ++listed;
    }
    const size_t used = strlen(list);
    const char *const needs = listed == 1 ? "needs" : "need";
    if (listed && ptx)
        snprintf(list + used, size - used, ", which %s %d.%d or later%s", needs, ptx / 10, ptx % 10,
                 ptx == 90 ? " (TMA, mbarriers)" : "");
    else if (listed)
        snprintf(list + used, size - used, ", which %s %d.%d itself (%s)", needs, own / 10,
                 own % 10, own == 90 ? "Hopper: wgmma" : "Blackwell: tcgen05");
}

/* The one line on all kernels that need another GPU. */
static void complain_left_out(const struct kernel_entry *const *left_out, int count,
                              const struct backend_info *device) {
    char list[2048] = "";
    for (int i = 0; i < count; ++i) {
        const int ptx = left_out[i]->ptx, own = capability_of_entry(left_out[i]);
        bool listed = false;
        for (int j = 0; j < i; ++j)
            listed |= left_out[j]->ptx == ptx && capability_of_entry(left_out[j]) == own;
        if (!listed) list_left_out(left_out, count, ptx, own, list, sizeof list);
    }
    if (count)
        complain("left out on %s (compute capability %d.%d): %s; the program of the same name "
                 "under sim/ simulates %s, without a GPU",
                 device->name, device->compute_capability / 10, device->compute_capability % 10,
                 list, count == 1 ? "it" : "them");
}

enum exit_code leave_out(struct lap *s, const struct backend_info *device, enum gemm_type type,
                         int gpus) {
    const bool simulated = strcmp(device->backend, "sim") == 0;
    const struct kernel_entry **left_out =
        allocate((size_t)s->count + 1, sizeof *left_out, "the kernels that are left out");
    int count = 0, left_out_count = 0;
    for (int i = 0; i < s->count; ++i) {
        const struct kernel_entry *entry = s->entries[i];
        char name[64];
        kernel_label(kernel_of_any_type(entry), name, sizeof name);
        if (!s->kernels[i]) {
            complain("%s is left out: it is not compiled for %s", name, type_names[type]);
        } else if (s->kernels[i]->refused) {
            s->refused = true;
            complain("%s: %s; why: cmake --build build --target %s_%s", name,
                     s->kernels[i]->technique, simulated ? "sim" : "gpu", s->kernels[i]->name);
        } else if (!entry_runs_on(entry, device->compute_capability)) {
            left_out[left_out_count++] = entry;
        } else if (device->smem_bytes && s->kernels[i]->smem_bytes > device->smem_bytes) {
            complain("%s%sneeds %zu bytes of shared memory for a CTA, and %s has %zu; the program "
                     "of the same name under sim/ simulates it",
                     program_is_tour ? name : "this kernel ",
                     program_is_tour ? " is left out: it " : "", s->kernels[i]->smem_bytes,
                     device->name, device->smem_bytes);
        } else if (entry->gpus > 1 && gpus > device->gpus) {
            complain("%s%sneeds %d GPUs that reach each other's memory, and there %s %d here%s",
                     program_is_tour ? name : "this kernel ",
                     program_is_tour ? " is left out: it " : "", gpus,
                     device->gpus == 1 ? "is" : "are", device->gpus,
                     simulated ? "" : "; the program of the same name under sim/ simulates them");
        } else {
            s->kernels[count] = s->kernels[i];
            s->traced[count] = s->traced[i];
            s->entries[count++] = entry;
        }
    }
    complain_left_out(left_out, left_out_count, device);
    free(left_out);
    s->count = count;
    return count ? EXIT_VERIFIED : s->refused ? EXIT_USAGE : EXIT_NO_DEVICE;
}
