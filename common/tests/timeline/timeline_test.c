/*
 * timeline_test.c: what was recorded is what is drawn.
 *
 *     timeline_test DIR     runs every check; files go to DIR, which exists
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/timeline/timeline_synthetic.h"
#include "tests/timeline/trace_check.h"
#include "timeline/model.h"
#include "timeline/svg.h"
#include "timeline/svg_mark.h"
#include "timeline/text_file.h"
#include "tools/json/json.h"

enum { K_TILES = 8 };

static int failures;

static void check(bool good, const char *what, const char *detail) {
    if (good) return;
    ++failures;
    fprintf(stderr, "FAILED: %s%s%s\n", what, detail[0] ? ": " : "", detail);
}

static const struct timeline *named(const char *name) {
    for (const struct timeline *t = timeline_list; t; t = t->next)
        if (strcmp(t->name, name) == 0) return t;
    fprintf(stderr, "no timeline is called %s\n", name);
    exit(1);
}

static struct timeline_figures figures_of(const char *name) {
    for (int i = 0; i < timeline_count(); ++i)
        if (strcmp(timeline_figures(i).name, name) == 0) return timeline_figures(i);
    exit(1);
}

static int count_spans(const struct timeline *timeline, int cta, enum track_kind track_kind,
                       enum span_kind kind) {
    int count = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta != cta || track->kind != track_kind) continue;
        for (int j = 0; j < track->count; ++j)
            count += track->at[j].kind == kind;
    }
    return count;
}

static void check_tracks(void) {
    char detail[200];
    for (const struct timeline *t = timeline_list; t; t = t->next)
        for (int i = 0; i < t->tracks; ++i) {
            const struct track *track = &t->track[i];
            for (int j = 0; j < track->count; ++j) {
                const bool bad = track->at[j].end <= track->at[j].begin ||
                                 (j && track->at[j].begin < track->at[j - 1].end);
                snprintf(detail, sizeof detail, "%s, %s, span %d", t->name, track->name, j);
                check(!bad, "spans of a track are in order and apart", detail);
            }
        }
    /* Every k-tile is loaded once and multiplied once by each consumer that it is for. */
    check(count_spans(named("06_wgmma"), 0, TRACK_SLOT, SPAN_LOAD) == K_TILES,
          "06: a load for every k-tile", "");
    check(count_spans(named("06_wgmma"), 0, TRACK_MMA, SPAN_MMA) == K_TILES,
          "06: a multiplication for every k-tile", "");
    check(count_spans(named("07_warp_specialized"), 1, TRACK_MMA, SPAN_MMA) == 2 * 3 * K_TILES,
          "07: two consumers multiply every k-tile of three output tiles", "");
    check(count_spans(named("08_persistent_pingpong"), 0, TRACK_ROLE, SPAN_EPILOGUE) == 6,
          "08: an epilogue for each of six output tiles", "");
    check(count_spans(named("09_cluster_multicast"), 0, TRACK_SLOT, SPAN_MULTICAST) == 3 * K_TILES,
          "09: its loads are multicast", "");
    check(count_spans(named("02_smem_tiled"), 0, TRACK_FRAGMENTS, SPAN_FRAGMENTS) == 4 * K_TILES,
          "02: four fragment loads for each k-tile", "");
}

/* What the chapters are about can be read off. */
static void check_figures(void) {
    static const char *const order[] = {"02_smem_tiled", "03_cp_async_multistage",
                                        "04_rf_double_buffer", "06_wgmma"};
    for (int i = 0; i + 1 < 4; ++i)
        check(figures_of(order[i]).tensor_core_busy + 0.05 <
                  figures_of(order[i + 1]).tensor_core_busy,
              "each step keeps the Tensor Core busier than the one before", order[i + 1]);
    for (int i = 0; i < 4; ++i)
        check(strcmp(figures_of(order[i]).busy_means,
                     i < 3 ? "mma.sync under way" : "Tensor Core busy") == 0,
              "only wgmma keeps the Tensor Core busy from issue to end", order[i]);
    check(figures_of("01_naive").k_tile_period == 0, "01 has no k-tiles", "");
    check(figures_of("02_smem_tiled").fragment_overlap == 0,
          "02 loads fragments while nothing is multiplied", "");
    check(figures_of("04_rf_double_buffer").fragment_overlap > 0.6,
          "04 loads fragments under multiplications", "");
    check(figures_of("06_wgmma").epilogue_overlap == 0, "06 has nothing under its epilogue", "");
    check(figures_of("08_persistent_pingpong").epilogue_overlap > 0.7,
          "08 multiplies under its epilogues", "");
    check(figures_of("06_wgmma").k_tile_period == 512, "06: a k-tile every 512 cycles", "");
}

