/*
 * svg.c: the figure of one step, and the figure of all of them.
 */
#include "timeline/svg.h"

#include <string.h>

#include "timeline/svg_canvas.h"
#include "timeline/svg_mark.h"

enum { TOP = 50, AXIS = 16, BREAK = 16 };

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int index_of(const struct timeline *timeline) {
    int index = 0;
    for (const struct timeline *t = timeline_list; t && t != timeline; t = t->next)
        ++index;
    return index;
}

/* What the legend has to explain: the kinds of spans that are in the panels. */
static void note_kinds(const struct track *track, const struct panel *panels, int panel_count,
                       struct legend *legend) {
    for (int i = 0; i < track->count; ++i) {
        const struct span *span = &track->at[i];
        for (int j = 0; j < panel_count; ++j) {
            if (span->end <= panels[j].begin || span->begin >= panels[j].end) continue;
            if (svg_is_second(span))
                legend->second = true;
            else
                legend->kinds[span->kind] = true;
            legend->inferred |= span->inferred;
        }
    }
}

static const struct timeline *last_of_list(const struct timeline *timeline) {
    while (timeline && timeline->next)
        timeline = timeline->next;
    return timeline;
}

/* With the extents if the timeline that was recorded last has others. */
static void full_name(const struct timeline *timeline, char *text, size_t size) {
    const struct timeline *last = last_of_list(timeline);
    const int length = snprintf(text, size, "%s%s%s", timeline->name,
                                timeline->variant[0] ? " " : "", timeline->variant);
    if (timeline->m == last->m && timeline->n == last->n && timeline->k == last->k) return;
    snprintf(text + length, size - (size_t)length, ", %d \u00d7 %d \u00d7 %d", timeline->m,
             timeline->n, timeline->k);
}

/* ---- one step ---- */

/* Those of the first cluster; of each of several GPUs. */
static bool shown_cta(const struct timeline *timeline, int cta) {
    const int count = timeline->cluster > 1 ? timeline->cluster : 1;
    int first = -1, last_gpu = -1;
    for (int i = 0; i < timeline->ctas && timeline->cta[i].cta <= cta; ++i) {
        const int gpu = timeline_gpu(timeline, timeline->cta[i].sm);
        if (gpu != last_gpu) first = timeline->cta[i].cta;
        last_gpu = gpu;
    }
    return first >= 0 && cta < first + count;
}

/* Are there several, so that each needs a heading? */
static bool has_headings(const struct timeline *timeline) {
    return timeline->cluster > 1 || timeline->gpus > 1;
}

/* Where the first output tile's main loop ends and its epilogue begins. -1 if it is not recorded.
 */
static int64_t first_epilogue(const struct timeline *timeline) {
    int64_t first = -1;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (!shown_cta(timeline, track->cta)) continue;
        for (int j = 0; j < track->count; ++j)
            if (track->at[j].kind == SPAN_EPILOGUE && (first < 0 || track->at[j].begin < first))
                first = track->at[j].begin;
    }
    return first;
}

static int64_t end_of_ctas(const struct timeline *timeline) {
    int64_t end = 1;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (shown_cta(timeline, track->cta) && track->count)
            end = most(end, track->at[track->count - 1].end);
    }
    return end;
}

/* The same; the CTA's end where no epilogue was recorded, or where it took no time. */
static int64_t end_of_loop(const struct timeline *timeline) {
    const int64_t epilogue = first_epilogue(timeline);
    return epilogue >= 0 ? epilogue : end_of_ctas(timeline);
}

/* What to show of it: all, or the beginning and the change of tiles. Returns the number of panels.
 */
static int choose_panels(const struct timeline *timeline, struct panel panels[2]) {
    enum { ALL = 16, BEGINNING = 9, BEFORE = 4, AFTER = 6 }; /* k-tiles */
    const int64_t end = end_of_ctas(timeline), epilogue = first_epilogue(timeline);
    const int64_t period = (int64_t)timeline_figures(index_of(timeline)).k_tile_period;
    panels[0] = (struct panel){0, end, SVG_LABELS, SVG_RIGHT};
    if (period <= 0 || end <= ALL * period) return 1;
    if (epilogue < 0 || epilogue - BEFORE * period <= BEGINNING * period) {
        panels[0].end = least(end, (BEGINNING + BEFORE + AFTER) * period);
        return 1;
    }
    const int64_t from = epilogue - BEFORE * period, to = least(epilogue + AFTER * period, end);
    const int64_t first = BEGINNING * period;
    /* One scale for both. */
    const double middle =
        SVG_LABELS + (SVG_RIGHT - SVG_LABELS - BREAK) * (double)first / (double)(first + to - from);
    panels[0] = (struct panel){0, first, SVG_LABELS, middle};
    panels[1] = (struct panel){from, to, middle + BREAK, SVG_RIGHT};
    return 2;
}

