#include "docs_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(const char *root, const char *name, const char *kind) {
    struct text path = {0};
    struct stat unused;
    text_add(&path, "%s/docs/figures/%s-%s.svg", root, name, kind);
    const bool found = stat(path.data, &unused) == 0;
    free(path.data);
    return found;
}

void figures_check(const char *root, struct page *page, bool rewrite) {
    static const char *const kinds[] = {"measured", "simulated"};
    const char *slash = strchr(page->path, '/');
    const char *up = !slash ? "docs/" : page_is_chapter(page->path) ? "../docs/" : "";
    for (int line = 0; (line = page_find(page, line, "<!-- figure:")) >= 0; ++line) {
        char name[128] = "";
        sscanf(page->line[line], "<!-- figure: %127s -->", name);
        const int end = page_find(page, line, "<!-- end -->");
        if (end < 0) {
            complain(page, line, "the figure has no <!-- end -->");
            return;
        }
        struct text out = {0};
        int found = 0;
        text_add(&out, "\n");
        for (int i = 0; i < 2; ++i) {
            if (!exists(root, name, kinds[i])) continue;
            text_add(&out, "![Timeline of %s, %s](%sfigures/%s-%s.svg)\n\n", name, kinds[i], up,
                     name, kinds[i]);
            ++found;
        }
        if (!found && strcmp(name, "all") == 0)
            text_add(&out, "*To draw the timelines of all chapters:* `build/sim/tour --report "
                           "report`*, then open* `report/index.html`.\n\n");
        else if (!found)
            text_add(&out,
                     "*To draw the simulated timeline:* `build/sim/%s --trace %s.json`*, then open "
                     "the file in ui.perfetto.dev.*\n\n",
                     name, name);
        if (!page_replace(page, line + 1, end - line - 1, out.data) && !rewrite)
            complain(page, line, "the figure is stale: build the target docs");
        free(out.data);
    }
}
