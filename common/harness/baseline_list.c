#include "harness/baseline_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/message.h"

uint32_t baseline_mask(const char *name) {
    const struct baseline_name *baseline;
    for (int i = 0; (baseline = backend_baseline_name(i)); ++i)
        if (!strcmp(baseline->name, name)) return (uint32_t)1 << i;
    return 0;
}

/* Appends ", text" to a list unless it has that word already. */
static void add_word(char *list, size_t size, const char *text) {
    const size_t used = strlen(list), length = strlen(text);
    for (const char *at = list; (at = strstr(at, text)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || !at[length])) return;
    snprintf(list + used, size - used, ", %s", text);
}

static void complain_unknown(const char *option, const char *word) {
    char choices[512] = "none, all";
    const struct baseline_name *baseline;
    for (int i = 0; (baseline = backend_baseline_name(i)); ++i)
        add_word(choices, sizeof choices, baseline->group);
    for (int i = 0; (baseline = backend_baseline_name(i)); ++i)
        add_word(choices, sizeof choices, baseline->name);
    complain("%s: '%s' is not known; choose from %s", option, word, choices);
}

/* One word of the list. */
static bool add_baselines(const char *option, const char *word, uint32_t *wanted) {
    const bool all = !strcmp(word, "all");
    const struct baseline_name *baseline;
    const char *needs = NULL;
    bool known = all || !strcmp(word, "none"), found = known;
    for (int i = 0; (baseline = backend_baseline_name(i)); ++i) {
        if (!all && strcmp(word, baseline->name) && strcmp(word, baseline->group)) continue;
        known = true;
        if (baseline->needs) needs = baseline->needs;
        if (baseline->needs) continue;
        found = true;
        *wanted |= (uint32_t)1 << i;
    }
    if (!known) complain_unknown(option, word);
    if (known && !found)
        complain("%s: '%s' is not in this build; configure with %s", option, word, needs);
    return known && found;
}

bool baselines_choose(const char *option, const char *list, uint32_t *wanted) {
    char *const words = strcpy(allocate(strlen(list) + 1, 1, "the names of the baselines"), list);
    char *rest = words;
    bool good = true;
    *wanted = 0;
    for (char *word; good && (word = strsep(&rest, ","));)
        good = add_baselines(option, word, wanted);
    free(words);
    return good;
}
