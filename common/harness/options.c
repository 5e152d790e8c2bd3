#include "harness/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind_options.h"
#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/nearest_name.h"
#include "harness/output_file.h"
#include "harness/problem_kind.h"
#include "harness/reference.h"
#include "harness/registry.h"
#include "harness/timing.h"
#include "services/devices.h"
#include "timeline/timeline.h"

const char *const type_names[ELEMENT_TYPES] = {"fp16", "bf16", "e4m3", "w4a8"};
const char *const pitch_names[] = {"least", "drawn", "far"};     /* enum pitches */
const char *const early_names[] = {"order", "early", "early-b"}; /* enum gemm_early */
static const char *const timing_names[4] = {"none", "burst", "sustained", "both"}; /* by flags */

/* Leaves room for rounding up to a tile in int arithmetic. */
enum { LARGEST_EXTENT = 2000000000, MOST_ROUNDS = 100000 };
enum { PART_ONE = 0x3fe }; /* chapters 1 to 9: what the tour runs unless told otherwise */

bool parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    if (*text < '0' || *text > '9') return false; /* strtoull would take blanks and signs */
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *value >= low && *value <= high;
}

bool parse_extents(const char *text, int *m, int *n, int *k) {
    int *const extents[] = {m, n, k};
    for (int i = 0; i < 3; ++i) {
        char digits[16];
        uint64_t whole;
        const size_t length = strcspn(text, "x");
        if (length >= sizeof digits || (text[length] == 'x') != (i < 2)) return false;
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!parse_whole(digits, 1, LARGEST_EXTENT, &whole)) return false;
        *extents[i] = (int)whole;
        text += length + 1;
    }
    return true;
}

int find_name(const char *text, const char *const *names, int count) {
    for (int i = 0; i < count; ++i)
        if (strcmp(text, names[i]) == 0) return i;
    return -1;
}

int chapter_of_kernel(const struct gemm_kernel *kernel) {
    int chapter = 0;
    for (const char *c = kernel->name; *c >= '0' && *c <= '9' && chapter < 10; ++c)
        chapter = 10 * chapter + (*c - '0');
    return chapter;
}

/* ---- values ---- */

static bool read_whole(const char *name, const char *text, uint64_t low, uint64_t high,
                       uint64_t *value) {
    if (parse_whole(text, low, high, value)) return true;
    complain("%s: '%s' is not a whole number from %llu to %llu", name, text,
             (unsigned long long)low, (unsigned long long)high);
    return false;
}

static bool read_int(const char *name, const char *text, int high, int *value) {
    uint64_t whole;
    if (!read_whole(name, text, 1, (uint64_t)high, &whole)) return false;
    *value = (int)whole;
    return true;
}

static bool read_name(const char *name, const char *text, const char *const *names, int count,
                      int *value) {
    *value = find_name(text, names, count);
    if (*value >= 0) return true;
    char list[128] = "";
    for (int i = 0; i < count; ++i) {
        if (i) strcat(list, i + 1 < count ? ", " : " or ");
        strcat(list, names[i]);
    }
    complain("%s: '%s' is not known; choose %s", name, text, list);
    return false;
}

const char *type_list(const struct gemm_kernel *const of_type[ELEMENT_TYPES], char text[32]) {
    int count = 0, listed = 0;
    for (int type = 0; type < ELEMENT_TYPES; ++type)
        count += of_type[type] != NULL;
    *text = '\0';
    for (int type = 0; type < ELEMENT_TYPES; ++type) {
        if (!of_type[type]) continue;
        if (listed++) strcat(text, listed == count ? " or " : ", ");
        strcat(text, type_names[type]);
    }
    return text;
}

int program_types(char text[32]) {
    const struct gemm_kernel *some[ELEMENT_TYPES] = {NULL};
    int count = 0;
    for (int i = 0; i < kernel_registry_count; ++i)
        for (int type = 0; type < ELEMENT_TYPES; ++type)
            if (kernel_registry[i].of_type[type]) some[type] = kernel_registry[i].of_type[type];
    for (int type = 0; type < ELEMENT_TYPES; ++type)
        count += some[type] != NULL;
    type_list(some, text);
    return count;
}

