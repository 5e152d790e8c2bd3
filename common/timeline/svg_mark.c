/*
 * svg_mark.c: from spans alone, so that a measured and a simulated run are marked by one rule.
 */
#include "timeline/svg_mark.h"

#include <inttypes.h>

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Does one panel show all of it? */
static const struct panel *panel_of(const struct panel *panels, int count, int64_t begin,
                                    int64_t end) {
    for (int i = 0; i < count; ++i)
        if (begin >= panels[i].begin && end <= panels[i].end) return &panels[i];
    return NULL;
}

static const struct track *tensor_core(const struct timeline *timeline, int cta) {
    for (int i = 0; i < timeline->tracks; ++i)
        if (timeline->track[i].cta == cta && timeline->track[i].kind == TRACK_TENSOR_CORE)
            return &timeline->track[i];
    return NULL;
}

/* The longest time in which the Tensor Core multiplies for nobody, between the CTA's own first and
 * last multiplication. */
static struct svg_mark longest_gap(const struct track *core, const struct panel *panels,
                                   int count) {
    struct svg_mark gap = {0, 0, ""};
    int last = core->count - 1;
    while (last >= 0 && core->at[last].kind != SPAN_MMA)
        --last;
    bool begun = false;
    for (int i = 0; i < last; ++i) {
        const int64_t begin = core->at[i].end, end = core->at[i + 1].begin;
        begun |= core->at[i].kind == SPAN_MMA;
        if (begun && end - begin > gap.end - gap.begin && panel_of(panels, count, begin, end))
            gap.begin = begin, gap.end = end;
    }
    return gap;
}

/* The cycles of a span in which the Tensor Core multiplies for the CTA. */
static int64_t multiplied(const struct track *core, const struct span *span) {
    int64_t sum = 0;
    for (int i = 0; i < core->count; ++i)
        if (core->at[i].kind == SPAN_MMA)
            sum +=
                most(0, least(core->at[i].end, span->end) - most(core->at[i].begin, span->begin));
    return sum;
}

static const struct span *first_epilogue(const struct timeline *timeline, int cta,
                                         const struct panel *panels, int count) {
    const struct span *first = NULL;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        for (int j = 0; track->cta == cta && j < track->count; ++j)
            if (track->at[j].kind == SPAN_EPILOGUE &&
                (!first || track->at[j].begin < first->begin) &&
                panel_of(panels, count, track->at[j].begin, track->at[j].begin))
                first = &track->at[j];
    }
    return first;
}

/* When the load landed that ended this wait; -1 if none did. */
static int64_t landed(const struct timeline *timeline, int cta, const struct span *wait) {
    enum { SLACK = 8 }; /* of the wait, one part is left at most */
    int64_t end = -1;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        for (int j = 0; track->cta == cta && track->kind == TRACK_SLOT && j < track->count; ++j) {
            const struct span *span = &track->at[j];
            if ((span->kind == SPAN_LOAD || span->kind == SPAN_MULTICAST) &&
                span->k_tile == wait->k_tile && span->end > wait->begin && span->end <= wait->end)
                end = most(end, span->end);
        }
    }
    return SLACK * (wait->end - end) <= wait->end - wait->begin ? end : -1;
}

/* The longest wait that a load ended. */
static const struct span *longest_wait(const struct timeline *timeline, int cta,
                                       const struct panel *panels, int count) {
    const struct span *longest = NULL;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        for (int j = 0; track->cta == cta && j < track->count; ++j) {
            const struct span *span = &track->at[j];
            if (span->kind == SPAN_WAIT && span->k_tile >= 0 &&
                (!longest || span->end - span->begin > longest->end - longest->begin) &&
                panel_of(panels, count, span->begin, span->end) && landed(timeline, cta, span) >= 0)
                longest = span;
        }
    }
    return longest;
}

bool svg_find_mark(const struct timeline *timeline, int cta, const struct panel *panels, int count,
                   double period, struct svg_mark *mark) {
    const char *const unit = timeline->simulated && !timeline->timed ? "steps" : "cycles";
    const struct track *core = tensor_core(timeline, cta);
    if (!core) return false;
    *mark = longest_gap(core, panels, count);
    if (period > 0 && (double)(mark->end - mark->begin) > period / 8) {
        snprintf(mark->text, sizeof mark->text, "Tensor Core idle for %" PRId64 " %s",
                 mark->end - mark->begin, unit);
        return true;
    }
    const struct span *epilogue = first_epilogue(timeline, cta, panels, count);
    if (epilogue && 2 * multiplied(core, epilogue) > epilogue->end - epilogue->begin) {
        mark->begin = epilogue->begin, mark->end = epilogue->end;
        snprintf(mark->text, sizeof mark->text, "epilogue of %" PRId64 " %s under multiplications",
                 mark->end - mark->begin, unit);
        return true;
    }
    const struct span *wait = longest_wait(timeline, cta, panels, count);
    if (!wait) return false;
    mark->begin = mark->end = landed(timeline, cta, wait);
    snprintf(mark->text, sizeof mark->text, "k-tile %d has landed: its wait ends", wait->k_tile);
    return true;
}

/* The text stands beside the lines, on the side that has room. */
static bool text_is_before(double left) { return left > (SVG_LABELS + SVG_RIGHT) / 2.0; }

void svg_draw_mark(FILE *file, const struct svg_mark *mark, const struct panel *panels, int count,
                   double top, double bottom) {
    const struct panel *panel = panel_of(panels, count, mark->begin, mark->begin);
    if (!panel) return;
    const double left = svg_x(panel, (double)mark->begin),
                 right = svg_x(panel, (double)least(mark->end, panel->end));
    fprintf(file,
            "<path class=\"mark\" style=\"fill:none;stroke:var(--fg);stroke-dasharray:3 2\" "
            "d=\"M%.1f %.1fV%.1f",
            left, top + 1, bottom);
    if (mark->end > mark->begin) fprintf(file, "M%.1f %.1fV%.1f", right, top + 1, bottom);
    fputs("\"/>\n", file);
    const bool before = text_is_before(left);
    svg_text(file, before ? left - 5 : right + 5, top + 10, "label", before ? "end" : "start",
             mark->text);
}

bool svg_mark_fits(const struct svg_mark *mark, const struct panel *panels, int count,
                   const char *name, const char *note) {
    const struct panel *panel = panel_of(panels, count, mark->begin, mark->begin);
    if (!panel) return false;
    const double left = svg_x(panel, (double)mark->begin),
                 right = svg_x(panel, (double)least(mark->end, panel->end)),
                 width = svg_width_of(mark->text) + 5;
    const double begin = text_is_before(left) ? left - width : left,
                 end = text_is_before(left) ? right : right + width;
    enum { APART = 8 };
    return begin > 10 + 1.2 * svg_width_of(name) + APART && /* bold, of 12 units */
           end < SVG_RIGHT - svg_width_of(note) - APART;
}
