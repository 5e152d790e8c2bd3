/*
 * waves_record.c: records of waves, and the shares of idle time.
 *
 *   kernel 10_stream_k coop256, measured: 2816 x 2304 x 4096, 143144 cycles; idle ...
 *   SM 0: 124000 cycles of multiplication: 1200-70000 71000-130000
 */
#include "tools/book/waves.h"

#include <stdlib.h>
#include <string.h>

#include "tools/book/waves_trace.h"

void waves_free(struct wave *waves, int count) {
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < waves[i].lanes; ++j)
            free(waves[i].lane[j].track.at);
}

/* ---- shares ---- */

double waves_idle_at_the_end(const struct wave *wave) {
    double idle = 0;
    for (int i = 0; i < wave->lanes; ++i)
        idle += (double)(wave->end - wave->lane[i].last);
    return 100 * idle / ((double)wave->lanes * (double)wave->end);
}

double waves_idle_in_all(const struct wave *wave) {
    double idle = 0;
    for (int i = 0; i < wave->lanes; ++i)
        idle += (double)(wave->end - wave->lane[i].busy);
    return 100 * idle / ((double)wave->lanes * (double)wave->end);
}

/* ---- records ---- */

void waves_print(FILE *file, const struct wave *wave) {
    fprintf(file,
            "kernel %s, %s: %d x %d x %d, %lld cycles; idle %.1f %% after the last multiplication, "
            "%.1f %% in all\n",
            wave->name, wave->measured ? "measured" : "simulated", wave->m, wave->n, wave->k,
            (long long)wave->end, waves_idle_at_the_end(wave), waves_idle_in_all(wave));
    for (int i = 0; i < wave->lanes; ++i) {
        const struct lane *lane = &wave->lane[i];
        fprintf(file, "SM %d: %lld cycles of multiplication:", lane->sm, (long long)lane->busy);
        for (int j = 0; j < lane->track.count; ++j)
            fprintf(file, " %lld-%lld", (long long)lane->track.at[j].begin,
                    (long long)lane->track.at[j].end);
        fputc('\n', file);
    }
}

static bool read_heading(struct wave *wave, const char *line) {
    char kind[16];
    long long end;
    *wave = (struct wave){0};
    if (sscanf(line, "kernel %159[^,], %15[a-z]: %d x %d x %d, %lld cycles;", wave->name, kind,
               &wave->m, &wave->n, &wave->k, &end) != 6)
        return false;
    wave->measured = strcmp(kind, "measured") == 0;
    wave->end = end;
    return wave->end > 0;
}

static bool read_lane(struct wave *wave, const char *line) {
    long long busy, begin, end;
    int sm, at = 0, used = 0;
    if (wave->lanes == TRACE_MOST_SMS ||
        sscanf(line, "SM %d: %lld cycles of multiplication:%n", &sm, &busy, &at) != 2 || !at)
        return false;
    struct lane *lane = &wave->lane[wave->lanes++];
    *lane = (struct lane){.sm = sm, .busy = busy, .track.kind = TRACK_TENSOR_CORE};
    struct track *track = &lane->track;
    for (; sscanf(line + at, " %lld-%lld%n", &begin, &end, &used) == 2; at += used) {
        if (begin < lane->last || end <= begin || end > wave->end) return false;
        timeline_grow((void **)&track->at, track->count, &track->capacity, sizeof *track->at);
        track->at[track->count++] = (struct span){.begin = begin,
                                                  .end = end,
                                                  .kind = SPAN_MMA,
                                                  .inferred = wave->measured,
                                                  .role = -1,
                                                  .k_tile = -1,
                                                  .tile = -1};
        lane->last = end;
    }
    return track->count && line[at + (int)strspn(line + at, " ")] == 0;
}

/* Lines that begin with # are about the record. */
static int read_record(struct wave *waves, int room, char *text, char *error, size_t size) {
    int count = 0, number = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        ++number;
        bool good = !*line || *line == '#';
        if (strncmp(line, "kernel ", 7) == 0 && count < room)
            good = read_heading(&waves[count++], line);
        else if (strncmp(line, "SM ", 3) == 0 && count)
            good = read_lane(&waves[count - 1], line);
        if (good) continue;
        snprintf(error, size, "line %d is not of a record of waves", number);
        return 0;
    }
    for (int i = 0; i < count; ++i)
        if (!waves[i].lanes) count = 0;
    if (!count) snprintf(error, size, "has no SM");
    return count;
}

int waves_read(struct wave *waves, int room, const char *path, char *error, size_t size) {
    struct json trace;
    int count = 0;
    char *text = json_read_file(path);
    if (!text) {
        snprintf(error, size, "cannot be read");
        return 0;
    }
    if (*text != '{') {
        count = read_record(waves, room, text, error, size);
    } else if (json_parse(text, &trace, error, size)) {
        count = room && waves_read_trace(waves, &trace, error, size);
        json_free(&trace);
    }
    free(text);
    return count;
}