static bool read_type(const char *name, const char *text, enum gemm_type *type) {
    const int index = find_name(text, type_names, ELEMENT_TYPES);
    char list[32];
    if (index < 0) {
        program_types(list);
        complain("%s: '%s' is not known; choose %s", name, text, list);
        return false;
    }
    *type = (enum gemm_type)index;
    return true;
}

/* The chapters that this program has, as bits. */
static uint32_t known_chapters(void) {
    uint32_t known = 0;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const int chapter = chapter_of_kernel(kernel_of_any_type(&kernel_registry[i]));
        if (chapter < 32) known |= 1u << chapter;
    }
    return known;
}

/* A number at *text, which moves on behind it; -1 if there is none. */
static int chapter_number(const char **text) {
    int number = -1;
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number > 99 ? 100 : (number < 0 ? 0 : 10 * number) + (**text - '0');
    return number;
}

/* "3,7-9" */
static bool read_chapters(const char *text, uint32_t *chapters) {
    const uint32_t known = known_chapters();
    const char *rest = text;
    *chapters = 0;
    do {
        const int first = chapter_number(&rest);
        int last = first;
        if (first >= 0 && *rest == '-') {
            ++rest;
            last = chapter_number(&rest);
        }
        if (first < 0 || last < first || (*rest != ',' && *rest != '\0')) {
            complain("--chapters: '%s' is not a list of chapters such as 3,7-9", text);
            return false;
        }
        for (int chapter = first; chapter <= last; ++chapter) {
            if (chapter > 31 || !(known >> chapter & 1)) {
                complain("--chapters: there is no chapter %d here; --help lists the chapters, and "
                         "those from 10 on are in tour_beyond",
                         chapter);
                return false;
            }
            *chapters |= 1u << chapter;
        }
    } while (*rest++ == ',');
    return true;
}

/* "mbarrier" or "mbarrier:2" */
static bool read_explain(const char *text, int *index) {
    static const char subject[] = "mbarrier";
    const size_t length = sizeof subject - 1;
    uint64_t whole = 0;
    if (strncmp(text, subject, length) == 0 &&
        (text[length] == '\0' ||
         (text[length] == ':' && parse_whole(text + length + 1, 0, INT_MAX, &whole)))) {
        *index = (int)whole;
        return true;
    }
    complain("--explain: '%s' is not known; choose mbarrier, or mbarrier:1 for the second one",
             text);
    return false;
}

/* ---- one option ---- */

const struct problem_kind *kind_of_program(void) {
    if (program_is_tour) return &product_kind;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        if (!kernel->variant) return kind_of(kernel);
    }
    return kind_of(kernel_of_any_type(&kernel_registry[0]));
}

struct backend_setting *find_setting(const char *name) {
    for (int i = 0; i < backend_setting_count; ++i)
        if (strcmp(backend_settings[i].option, name) == 0) return &backend_settings[i];
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct problem_kind *const kind = kind_of(kernel_of_any_type(&kernel_registry[i]));
        for (int j = 0; j < kind->option_count; ++j)
            if (strcmp(kind->options[j].option, name) == 0) return &kind->options[j];
    }
    return NULL;
}

static bool takes_all(const struct backend_setting *setting) {
    return strstr(setting->argument, "|all") != NULL;
}

enum { MOST_SETTINGS = CHECK_SETTINGS };
static uint64_t usual_values[MOST_SETTINGS]; /* of backend_settings */

bool setting_is_usual(int index, uint64_t value) { return usual_values[index] == value; }

static void note_usual_values(void) {
    for (int i = 0; i < backend_setting_count && i < MOST_SETTINGS; ++i)
        usual_values[i] = backend_settings[i].value;
}

