/* instructions.c: looking up opcodes. */
#include "program/instructions.h"

#include <stdlib.h>
#include <string.h>

static const struct scalar_group *const scalar_groups[] = {
    &integer_group, &carry_group,       &wide_integer_group,    &logic_group,
    &bit_group,     &select_group,      &float_group,           &double_group,
    &half_group,    &approximate_group, &approximate_half_group};
static const struct family_group *const family_groups[] = {
    &compare_families,  &convert_families, &memory_families,     &atomic_families,
    &address_families,  &warp_families,    &matrix_families,     &barrier_families,
    &mbarrier_families, &copy_families,    &bulk_families,       &tensor_copy_families,
    &tensor_families,   &control_families, &tensor_map_families, &rounded_families,
    &test_families,     &pack_families,    &wmma_families,       &wmma_move_families,
    &video_families};
enum {
    SCALAR_GROUPS = sizeof scalar_groups / sizeof *scalar_groups,
    FAMILY_GROUPS = sizeof family_groups / sizeof *family_groups
};

/* What PTX has and this does not: an opcode of it gets this reason. */
static const struct family refused[] = {
    {"tex", NULL, REFUSED, "textures are not modelled"},
    {"tld4", NULL, REFUSED, "textures are not modelled"},
    {"txq", NULL, REFUSED, "textures are not modelled"},
    {"suld", NULL, REFUSED, "surfaces are not modelled"},
    {"sust", NULL, REFUSED, "surfaces are not modelled"},
    {"sured", NULL, REFUSED, "surfaces are not modelled"},
    {"tcgen05", NULL, REFUSED, "an instruction of Blackwell"},
    {"clusterlaunchcontrol", NULL, REFUSED, "an instruction of Blackwell"},
    {"multimem", NULL, REFUSED, "multicast memory is not modelled"},
    {"st.bulk", NULL, REFUSED, "bulk stores are not modelled yet"},
    {"vmad", NULL, REFUSED, "this video instruction is not modelled"},
    {"vset", NULL, REFUSED, "this video instruction is not modelled"},
    {"alloca", NULL, REFUSED, "stacks of variable size are not modelled"},
};

enum { BUCKETS = 2048 };
static const struct scalar *table[BUCKETS]; /* open addressing */