bool timeline_write_kernel_svg(const char *path, const struct timeline *timeline) {
    enum { LANE = 15, GAP = 3 };
    const struct timeline_figures figures = timeline_figures(index_of(timeline));
    struct panel panels[2];
    const int panel_count = choose_panels(timeline, panels);
    struct svg_mark mark;
    const bool marked = timeline->ctas && svg_find_mark(timeline, timeline->cta[0].cta, panels,
                                                        panel_count, figures.k_tile_period, &mark);
    const double top = TOP + (marked ? SVG_MARK_HEIGHT : 0);
    struct legend legend = {0};
    double height = top;
    int last_cta = -1;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (!shown_cta(timeline, track->cta)) continue;
        note_kinds(track, panels, panel_count, &legend);
        if (has_headings(timeline) && track->cta != last_cta) height += LANE;
        last_cta = track->cta;
        height += LANE + GAP;
    }
    const double bottom = height;
    height += AXIS + svg_legend_height(&legend) + 4;

    struct text_file output;
    if (!text_file_open(&output, path)) return false;
    char name[160], title[256], subtitle[320];
    full_name(timeline, name, sizeof name);
    snprintf(title, sizeof title, "%s, %s", name, svg_source(timeline));
    const int length = snprintf(subtitle, sizeof subtitle, "%d x %d x %d, %s over time in %s",
                                timeline->m, timeline->n, timeline->k,
                                timeline->gpus > 1      ? "one CTA of each GPU"
                                : timeline->cluster > 1 ? "one cluster"
                                                        : "one CTA",
                                timeline_times_of(timeline));
    if (figures.k_tile_period > 0 && !timeline->along_n)
        snprintf(subtitle + length, sizeof subtitle - (size_t)length,
                 "; mostly a k-tile every %.0f, %s %.0f %% from first to last multiplication",
                 figures.k_tile_period, figures.busy_means, 100 * figures.tensor_core_busy);
    svg_begin(output.file, height, title, subtitle);
    for (int i = 0; i < panel_count; ++i)
        svg_axis(output.file, &panels[i], top, bottom);
    double y = top, first_bottom = top; /* of the first CTA's lanes */
    last_cta = -1;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (!shown_cta(timeline, track->cta)) continue;
        if (has_headings(timeline) && track->cta != last_cta) {
            char text[64];
            svg_text(output.file, 10, y + 11, "name", "start",
                     timeline_cta_name(timeline, track->cta, track->sm, text, sizeof text));
            y += LANE;
        }
        last_cta = track->cta;
        svg_text(output.file, SVG_LABELS - 8, y + 11, "label", "end", track->name);
        for (int j = 0; j < panel_count; ++j)
            svg_lane(output.file, track, &panels[j], y, LANE, true);
        y += LANE + GAP;
        if (track->cta == timeline->cta[0].cta) first_bottom = y;
    }
    if (panel_count == 2)
        svg_text(output.file, panels[0].right + BREAK / 2.0 - 4, bottom + 9, "tick", "start", "//");
    if (marked) svg_draw_mark(output.file, &mark, panels, panel_count, TOP, first_bottom);
    svg_legend(output.file, bottom + AXIS, &legend);
    svg_end(output.file);
    return text_file_commit(&output);
}

/* ---- all steps ---- */

enum { CAPTION = 14, HEADING = 17, STAGE_GAP = 9, CORE_LANE = 13, ROLE_LANE = 10, SLOT_LANE = 4 };

static double lane_height(const struct timeline *timeline, const struct track *track) {
    if (track->kind == TRACK_TENSOR_CORE) return CORE_LANE;
    return track->kind == TRACK_SLOT && timeline->stages > 1 ? SLOT_LANE : ROLE_LANE;
}

/* The multiplications of a role are in the Tensor Core's lane already. */
static bool stacked(const struct timeline *timeline, const struct track *track) {
    return timeline->ctas && track->cta == timeline->cta[0].cta && track->kind != TRACK_MMA;
}

/* So much of the common axis that the fast steps show a whole output tile or some twenty k-tiles.
 */
static int64_t common_end(void) {
    enum { K_TILES = 20 };
    int64_t shortest = INT64_MAX, limit = INT64_MAX;
    int index = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next, ++index) {
        const struct timeline_figures figures = timeline_figures(index);
        shortest = least(shortest, end_of_ctas(t));
        if (figures.k_tile_period > 0)
            limit = least(limit, (int64_t)(figures.prologue + K_TILES * figures.k_tile_period));
    }
    return most(1, least(shortest == INT64_MAX ? 1 : shortest + shortest / 2, limit));
}

/* What is shown of every step: one stretch from the kernel's start on, or, where the output tiles
 * are too long for that, also one around the end of the step's own first main loop, at the same
 * scale. The second panel's times are relative to that end. Returns the number of panels. */
static int stack_panels(struct panel panels[2]) {
    enum { BEGINNING = 15, BEFORE = 4, AFTER = 7 }; /* k-tiles of the fastest step */
    int64_t period = INT64_MAX;
    int index = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next, ++index) {
        const int64_t own = (int64_t)timeline_figures(index).k_tile_period;
        if (own > 0) period = least(period, own);
    }
    bool apart = period < INT64_MAX;
    for (const struct timeline *t = timeline_list; t && apart; t = t->next)
        apart = end_of_loop(t) >= (BEGINNING + BEFORE) * period;
    panels[0] = (struct panel){0, common_end(), SVG_LABELS, SVG_RIGHT};
    if (!apart) return 1;
    const double middle = SVG_LABELS + (SVG_RIGHT - SVG_LABELS - BREAK) * (double)BEGINNING /
                                           (BEGINNING + BEFORE + AFTER);
    panels[0] = (struct panel){0, BEGINNING * period, SVG_LABELS, middle};
    panels[1] = (struct panel){-BEFORE * period, AFTER * period, middle + BREAK, SVG_RIGHT};
    return 2;
}