const char *setting_word(const struct backend_setting *setting, uint64_t value, char text[24]) {
    if (setting->names) return setting->names[value];
    if (takes_all(setting) && value == setting->high) return "all";
    snprintf(text, 24, "%llu", (unsigned long long)value);
    return text;
}

bool read_setting(struct backend_setting *setting, const char *text) {
    if (takes_all(setting) && strcmp(text, "all") == 0) {
        setting->value = setting->high;
        return true;
    }
    if (!setting->names)
        return read_whole(setting->option, text, setting->low, setting->high, &setting->value);
    int index;
    if (!read_name(setting->option, text, setting->names, (int)setting->high + 1, &index))
        return false;
    setting->value = (uint64_t)index;
    return true;
}

/* An option that belongs to the other kind of program. */
static bool refuse_elsewhere(const char *name) {
    const char *const reason = backend_lacks(name);
    if (reason)
        complain("%s: %s", name, reason);
    else if (program_is_tour && strcmp(name, "--variant") == 0)
        complain("--variant: the tour runs the chapters' own kernels; run the chapter's program");
    else if (program_is_tour && strcmp(name, "--check") == 0)
        complain("--check: checks one kernel; run the program of its chapter");
    else if (program_is_tour && strcmp(name, "--explain") == 0)
        complain("--explain: the tour has many kernels; run the program of one chapter");
    else if (!program_is_tour && strcmp(name, "--chapters") == 0)
        complain("--chapters: only the tour has this option");
    else
        return false;
    return true;
}

static bool apply(struct options *options, const char *name, const char *value) {
    int index = 0;
    struct backend_setting *const setting = find_setting(name);
    if (refuse_elsewhere(name)) return false;
    if (setting) return read_setting(setting, value);
    static const char *const extents[] = {"--m", "--n", "--k", "--size"};
    if (find_name(name, extents, 4) >= 0) options->usual_extents = false;
    if (!strcmp(name, "--m")) return read_int(name, value, LARGEST_EXTENT, &options->m);
    if (!strcmp(name, "--n")) return read_int(name, value, LARGEST_EXTENT, &options->n);
    if (!strcmp(name, "--k")) options->usual_k = false;
    if (!strcmp(name, "--k")) return read_int(name, value, LARGEST_EXTENT, &options->k);
    if (!strcmp(name, "--size")) {
        if (!read_int(name, value, LARGEST_EXTENT, &options->m)) return false;
        options->n = options->k = options->m;
        return true;
    }
    if (!strcmp(name, "--iters")) return read_int(name, value, MOST_ROUNDS, &options->iterations);
    if (!strcmp(name, "--gpus")) return read_int(name, value, GEMM_DEVICES, &options->backend.gpus);
    if (!strcmp(name, "--seed")) return read_whole(name, value, 0, UINT64_MAX, &options->seed);
    if (!strcmp(name, "--chapters")) return read_chapters(value, &options->chapters);
    if (!strcmp(name, "--variant")) return options->variant = value, true;
    if (!strcmp(name, "--trace")) return options->trace = value, true;
    if (!strcmp(name, "--trace-sms"))
        return read_int(name, value, TRACE_MOST_SMS, &options->trace_sms);
    if (!strcmp(name, "--report")) return options->report = value, true;
    if (!strcmp(name, "--csv")) return options->csv = value, true;
    if (!strcmp(name, "--explain")) return read_explain(value, &options->explain);
    if (!strcmp(name, "--dtype")) {
        options->usual_type = false;
        return read_type(name, value, &options->backend.type);
    }
    if (!strcmp(name, "--input")) {
        if (!read_name(name, value, input_names, INPUT_KINDS, &index)) return false;
        options->input = (enum input_kind)index;
    } else if (!strcmp(name, "--launch")) {
        if (!read_name(name, value, early_names, GEMM_EARLY_B + 1, &index)) return false;
        options->early = (enum gemm_early)index;
    } else if (!strcmp(name, "--pitches")) {
        const int choices = backend_can_time() ? PITCHES_FAR : PITCHES; /* no GPU has the memory */
        if (!read_name(name, value, pitch_names, choices, &index)) return false;
        options->pitches = (enum pitches)index;
    } else if (!strcmp(name, "--padding")) {
        if (!read_name(name, value, padding_names, PADDINGS, &index)) return false;
        options->padding = (enum padding)index;
    } else { /* --timing */
        if (!read_name(name, value, timing_names, 4, &index)) return false;
        if (!backend_can_time() && index != 0) {
            complain("--timing: the simulator has cycles, not times; choose none");
            return false;
        }
        options->timing = index;
    }
    return true;
}