/* A figure's mark is at the gap, at the hidden epilogue, or where a wait ends. */
static void check_marks(void) {
    static const struct {
        const char *name, *text;
    } marks[] = {
        {"02_smem_tiled", "Tensor Core idle for "},
        {"06_wgmma", "k-tile 0 has landed"},
        {"08_persistent_pingpong", "epilogue of "},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; ++i) {
        const struct timeline *t = named(marks[i].name);
        const struct panel all = {0, INT64_MAX / 2, 0, 1};
        const double period = figures_of(marks[i].name).k_tile_period;
        struct svg_mark mark;
        const bool found = svg_find_mark(t, 0, &all, 1, period, &mark);
        check(found && strncmp(mark.text, marks[i].text, strlen(marks[i].text)) == 0,
              "what a figure marks", found ? mark.text : "nothing");
        /* Something begins or ends there, and only in a gap does the Tensor Core rest. */
        bool begins = false, rests = true;
        for (int j = 0; found && j < t->tracks; ++j) {
            const struct track *track = &t->track[j];
            for (int s = 0; track->cta == 0 && s < track->count; ++s) {
                begins |= track->at[s].begin == mark.begin || track->at[s].end == mark.begin;
                rests &= track->kind != TRACK_TENSOR_CORE || track->at[s].end <= mark.begin ||
                         track->at[s].begin >= mark.end;
            }
        }
        check(begins && (mark.end == mark.begin || rests == (i == 0)), "where it is", mark.text);
    }
    struct svg_mark mark;
    const struct panel none = {-2, -1, 0, 1};
    check(!svg_find_mark(named("02_smem_tiled"), 0, &none, 1, 1, &mark),
          "nothing is marked that is not shown", "");
}

static void check_trace(const char *dir) {
    char path[1024], error[200];
    struct trace_summary summary;
    snprintf(path, sizeof path, "%s/trace.json", dir);
    check(timeline_write_trace(path, TRACE_SMS), "the trace is written", path);
    char *text = json_read_file(path);
    const bool good = text && trace_check(text, &summary, error, sizeof error);
    check(good, "the trace is valid", good ? "" : error);
    check(good && summary.processes == 18, "it has a process for two CTAs of nine steps", "");
    check(good && summary.spans > 1000, "it has all the spans", "");
    free(text);
    /* The two CTAs are on SMs of their own. */
    check(timeline_write_trace(path, 1), "the trace of one SM is written", path);
    text = json_read_file(path);
    check(text && trace_check(text, &summary, error, sizeof error) && summary.processes == 9,
          "it has one CTA of each step", "");
    free(text);
}