/* The second panel in the times of one step. */
static void place_panels(const struct timeline *timeline, const struct panel *panels, int count,
                         struct panel placed[2]) {
    const int64_t end = end_of_loop(timeline);
    for (int i = 0; i < count; ++i) {
        placed[i] = panels[i];
        if (i == 0) continue;
        placed[i].begin += end;
        placed[i].end += end;
    }
}

bool timeline_write_stack_svg(const char *path) {
    struct legend legend = {0};
    struct panel panels[2], placed[2];
    const int panel_count = stack_panels(panels);
    const double top = panel_count > 1 ? TOP + CAPTION : TOP;
    double height = top;
    for (const struct timeline *t = timeline_list; t; t = t->next) {
        height += HEADING + STAGE_GAP;
        place_panels(t, panels, panel_count, placed);
        for (int i = 0; i < t->tracks; ++i) {
            if (!stacked(t, &t->track[i])) continue;
            note_kinds(&t->track[i], placed, panel_count, &legend);
            height += lane_height(t, &t->track[i]) + 1;
        }
    }
    const double bottom = height;
    height += AXIS + svg_legend_height(&legend) + 4;

    struct text_file output;
    if (!text_file_open(&output, path)) return false;
    char title[128], subtitle[256], size[64] = "";
    snprintf(title, sizeof title, "The steps on one time axis, %s",
             timeline_list ? svg_source(timeline_list) : "nothing recorded");
    /* The extents of all that have none behind their names. */
    const struct timeline *last = last_of_list(timeline_list);
    if (last) snprintf(size, sizeof size, "%d x %d x %d, ", last->m, last->n, last->k);
    snprintf(subtitle, sizeof subtitle,
             "%sone CTA of each step, in %s; shares from first to last multiplication%s", size,
             timeline_times(),
             legend.inferred ? "; hatched: inferred from issue and observed completion" : "");
    svg_begin(output.file, height, title, subtitle);
    static const char *const captions[2] = {"from the kernel's start",
                                            "around the end of the first output tile's main loop"};
    for (int i = 0; i < panel_count; ++i) {
        if (panel_count > 1)
            svg_text(output.file, panels[i].left, TOP + 8, "label", "start", captions[i]);
        svg_axis(output.file, &panels[i], top, bottom);
    }
    double y = top;
    int index = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next, ++index) {
        const struct timeline_figures figures = timeline_figures(index);
        char name[160], note[128] = "the Tensor Core is not used";
        full_name(t, name, sizeof name);
        /* Of a main loop with two products in each step, the distances mean nothing. */
        if (figures.k_tile_period > 0 && t->along_n)
            snprintf(note, sizeof note, "%s %.0f %%", figures.busy_means,
                     100 * figures.tensor_core_busy);
        else if (figures.k_tile_period > 0)
            snprintf(note, sizeof note, "%s %.0f %%, mostly a %d x %d x %d k-tile every %.0f %s",
                     figures.busy_means, 100 * figures.tensor_core_busy, t->tile_m, t->tile_n,
                     t->tile_k, figures.k_tile_period,
                     t->simulated && !t->timed ? "steps" : "cycles");
        svg_text(output.file, 10, y + 12, "name", "start", name);
        svg_text(output.file, SVG_RIGHT, y + 12, "note", "end", note);
        const double heading = y;
        y += HEADING;
        place_panels(t, panels, panel_count, placed);
        bool slots_named = false;
        for (int i = 0; i < t->tracks; ++i) {
            const struct track *track = &t->track[i];
            if (!stacked(t, track)) continue;
            const double lane = lane_height(t, track);
            const bool slot = track->kind == TRACK_SLOT;
            if (!slot || !slots_named)
                svg_text(output.file, SVG_LABELS - 8,
                         y + (slot && lane == SLOT_LANE ? t->stages * (lane + 1) : lane) / 2 + 3.5,
                         "tick", "end", slot ? "loads by stage" : track->name);
            slots_named |= slot;
            for (int j = 0; j < panel_count; ++j)
                svg_lane(output.file, track, &placed[j], y, lane, track->kind == TRACK_TENSOR_CORE);
            y += lane + 1;
        }
        struct svg_mark mark;
        if (t->ctas &&
            svg_find_mark(t, t->cta[0].cta, placed, panel_count, figures.k_tile_period, &mark) &&
            svg_mark_fits(&mark, placed, panel_count, name, note))
            svg_draw_mark(output.file, &mark, placed, panel_count, heading + 2, y);
        y += STAGE_GAP;
    }
    svg_legend(output.file, bottom + AXIS, &legend);
    svg_end(output.file);
    return text_file_commit(&output);
}