/* ---- what options mean together ---- */

static bool check_variant(const struct options *options) {
    if (!options->variant) return true;
    char list[256] = "";
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = kernel_of_any_type(&kernel_registry[i]);
        if (!kernel->variant) continue;
        if (strcmp(kernel->variant, options->variant) == 0) return true;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", kernel->variant);
    }
    complain("--variant: there is no '%s' here; %s%s", options->variant,
             *list ? "choose from: " : "this chapter has no variants", list);
    return false;
}

/* Without --dtype, a variant that is not compiled for the program's usual type has its own. */
static void take_type_of_variant(struct options *options) {
    for (int i = 0; i < kernel_registry_count && options->usual_type && options->variant; ++i) {
        const struct kernel_entry *const entry = &kernel_registry[i];
        const char *const variant = kernel_of_any_type(entry)->variant;
        if (!variant || strcmp(variant, options->variant) != 0 ||
            entry->of_type[options->backend.type])
            continue;
        for (int type = 0; type < ELEMENT_TYPES; ++type)
            if (entry->of_type[type]) options->backend.type = (enum gemm_type)type;
    }
}

/* Is the kernel compiled for the type? The tour leaves out those that are not. */
static bool check_type(const struct options *options) {
    if (program_is_tour) return true;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct kernel_entry *entry = &kernel_registry[i];
        const char *variant = kernel_of_any_type(entry)->variant;
        if (!options->variant != !variant || (variant && strcmp(variant, options->variant) != 0) ||
            entry->of_type[options->backend.type])
            continue;
        char list[32];
        complain("--dtype: this kernel is not compiled for %s; choose %s",
                 type_names[options->backend.type], type_list(entry->of_type, list));
        return false;
    }
    return true;
}

/* Do the options select this kernel? */
static bool is_selected(const struct options *o, const struct kernel_entry *entry) {
    const struct gemm_kernel *const kernel = kernel_of_any_type(entry);
    if (!(o->chapters >> chapter_of_kernel(kernel) % 32 & 1)) return false;
    return program_is_tour ? entry->step
           : o->variant    ? kernel->variant && strcmp(kernel->variant, o->variant) == 0
                           : !kernel->variant;
}

/* Kernel `index` of the registry, if the options select it; or NULL. */
static const struct gemm_kernel *selected_kernel(const struct options *o, int index) {
    const struct kernel_entry *const entry = &kernel_registry[index];
    return is_selected(o, entry) ? kernel_of_type(entry, o->backend.type) : NULL;
}

/* How many GPUs the kernels get: as many as they are for. */
static bool check_gpus(struct options *o) {
    int needed = 1;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = kernel_of_any_type(&kernel_registry[i]);
        if (o->chapters >> chapter_of_kernel(kernel) % 32 & 1 &&
            gpus_of_entry(&kernel_registry[i]) > needed)
            needed = gpus_of_entry(&kernel_registry[i]);
    }
    if (!o->backend.gpus) o->backend.gpus = needed;
    if (o->backend.gpus == needed) return true;
    if (needed == 1)
        complain("--gpus: no kernel here is for several GPUs; leave it out");
    else
        complain("--gpus %d: the kernels for several GPUs are for %d", o->backend.gpus, needed);
    return false;
}