/* The checker itself finds what it must find. */
static void check_checker(void) {
#define PROCESS                                                                                    \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"p\"}}"
#define THREAD                                                                                     \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"t\"}}"
#define SPAN(ts, dur)                                                                              \
    "{\"ph\":\"X\",\"name\":\"s\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"dur\":" #dur "}"
    static const struct {
        const char *what, *text;
        bool good;
    } traces[] = {
        {"good", "{\"traceEvents\":[" PROCESS "," THREAD "," SPAN(1, 2) "," SPAN(3, 1) "]}", true},
        {"overlap", "{\"traceEvents\":[" PROCESS "," THREAD "," SPAN(1, 2) "," SPAN(2.9, 1) "]}",
         false},
        {"back in time", "{\"traceEvents\":[" PROCESS "," THREAD "," SPAN(5, 1) "," SPAN(1, 1) "]}",
         false},
        {"unnamed track", "{\"traceEvents\":[" PROCESS "," SPAN(1, 2) "]}", false},
        {"unnamed process", "{\"traceEvents\":[" THREAD "," SPAN(1, 2) "]}", false},
        {"negative duration", "{\"traceEvents\":[" PROCESS "," THREAD "," SPAN(1, -2) "]}", false},
        {"no events", "{\"events\":[]}", false},
        {"a comma too many", "{\"traceEvents\":[" PROCESS ",]}", false},
        {"not a number", "{\"traceEvents\":[" PROCESS "," THREAD "," SPAN(nan, 2) "]}", false},
        {"cut off", "{\"traceEvents\":[" PROCESS "," THREAD, false},
    };
    for (size_t i = 0; i < sizeof traces / sizeof *traces; ++i) {
        struct trace_summary summary;
        char error[200];
        check(trace_check(traces[i].text, &summary, error, sizeof error) == traces[i].good,
              "the checker judges rightly", traces[i].what);
    }
}

/* Elements are closed in the order in which they were opened, and attributes are quoted. */
static bool well_formed(const char *text) {
    enum { DEPTH = 16 };
    char open[DEPTH][32];
    int depth = 0, elements = 0;
    for (const char *at = strchr(text, '<'); at; at = strchr(at, '<')) {
        const char *end = strchr(at, '>');
        char name[32];
        if (!end) return false;
        if (sscanf(at + 1, "/%31[a-z]", name) == 1) {
            if (depth == 0 || strcmp(open[--depth], name)) return false;
        } else if (sscanf(at + 1, "%31[a-z]", name) == 1) {
            int quotes = 0;
            for (const char *c = at; c < end; ++c)
                quotes += *c == '"';
            if (quotes % 2) return false;
            if (end[-1] != '/') {
                if (depth == DEPTH) return false;
                strcpy(open[depth++], name);
            }
            ++elements;
        } else {
            return false;
        }
        at = end;
    }
    return depth == 0 && elements > 10;
}

static void check_figure_file(const char *path, const char *must_contain) {
    char *text = json_read_file(path);
    check(text && well_formed(text), "the figure is well-formed", path);
    check(text && strstr(text, must_contain), "the figure says what it shows", must_contain);
    check(text && strstr(text, "simulated"), "the figure says that it is simulated", path);
    check(text && strstr(text, "prefers-color-scheme:dark"), "the figure has dark colours", path);
    check(text && strlen(text) < 250000, "the figure is small", path);
    free(text);
}

static void check_report(const char *dir) {
    struct report_row rows[16];
    char path[1100], error[200];
    const int count = synthetic_rows(rows);
    snprintf(path, sizeof path, "%s/report", dir);
    check(timeline_write_report(path, &synthetic_info, rows, count), "the report is written", path);
    for (const struct timeline *t = timeline_list; t; t = t->next) {
        snprintf(path, sizeof path, "%s/report/timeline_%s.svg", dir, t->name);
        check_figure_file(path, t->name);
    }
    snprintf(path, sizeof path, "%s/report/timelines.svg", dir);
    check_figure_file(path, "09_cluster_multicast");

    snprintf(path, sizeof path, "%s/report/index.html", dir);
    char *text = json_read_file(path);
    char *data = text ? strstr(text, "id=\"data\">") : NULL,
         *end = data ? strstr(data, "</script>") : NULL;
    check(end != NULL, "the page has its data", "");
    if (end) {
        *end = 0;
        struct json json;
        const bool good = json_parse(data + strlen("id=\"data\">"), &json, error, sizeof error);
        check(good, "the page's data are JSON", good ? "" : error);
        const struct json *timelines = good ? json_member(&json, "timelines") : NULL;
        check(timelines && timelines->count == 9, "the page has nine timelines", "");
        check(strstr(data, "\"full[3], made in line ") && !strstr(data, "\"full[4]"),
              "its barriers are called as in the source, by number", "");
        if (good) json_free(&json);
        check(!strstr(end + 1, "http://") && !strstr(end + 1, "https://"),
              "the page fetches nothing", "");
    }
    free(text);
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        ++count;
    return count;
}

