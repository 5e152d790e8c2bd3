#include "tools/book/docs_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Does the figure exist? `place` is where. */
static bool exists(const char *root, const char *name, const char *kind, char place[PLACE]) {
    struct text path = {0};
    struct stat unused;
    char file[PLACE];
    snprintf(file, sizeof file, "figures/%s-%s.svg", name, kind);
    text_add(&path, "%s/%s", root, docs_place(root, file, place));
    const bool found = stat(path.data, &unused) == 0;
    free(path.data);
    return found;
}

static bool make_figure(struct text *out, const char *root, const struct page *page, int line) {
    static const char *const kinds[] = {"measured", "simulated"};
    char place[PLACE], link[PLACE];
    char name[128] = "", only[16] = "";
    sscanf(page->line[line], "<!-- figure: %127s %15[a-z]", name, only);
    if (*only && strcmp(only, kinds[0]) && strcmp(only, kinds[1])) {
        complain(page, line, "a figure is measured or simulated, not '%s'", only);
        return false;
    }
    int found = 0;
    text_add(out, "\n");
    for (int i = 0; i < 2; ++i) {
        if (*only && strcmp(only, kinds[i])) continue;
        if (!exists(root, name, kinds[i], place)) continue;
        text_add(out, "![Timeline of %s, %s](%s)\n\n", name, kinds[i],
                 page_link(page, place, link));
        ++found;
    }
    if (!found && strcmp(name, "all") == 0)
        text_add(out, "*To draw the timelines of all chapters:* `build/sim/tour --report "
                      "report`*, then open* `report/index.html`.\n\n");
    else if (!found && strcmp(only, "measured") == 0)
        text_add(out, "*Not yet recorded.*\n\n");
    else if (!found)
        text_add(out,
                 "*To draw the simulated timeline:* `build/sim/%s --trace %s.json`*, then open "
                 "the file in ui.perfetto.dev.*\n\n",
                 name, name);
    return true;
}

void figures_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- figure:", "figure", make_figure);
}