/* The chapter's own kernel may be a selection, of which some begin early. */
static bool check_early(const struct options *o) {
    bool begins_early = o->early == GEMM_IN_ORDER;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = selected_kernel(o, i);
        begins_early |= kernel && kernel->earliest != GEMM_IN_ORDER;
    }
    if (begins_early) return true;
    complain("--launch: this kernel launches in order; leave it out");
    return false;
}

bool kind_accepts(const struct problem_kind *kind) {
    const char *const lacks = kind_lacks(kind);
    const char *const why = lacks ? lacks : kind->refuse ? kind->refuse() : NULL;
    if (why) complain("%s: %s", kind->name, why);
    return !why;
}

void print_kind_options(const struct problem_kind *kind) {
    for (int i = 0; i < kind->option_count; ++i) {
        const struct backend_setting *const option = &kind->options[i];
        char number[24];
        printf(" %s %s", option->option, setting_word(option, option->value, number));
    }
}

/* A kind may be for one k alone. All kernels of a run are of the first one's kind. */
static bool check_kind(struct options *o) {
    const struct problem_kind *kind = &product_kind;
    for (int i = kernel_registry_count - 1; i >= 0; --i)
        if (is_selected(o, &kernel_registry[i]))
            kind = kind_of(kernel_of_any_type(&kernel_registry[i]));
    if (!kind_accepts(kind)) return false;
    if (!kind->depth) return true;
    if (o->usual_k) o->k = kind->depth;
    if (o->k == kind->depth) return true;
    complain("--k %d: this kernel is for --k %d; --help lists the variants", o->k, kind->depth);
    return false;
}

/* Whole numbers with which every sum is exact, for all kernels of each kind; 0: there are none. */
static int integer_limit(const struct options *o, int k) {
    const size_t room = (size_t)kernel_registry_count + 1;
    const struct gemm_kernel **const of_kind =
        allocate(room, sizeof *of_kind, "a choice of kernels");
    int least = INT_MAX;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const first = selected_kernel(o, i);
        int count = 0;
        if (!first) continue;
        for (int j = 0; j < kernel_registry_count; ++j) {
            const struct gemm_kernel *const kernel = selected_kernel(o, j);
            if (kernel && kind_of(kernel) == kind_of(first)) of_kind[count++] = kernel;
        }
        const int limit = kind_integer_limit(of_kind, count, k, o->backend.type);
        if (limit < least) least = limit;
    }
    free(of_kind);
    return least;
}

static bool check_size(const struct options *o) {
    if (o->input != INPUT_INTEGER || integer_limit(o, o->k) > 0) return true;
    int most = 0; /* there are some up to here, */
    for (int beyond = o->k; beyond - most > 1;) {
        const int middle = most + (beyond - most) / 2;
        *(integer_limit(o, middle) > 0 ? &most : &beyond) = middle;
    }
    complain("--input: integer needs --k %d or less, or sums would not be exact", most);
    return false;
}

/* --check leaves nothing else to choose than the kernel and the draws. */
static bool check_check(const struct options *options) {
    if (!options->check || !options->given) return true;
    complain("--check: chooses its own runs, so %s has no meaning; leave one of the two out",
             options->given);
    return false;
}

static bool check_outputs(const struct options *options) {
    if (options->explain >= 0 && options->json) {
        complain("--explain: prints text, --json prints JSON alone; choose one");
        return false;
    }
    if (options->csv && options->timing == 0) {
        complain("--csv: with --timing none there are no samples to write; choose a timing");
        return false;
    }
    return (!options->csv || output_can_write_file("--csv", options->csv)) &&
           (!options->trace || output_can_write_file("--trace", options->trace)) &&
           (!options->report || output_can_write_directory("--report", options->report));
}