/* Long output tiles are shown in two parts at one scale, so that both the beginning and the change
 * of tiles are in the figure of all steps; short ones in one part. */
static void check_stack(const char *dir) {
    enum { LONG = 64 };
    static const char second[] = "around the end of the first output tile";
    char path[1024], detail[200];
    snprintf(path, sizeof path, "%s/stack.svg", dir);
    for (int is_long = 0; is_long < 2; ++is_long) {
        synthetic_timelines(is_long ? LONG : K_TILES);
        check(timeline_write_stack_svg(path), "the figure of all steps is written", path);
        char *text = json_read_file(path);
        snprintf(detail, sizeof detail, "%d k-tiles", is_long ? LONG : K_TILES);
        check(text && occurrences(text, second) == is_long, "its parts", detail);
        /* The second part has an epilogue of every step. */
        const int epilogues = text ? occurrences(text, "class=\"epilogue\"") : 0;
        check(!is_long || epilogues >= 9, "the ends of the main loops are in it", detail);
        /* A lane of each part for every Tensor Core, and the legend's. */
        const int cores = text ? occurrences(text, "class=\"idle\"") : 0;
        check(cores == 9 * (1 + is_long) + 1, "every Tensor Core has a lane in each part", detail);
        free(text);
    }
    synthetic_timelines(K_TILES);
}

static void check_refusals(const char *dir) {
    char path[1024];
    check(!timeline_write_trace("/nonexistent-directory/trace.json", TRACE_SMS) && errno == ENOENT,
          "a place that cannot be written is refused", "");
    snprintf(path, sizeof path, "%s/a-file", dir);
    FILE *file = fopen(path, "w");
    if (file) fclose(file);
    check(!timeline_write_report(path, &synthetic_info, NULL, 0) && errno == ENOTDIR,
          "a file is no directory for a report", "");
}

/* What is half written when the program ends, as for want of memory, is gone. */
static void check_early_end(const char *dir) {
    char path[1024], temporary[1100];
    snprintf(path, sizeof path, "%s/early", dir);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        struct text_file half;
        if (!text_file_open(&half, path) || access(half.temporary, F_OK) != 0) _exit(1);
        fputs("half", half.file);
        exit(3);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3,
          "a file is begun", path);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)child);
    check(access(temporary, F_OK) != 0 && access(path, F_OK) != 0, "nothing is left of it", path);
}

/* ---- the GPU's records ---- */

static struct trace_header *region_at(unsigned char *buffer, int cta, int role) {
    return (struct trace_header *)(buffer + (size_t)(cta * TRACE_ROLES + role) * TRACE_BYTES);
}

static struct trace_record record_of(double clock, enum trace_event event, int argument) {
    return (struct trace_record){(uint32_t)(uint64_t)clock,
                                 (uint32_t)event << TRACE_EVENT_SHIFT | (uint32_t)argument};
}

/* A region of cues that is closed, of a clock with this rate that read `origin` at time 0. */
static void cue_region(struct trace_header *header, double timer_ahead, double origin,
                       double rate) {
    enum { START_NS = 3200, END_NS = 103200 };
    header->open_time = (uint64_t)(START_NS + timer_ahead);
    header->open_clock = (uint64_t)(origin + START_NS * rate);
    header->close_time = (uint64_t)(END_NS + timer_ahead);
    header->close_clock = (uint64_t)(origin + END_NS * rate);
    header->sm = 3;
    header->state = TRACE_OPENED | TRACE_CLOSED;
}

/* Two GPUs whose clocks and timers differ. A warp of each sends a piece at the same true times, and
 * that of the second also waits for a tile. */
