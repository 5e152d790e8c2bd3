#include "kind_options.h"

#include <stdlib.h>
#include <string.h>

#include "harness/message.h"
#include "harness/problem_kind.h"
#include "splitmix64.h"

const char *kind_lacks(const struct problem_kind *kind) {
    for (int i = 0; i < kind->option_count; ++i) {
        const struct backend_setting *const option = &kind->options[i];
        const struct kind_choice *const choice = &kind->choices[i];
        if (!kind->choices || choice->usuals == 0 ||
            (!option->names && (choice->drawn < option->low || choice->most < choice->drawn)))
            return "an option has no struct kind_choice, so --check would never change it";
    }
    return kind->option_count > KIND_OPTIONS ? "more options than KIND_OPTIONS" : NULL;
}

static int options_of(const struct problem_kind *kind) {
    const char *const lack = kind_lacks(kind);
    if (lack) {
        complain("%s: %s", kind->name, lack);
        exit(EXIT_USAGE);
    }
    return kind->option_count;
}

struct kind_set kind_get(const struct gemm_kernel *kernel) {
    const struct problem_kind *const kind = kind_of(kernel);
    struct kind_set set = {{0}};
    for (int i = 0; i < options_of(kind); ++i)
        set.value[i] = kind->options[i].value;
    return set;
}

static void set_options(const struct problem_kind *kind, const struct kind_set *set) {
    for (int i = 0; i < options_of(kind); ++i)
        kind->options[i].value = set->value[i];
}

void kind_set_options(const struct gemm_kernel *kernel, const struct kind_set *set) {
    set_options(kind_of(kernel), set);
}

static bool accepts(const struct problem_kind *kind, const struct kind_set *set) {
    set_options(kind, set);
    return !kind->refuse || !kind->refuse();
}

/* ---- drawn ---- */

/* The usual values of an option take turns, from one k to another some way off. */
enum { SAME = 5 };
static uint64_t usual(const struct kind_choice *choice, int turn) {
    return choice->usual[turn % choice->usuals];
}

static struct kind_set usual_set(const struct problem_kind *kind, int turn) {
    struct kind_set set = {{0}};
    for (int i = 0; i < options_of(kind); ++i)
        set.value[i] = usual(&kind->choices[i], turn);
    return set;
}

/* Of a name, in half of the draws a usual one. */
static uint64_t draw_value(const struct problem_kind *kind, int i, uint64_t *random) {
    const struct backend_setting *const option = &kind->options[i];
    const struct kind_choice *const choice = &kind->choices[i];
    const uint64_t most = option->names ? option->high : choice->drawn;
    const uint64_t drawn = splitmix64(random);
    if (option->names && drawn % 2) return usual(choice, (int)(drawn / 2 % 1024));
    return option->low + drawn / 2 % (most - option->low + 1);
}

int kind_drawn_k(const struct gemm_kernel *kernel, int k, uint64_t seed) {
    const struct problem_kind *const kind = kind_of(kernel);
    uint64_t random = seed << 32 | (uint32_t)k;
    const int count = options_of(kind);
    struct kind_set set = usual_set(kind, k / SAME);
    for (bool refused = seed != 1; refused; refused = !accepts(kind, &set))
        for (int i = 0; i < count; ++i)
            set.value[i] = draw_value(kind, i, &random);
    set_options(kind, &set);
    return kind->depth ? kind->depth : k;
}

/* ---- around what may matter ---- */

struct values {
    uint64_t low, high, *value;
    int count;
};

static void add(struct values *values, uint64_t value) {
    if (value < values->low || value > values->high) return;
    for (int i = 0; i < values->count; ++i)
        if (values->value[i] == value) return;
    if (values->count == KIND_VALUES) abort();
    values->value[values->count++] = value;
}

static void add_around(struct values *values, uint64_t at) {
    add(values, at - 1);
    add(values, at);
    add(values, at + 1);
}

int kind_values(const struct gemm_kernel *kernel, int option, uint64_t value[KIND_VALUES]) {
    const struct backend_setting *const of = &kind_of(kernel)->options[option];
    struct values values = {of->low, of->names ? of->high : kind_of(kernel)->choices[option].most,
                            value, 0};
    for (uint64_t i = of->low; i <= (of->names ? of->high : of->low + 2); ++i)
        add(&values, i);
    for (int i = 0; i < GEMM_BOUNDARIES && kernel->boundaries[i].of; ++i)
        if (!strcmp(kernel->boundaries[i].of, of->option)) {
            const uint64_t at = (uint64_t)kernel->boundaries[i].at;
            add_around(&values, at);
            add(&values, 2 * at + 1);
        }
    for (uint64_t power = 8; power <= values.high && !of->names; power *= 2) {
        add(&values, power);
        add(&values, power + 1);
    }
    return values.count;
}

/* The next higher choice of the numbers besides `fixed`, the last one fastest; false after the
 * highest. */
static bool count_up(const struct problem_kind *kind, int fixed, struct kind_set *set) {
    for (int i = kind->option_count - 1; i >= 0; --i) {
        const struct backend_setting *const option = &kind->options[i];
        if (i == fixed || option->names) continue;
        if (set->value[i]++ < kind->choices[i].most) return true;
        set->value[i] = option->low;
    }
    return false;
}

struct kind_set kind_least_set(const struct gemm_kernel *kernel) {
    const struct problem_kind *const kind = kind_of(kernel);
    struct kind_set set = usual_set(kind, 0);
    for (int i = 0; i < options_of(kind); ++i)
        if (!kind->options[i].names) set.value[i] = kind->options[i].low;
    return set;
}

/* One more set; the names besides `option` take turns from set to set. */
static int add_set(const struct problem_kind *kind, int option, struct kind_set set,
                   struct kind_set *sets, int count) {
    for (int i = 0; i < kind->option_count; ++i)
        if (i != option && kind->options[i].names)
            set.value[i] = usual(&kind->choices[i], count / 2 + count % 2);
    if (count == KIND_SETS) abort();
    sets[count] = set;
    return count + 1;
}

/* The two least sets with this value of a number; if there is only one, twice. */
static int add_number(const struct gemm_kernel *kernel, int option, uint64_t value,
                      struct kind_set *sets, int count) {
    const struct problem_kind *const kind = kind_of(kernel);
    const int begin = count;
    struct kind_set set = kind_least_set(kernel);
    set.value[option] = value;
    do
        if (accepts(kind, &set)) count = add_set(kind, option, set, sets, count);
    while (count < begin + 2 && count_up(kind, option, &set));
    return count == begin + 1 ? add_set(kind, option, sets[begin], sets, count) : count;
}

/* Two sets with this value of a name. */
static int add_name(const struct gemm_kernel *kernel, int option, uint64_t value,
                    struct kind_set *sets, int count) {
    for (int i = 0; i < 2; ++i) {
        struct kind_set set = usual_set(kind_of(kernel), i);
        set.value[option] = value;
        count = add_set(kind_of(kernel), option, set, sets, count);
    }
    return count;
}

int kind_option_sets(const struct gemm_kernel *kernel, struct kind_set sets[KIND_SETS]) {
    const struct problem_kind *const kind = kind_of(kernel);
    uint64_t value[KIND_VALUES];
    int count = 0;
    for (int i = 0; i < options_of(kind); ++i) {
        const int values = kind_values(kernel, i, value);
        for (int j = 0; j < values; ++j)
            count =
                (kind->options[i].names ? add_name : add_number)(kernel, i, value[j], sets, count);
    }
    return count;
}