void default_extents(int *m, int *n, int *k) {
    *m = *n = *k = backend_can_time() ? 8192 : 512;
    if (backend_can_time() || !program_is_tour) return;
    /* Tiles of 128 x 128, 128 x 192 and 128 x 256 fit it, and each of 4 SMs gets as many. */
    *m = 768;
    *n = 1536;
}

enum gemm_type default_type(void) {
    return registry_has_type(GEMM_BF16)   ? GEMM_BF16
           : registry_has_type(GEMM_E4M3) ? GEMM_E4M3
           : registry_has_type(GEMM_W4A8) ? GEMM_W4A8
                                          : GEMM_FP16;
}

/* Would --check take no notice of this option? */
static bool means_nothing_to_check(const char *name) {
    static const char *const heard[] = {"--variant", "--dtype", "--seed", "--hazards",
                                        "--doubtful"};
    return find_name(name, heard, (int)(sizeof heard / sizeof *heard)) < 0;
}

static const char *const with_value[] = {
    "--m",       "--n",     "--k",         "--size",   "--input",   "--seed",     "--timing",
    "--iters",   "--dtype", "--variant",   "--trace",  "--csv",     "--chapters", "--report",
    "--explain", "--gpus",  "--trace-sms", "--launch", "--pitches", "--padding"};
enum { WITH_VALUE = sizeof with_value / sizeof *with_value };

static void complain_of_unknown(const char *text, const char *name) {
    static const char *const alone[] = {"--help", "--check", "--json"};
    const struct problem_kind *const kind = kind_of_program();
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "="), name);
    struct near near = {.text = word};
    for (int i = 0; i < WITH_VALUE; ++i)
        near_consider(&near, with_value[i]);
    for (int i = 0; i < 3; ++i)
        near_consider(&near, alone[i]);
    for (int i = 0; i < backend_setting_count; ++i)
        near_consider(&near, backend_settings[i].option);
    for (int i = 0; i < kind->option_count; ++i)
        near_consider(&near, kind->options[i].option);
    if (near.name)
        complain("unknown option '%s'; did you mean %s? --help lists the options", text, near.name);
    else
        complain("unknown option '%s'; --help lists the options", text);
}

enum options_outcome options_read(struct options *options, int argc, char **argv) {
    *options = (struct options){.seed = 1,
                                .timing = backend_can_time() ? TIMING_BURST : 0,
                                .chapters = program_is_tour ? PART_ONE : ~0u,
                                .trace_sms = TRACE_SMS,
                                .explain = -1,
                                .backend = {.type = default_type()}};
    note_usual_values();
    default_extents(&options->m, &options->n, &options->k);
    options->usual_extents = options->usual_type = options->usual_k = true;
    for (int i = 1; i < argc; ++i) {
        char name[32];
        const char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        const size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
        if (!equals && (!strcmp(name, "--help") || !strcmp(name, "-h"))) return OPTIONS_HELP;
        if (!equals && !strcmp(name, "--check")) {
            if (refuse_elsewhere(name)) return OPTIONS_BAD;
            options->check = true;
            continue;
        }
        if (means_nothing_to_check(name)) options->given = argv[i];
        if (!equals && !strcmp(name, "--json")) {
            options->json = true;
            continue;
        }
        if (find_name(name, with_value, WITH_VALUE) < 0 && !find_setting(name) &&
            !backend_lacks(name)) {
            complain_of_unknown(argv[i], name);
            return OPTIONS_BAD;
        }
        if (!equals && i + 1 == argc) {
            complain("%s: needs a value; --help lists the options", name);
            return OPTIONS_BAD;
        }
        if (!apply(options, name, equals ? equals + 1 : argv[++i])) return OPTIONS_BAD;
    }
    options->backend.trace = options->trace || options->report || options->explain >= 0;
    take_type_of_variant(options);
    return check_variant(options) && check_type(options) && check_gpus(options) &&
                   check_early(options) && check_kind(options) && check_size(options) &&
                   check_check(options) && check_outputs(options)
               ? OPTIONS_RUN
               : OPTIONS_BAD;
}