static void check_devices(void) {
    static const double RATE[2] = {1.7, 1.5}, ORIGIN[2] = {1e9, 5e12};
    static const int64_t AHEAD[2] = {0, 64000000};
    enum { PIECES = 10 };
    unsigned char *buffers[2] = {calloc(1, trace_buffer_bytes()), calloc(1, trace_buffer_bytes())};
    const struct gemm_kernel step = {.name = "devices",
                                     .tile_m = 128,
                                     .tile_n = 128,
                                     .tile_k = 64,
                                     .stages = 4,
                                     .cluster = 1,
                                     .loop = GEMM_ALONG_SLICE_OF_K};
    const struct gemm_problem problem = {.m = 256, .n = 128, .k = 640};
    char detail[200];
    if (!buffers[0] || !buffers[1]) abort();
    for (int gpu = 0; gpu < 2; ++gpu) {
        struct trace_header *header = region_at(buffers[gpu], 0, TRACE_THREADS);
        struct trace_record *record = (struct trace_record *)header + TRACE_HEADER;
        cue_region(header, (double)AHEAD[gpu], ORIGIN[gpu], RATE[gpu]);
        header->warp = 1;
        header->marks = PIECES + 2 * gpu;
        for (int i = 0; i < PIECES; ++i)
            *record++ = record_of(ORIGIN[gpu] + (5000 + 2000 * i) * RATE[gpu], TRACE_CUE_SEND, 0);
        if (gpu == 0) continue;
        *record++ = record_of(ORIGIN[1] + 60000 * RATE[1], TRACE_CUE_ANNOUNCE, 0);
        *record++ = record_of(ORIGIN[1] + 64000 * RATE[1], TRACE_CUE_PASS, 0);
    }
    check(timeline_add_devices_records(&step, &problem, (const void *const *)buffers, 2, AHEAD),
          "the records of two GPUs become a timeline", "");
    const struct timeline *t = named("devices");
    check(t->gpus == 2 && t->ctas == 2 && t->cta[0].cta != t->cta[1].cta, "each GPU has its CTA 0",
          "");
    const struct track *a = timeline_find_track(t, t->cta[0].cta, TRACK_LINK, -1);
    const struct track *b = timeline_find_track(t, t->cta[1].cta, TRACK_LINK, -1);
    check(a && b && a->count == PIECES && b->count == PIECES + 1, "what crosses the link is there",
          "");
    for (int i = 0; a && b && i < PIECES && i < a->count && i < b->count; ++i) {
        const double wanted = (5000 - 3200 + 2000 * i) * RATE[0]; /* the first GPU's cycles */
        snprintf(detail, sizeof detail, "piece %d: %.0f, at %lld and %lld", i, wanted,
                 (long long)a->at[i].begin, (long long)b->at[i].begin);
        check(fabs((double)a->at[i].begin - wanted) <= 64 * RATE[0] &&
                  fabs((double)b->at[i].begin - wanted) <= 64 * RATE[0],
              "GPUs whose timers differ share an axis", detail);
    }
    if (b && b->count == PIECES + 1) {
        const struct span tile = b->at[PIECES];
        snprintf(detail, sizeof detail, "%lld cycles", (long long)(tile.end - tile.begin));
        check(fabs((double)(tile.end - tile.begin) - 4000 * RATE[0]) <= 2 * RATE[0],
              "a tile crosses the link until it has arrived", detail);
    }
    free(buffers[0]);
    free(buffers[1]);
}