static unsigned hash_of(const char *text) {
    unsigned hash = 2166136261u;
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static void fill_table(void) {
    for (int g = 0; g < SCALAR_GROUPS; ++g)
        for (int i = 0; i < scalar_groups[g]->rows; ++i) {
            const struct scalar *const row = &scalar_groups[g]->row[i];
            unsigned at = hash_of(row->opcode) % BUCKETS;
            while (table[at])
                at = (at + 1) % BUCKETS;
            table[at] = row;
        }
}

static const struct scalar *find_scalar(const char *opcode) {
    static bool filled;
    if (!filled) fill_table();
    filled = true;
    for (unsigned at = hash_of(opcode) % BUCKETS; table[at]; at = (at + 1) % BUCKETS)
        if (!strcmp(table[at]->opcode, opcode)) return table[at];
    return NULL;
}

static bool begins_with(const char *opcode, const char *words) {
    const size_t length = strlen(words);
    return !strncmp(opcode, words, length) && (!opcode[length] || opcode[length] == '.');
}

/* The longest that fits. */
static const struct family *find_family(const char *opcode) {
    const struct family *best = NULL;
    const struct family_group own = FAMILY_GROUP(refused);
    for (int g = 0; g <= FAMILY_GROUPS; ++g) {
        const struct family_group *const group = g < FAMILY_GROUPS ? family_groups[g] : &own;
        for (int i = 0; i < group->rows; ++i) {
            const struct family *const row = &group->row[i];
            if (begins_with(opcode, row->words) &&
                (!best || strlen(best->words) < strlen(row->words)))
                best = row;
        }
    }
    return best;
}

static void split(struct decoder *d, const char *opcode) {
    d->words = d->next = 0;
    for (const char *c = opcode; *c;) {
        const size_t length = strcspn(c, ".");
        if (d->words == WORDS || length >= WORD_LENGTH) {
            refuse(d, "its opcode is too long");
            return;
        }
        memcpy(d->word[d->words], c, length);
        d->word[d->words++][length] = 0;
        c += length + (c[length] == '.');
    }
}

static int count_words(const char *text) {
    int words = 1;
    for (; *text; ++text)
        words += *text == '.';
    return words;
}

void instruction_decode(struct decoder *d) {
    const char *const opcode = d->source->opcode;
    const struct scalar *const scalar = find_scalar(opcode);
    if (scalar) {
        d->op->run = scalar->run;
        take_operands(d, scalar->letters);
        return;
    }
    const struct family *const family = find_family(opcode);
    if (!family) {
        refuse(d, "it is not modelled");
        return;
    }
    if (!family->decode) {
        refuse(d, family->section);
        return;
    }
    split(d, opcode);
    d->next = count_words(family->words);
    d->op->flow = FLOW_UNIT;
    family->decode(d);
    no_more_words(d);
}

static const char *const fidelity_names[] = {"modelled", "approximate", "ordering only", "refused"};

void instructions_print(FILE *out) {
    const char *const *const names = fidelity_names;
    const struct family_group own = FAMILY_GROUP(refused);
    for (int g = 0; g < SCALAR_GROUPS; ++g)
        for (int i = 0; i < scalar_groups[g]->rows; ++i)
            fprintf(out, "%-40s %-14s %s\n", scalar_groups[g]->row[i].opcode,
                    names[scalar_groups[g]->fidelity], scalar_groups[g]->section);
    for (int g = 0; g <= FAMILY_GROUPS; ++g) {
        const struct family_group *const group = g < FAMILY_GROUPS ? family_groups[g] : &own;
        for (int i = 0; i < group->rows; ++i)
            fprintf(out, "%-37s... %-14s %s\n", group->row[i].words, names[group->row[i].fidelity],
                    group->row[i].section);
    }
}

/* ---- the summary: a row for each fidelity, with the opcodes' first words, or families ---- */

enum { MOST_NAMES = 512, NAME = 48 };
struct names {
    char name[MOST_NAMES][NAME];
    int count;
};

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void add_name(struct names *names, const char *text, size_t length) {
    if (length >= NAME) length = NAME - 1;
    for (int i = 0; i < names->count; ++i)
        if (!strncmp(names->name[i], text, length) && !names->name[i][length]) return;
    if (names->count == MOST_NAMES) return;
    memcpy(names->name[names->count], text, length);
    names->name[names->count++][length] = 0;
}

static void collect(struct names *names, enum fidelity fidelity) {
    const struct family_group own = FAMILY_GROUP(refused);
    names->count = 0;
    for (int g = 0; g < SCALAR_GROUPS; ++g)
        for (int i = 0; i < scalar_groups[g]->rows && scalar_groups[g]->fidelity == fidelity; ++i)
            add_name(names, scalar_groups[g]->row[i].opcode,
                     strcspn(scalar_groups[g]->row[i].opcode, "."));
    for (int g = 0; g <= FAMILY_GROUPS; ++g) {
        const struct family_group *const group = g < FAMILY_GROUPS ? family_groups[g] : &own;
        for (int i = 0; i < group->rows; ++i)
            if (group->row[i].fidelity == fidelity)
                add_name(names, group->row[i].words, strlen(group->row[i].words));
    }
    qsort(names->name, (size_t)names->count, sizeof names->name[0], by_name);
}

void instructions_summary(FILE *out) {
    static struct names names;
    for (enum fidelity f = MODELLED; f <= REFUSED; ++f) {
        collect(&names, f);
        fprintf(out, "| %s |", fidelity_names[f]);
        for (int i = 0; i < names.count; ++i)
            fprintf(out, "%s `%s`", i ? "," : "", names.name[i]);
        fputs(" |\n", out);
    }
}