/* Two CTAs on two SMs whose clocks differ; both do the same things at the same true times. */
static void check_device(void) {
    static const double RATE = 1.755; /* cycles per ns */
    /* What the clocks read at time 0; the lower half of the first soon wraps. */
    static const double ORIGIN[2] = {4294867296.0, 7.3e12};
    enum { START_NS = 1000, LENGTH_NS = 100000, MARKS = 40 };
    unsigned char *buffer = calloc(1, trace_buffer_bytes());
    const struct gemm_kernel step = {
        .name = "device", .tile_m = 128, .tile_n = 128, .tile_k = 64, .stages = 4, .cluster = 1};
    const struct gemm_problem problem = {.m = 256, .n = 128, .k = 64 * MARKS};
    char detail[200];
    if (!buffer) abort();
    fprintf(stderr, "(a complaint about an empty buffer follows, as it should)\n");
    check(!timeline_add_device_records(&step, &problem, buffer, trace_buffer_bytes(), 0),
          "an empty buffer is refused", "");
    for (int cta = 0; cta < 2; ++cta) {
        struct trace_header *header = region_at(buffer, cta, 0);
        struct trace_record *record = (struct trace_record *)header + TRACE_HEADER;
        const int skew = 17 * cta; /* the second reads its timer later within the 32 ns step */
        header->open_time = (START_NS + (unsigned)skew) / 32 * 32;
        header->open_clock = (uint64_t)(ORIGIN[cta] + (START_NS + skew) * RATE);
        header->close_time = (START_NS + LENGTH_NS) / 32 * 32;
        header->close_clock = (uint64_t)(ORIGIN[cta] + (START_NS + LENGTH_NS) * RATE);
        header->marks = cta ? TRACE_MARKS : 2 * MARKS; /* the second claims to be full */
        header->sm = (unsigned)(40 + cta);
        header->state = 2;
        for (int i = 0; i < MARKS; ++i, record += 2) {
            const double ns = START_NS + 500.0 + 2000.0 * i;
            record[0] = record_of(ORIGIN[cta] + ns * RATE, TRACE_CUE_MULTIPLY, 0);
            record[1] = record_of(ORIGIN[cta] + (ns + 300) * RATE, TRACE_CUE_WAIT, 0);
        }
    }
    check(timeline_add_device_records(&step, &problem, buffer, trace_buffer_bytes(), 0),
          "records become a timeline", "");
    free(buffer);
    const struct timeline *t = named("device");
    snprintf(detail, sizeof detail, "%.1f MHz", t->clock_mhz);
    check(fabs(t->clock_mhz / (RATE * 1000) - 1) < 1e-3, "the clock rate is found", detail);
    check(!t->simulated && t->truncated == 1, "a full region is noticed", "");
    snprintf(detail, sizeof detail, "%.0f cycles", t->cycles);
    check(fabs(t->cycles - LENGTH_NS * RATE) <= 2 * 32 * RATE, "the end of the last CTA is the end",
          detail);
    const struct track *a = timeline_find_track(t, 0, TRACK_MMA, TRACE_THREADS);
    const struct track *b = timeline_find_track(t, 1, TRACK_MMA, TRACE_THREADS);
    check(a && b && a->count == MARKS && b->count == MARKS, "all marks are there", "");
    for (int i = 0; a && b && i < a->count && i < b->count; ++i) {
        const long long apart = llabs((long long)(a->at[i].begin - b->at[i].begin));
        snprintf(detail, sizeof detail, "multiplication %d: %lld cycles apart", i, apart);
        check((double)apart <= 2 * 32 * RATE,
              "the clocks of two SMs are lined up to two timer steps", detail);
        snprintf(detail, sizeof detail, "%lld cycles", (long long)(a->at[i].end - a->at[i].begin));
        check(fabs((double)(a->at[i].end - a->at[i].begin) - 300 * RATE) <= 1.5,
              "durations within an SM are exact", detail);
    }
}

/* A consumer that loads pieces of another matrix, beside the producer of the k-tiles, and waits for
 * them in its epilogue: the ring has the k-tiles alone, each in its stage, and when they landed is
 * known; the epilogue is one, to the end. */
static void check_other_loads(void) {
    enum { STAGES = 3, K = 7, STEP = 1000, LATENCY = 700 };
    const struct gemm_kernel step = {.name = "pieces",
                                     .tile_m = 128,
                                     .tile_n = 128,
                                     .tile_k = 64,
                                     .stages = STAGES,
                                     .cluster = 1};
    const struct gemm_problem problem = {.m = 128, .n = 128, .k = 64 * K};
    struct timeline *timeline = timeline_begin(&step, &problem);
    char detail[200];
    for (int k_tile = 0; k_tile < K; ++k_tile) {
        const uint64_t time = (uint64_t)STEP * (uint64_t)k_tile;
        if (k_tile == 0) timeline_cue(timeline, 0, 0, 0, time, TRACE_CUE_TILE, 0);
        timeline_cue(timeline, 0, 0, 0, time + 10, TRACE_CUE_ANNOUNCE, 0);
        timeline_busy(timeline, 0, 0, UNIT_COPY, 0, time + 12, time + LATENCY);
        timeline_busy(timeline, 0, 0, UNIT_COPY, 0, time + 14, time + LATENCY + 9);
        if (k_tile == 0) timeline_cue(timeline, 0, 0, 1, time + 20, TRACE_CUE_TILE, 0);
        if (k_tile % 2 == 0) { /* the pieces come between the k-tiles */
            timeline_cue(timeline, 0, 0, 1, time + 30, TRACE_CUE_ANNOUNCE, 0);
            timeline_busy(timeline, 0, 0, UNIT_COPY, 4, time + 32, time + 300);
        }
        timeline_cue(timeline, 0, 0, 1, time + 40, TRACE_CUE_WAIT, 0);
        timeline_cue(timeline, 0, 0, 1, time + LATENCY + 20, TRACE_CUE_PASS, 0);
        timeline_cue(timeline, 0, 0, 1, time + LATENCY + 30, TRACE_CUE_COMMIT, 0);
        timeline_cue(timeline, 0, 0, 1, time + LATENCY + 60, TRACE_CUE_DRAIN, 0);
    }
    timeline_cue(timeline, 0, 0, 1, STEP * K, TRACE_CUE_WAIT, 0);
    timeline_cue(timeline, 0, 0, 1, STEP * K + 100, TRACE_CUE_PASS, 0);
    timeline_cue(timeline, 0, 0, 0, STEP * K, TRACE_CUE_EXIT, 0);
    timeline_cue(timeline, 0, 0, 1, STEP * K + 200, TRACE_CUE_EXIT, 0);
    timeline_end(timeline, STEP * K + 200);
    const struct track *consumer = timeline_find_track(timeline, 0, TRACK_ROLE, TRACE_CONSUMER_0);
    const struct span *last = consumer ? &consumer->at[consumer->count - 1] : NULL;
    check(last && last->kind == SPAN_EPILOGUE && last->end == STEP * K + 200,
          "a wait in an epilogue is a part of it", "");
    int loads = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->kind != TRACK_SLOT) continue;
        for (int j = 0; j < track->count; ++j) {
            const struct span *span = &track->at[j];
            if (span->kind != SPAN_LOAD) continue;
            ++loads;
            snprintf(detail, sizeof detail, "k-tile %d in stage %d, from %lld to %lld%s",
                     span->k_tile, track->slot, (long long)span->begin, (long long)span->end,
                     span->inferred ? ", inferred" : "");
            check(span->k_tile % STAGES == track->slot && !span->inferred &&
                      span->end == STEP * span->k_tile + LATENCY + 9,
                  "a consumer's own loads do not move the k-tiles", detail);
        }
    }
    snprintf(detail, sizeof detail, "%d", loads);
    check(loads == K, "the ring has the k-tiles and no piece", detail);
}

/* Cues of a thread, a cycle each. */
struct told {
    struct timeline *timeline;
    uint64_t time;
};

static void tell(struct told *told, int event, int times) {
    for (int i = 0; i < times; ++i)
        timeline_cue(told->timeline, 0, 0, 0, told->time += 10, event, 5);
}

/* A kernel such as 05, but with an mbarrier for each operand: a k-tile is announced and waited for
 * twice; four steps, whose fragments are loaded one step ahead, the first two in one cue; the last
 * two multiplications are one cue. `whole`: to the end, where the number of k-tiles tells the
 * steps; else as a full buffer leaves it. */
static void check_turns(bool whole) {
    enum { STAGES = 3, STEPS = 4, K = 5 };
    const struct gemm_kernel step = {.name = whole ? "turns" : "turns cut off",
                                     .tile_m = 128,
                                     .tile_n = 128,
                                     .tile_k = 64,
                                     .stages = STAGES,
                                     .cluster = 1};
    const struct gemm_problem problem = {.m = 128, .n = 128, .k = 64 * K};
    struct told told = {timeline_begin(&step, &problem), 0};
    char detail[200];
    tell(&told, TRACE_CUE_ENTER, 1);
    tell(&told, TRACE_CUE_TILE, 1);
    tell(&told, TRACE_CUE_ANNOUNCE, 2 * (STAGES - 1));
    for (int k_tile = 0; k_tile < K; ++k_tile) {
        for (int barrier = 0; barrier < 2; ++barrier) {
            tell(&told, TRACE_CUE_WAIT, 1);
            tell(&told, TRACE_CUE_PASS, 1);
        }
        tell(&told, TRACE_CUE_FRAGMENTS, 1);
        if (k_tile > 0) tell(&told, TRACE_CUE_MULTIPLY, 1);
        if (k_tile + STAGES - 1 < K) tell(&told, TRACE_CUE_ANNOUNCE, 2);
        for (int i = 0; i < STEPS - 1; ++i) {
            if (k_tile > 0 || i > 0) tell(&told, TRACE_CUE_FRAGMENTS, 1);
            tell(&told, TRACE_CUE_MULTIPLY, 1);
        }
    }
    if (whole) {
        tell(&told, TRACE_CUE_RESULT, 1);
        tell(&told, TRACE_CUE_EXIT, 1);
    }
    timeline_end(told.timeline, (double)told.time);
    const struct marks *marks = &told.timeline->cta[0].role[TRACE_THREADS];
    int loads = 0, waits = 0, fragments = 0, multiplications = 0;
    for (int i = 0; i < marks->count; ++i) {
        const struct mark mark = marks->at[i];
        const int wanted = mark.event == TRACE_LOAD         ? loads++
                           : mark.event == TRACE_WAIT_BEGIN ? waits++
                           : mark.event == TRACE_FRAGMENTS  ? fragments++ / STEPS
                           : mark.event == TRACE_MMA_BEGIN  ? multiplications++ / STEPS
                                                            : mark.argument;
        snprintf(detail, sizeof detail, "%s, event %d: %d instead of %d", step.name, mark.event,
                 mark.argument, wanted);
        check(mark.argument == wanted, "a mark has its k-tile", detail);
    }
    snprintf(detail, sizeof detail, "%s: %d loads, %d waits, %d loads of fragments, %d steps",
             step.name, loads, waits, fragments, multiplications);
    check((!whole || loads == K) && waits == K && fragments == K * STEPS &&
              multiplications == K * STEPS - 1,
          "turns are counted", detail);
    const struct track *threads = timeline_find_track(told.timeline, 0, TRACK_ROLE, TRACE_THREADS);
    const struct span *last = threads && threads->count ? &threads->at[threads->count - 1] : NULL;
    check(last && (!whole || (last->kind == SPAN_EPILOGUE && last->tile == 5)),
          "after the multiplications comes the epilogue of the tile", step.name);
}

/* The figure of all names the extents of those without a name of their own: of the last. */
static void check_extents(const char *dir) {
    char path[1024];
    snprintf(path, sizeof path, "%s/stack.svg", dir);
    check(timeline_write_stack_svg(path), "the figure of all steps is written", path);
    char *text = json_read_file(path);
    check(text && strstr(text, ">128 x 128 x 448, one CTA of each step") && strstr(text, "\u00d7"),
          "the figure of all has the last one's extents", "");
    free(text);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: timeline_test DIR\n");
        return 2;
    }
    synthetic_timelines(K_TILES);
    synthetic_timelines(K_TILES); /* takes the place of the first */
    check(timeline_count() == 9, "a second run replaces the first", "");
    check_tracks();
    check_figures();
    check_marks();
    check_trace(argv[1]);
    check_checker();
    check_report(argv[1]);
    check_stack(argv[1]);
    check_refusals(argv[1]);
    check_early_end(argv[1]);
    check_device();
    check_devices();
    check_turns(true);
    check_turns(false);
    check_other_loads();
    check_extents(argv[1]);
    timeline_free_all();
    printf(failures ? "%d checks FAILED\n" : "all checks passed\n", failures);
    return failures != 0;
}
