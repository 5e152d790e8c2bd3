/* report_page.c: a launch as the timeline's one step. */
#include "runtime/report_page.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gemm.h"
#include "harness/hazard_reports.h"
#include "runtime/session.h"
#include "sim/core/state.h"
#include "sim/recording.h"
#include "timeline/timeline.h"

static bool recording;
static char name[64]; /* of the kernel, as a file's name can have it */

/* Without its parameters, the arguments of a template, and what stands before the last ::. */
static void take_name(const char *kernel) {
    size_t used = 0;
    for (const char *c = kernel; *c && *c != '(' && *c != '<' && used + 1 < sizeof name; ++c) {
        if (*c == ' ' || *c == ':')
            used = 0;
        else if (isalnum((unsigned char)*c) || *c == '_')
            name[used++] = *c;
    }
    name[used] = '\0';
    if (!used) snprintf(name, sizeof name, "kernel");
}

void page_begin(const char *kernel, int cluster, int number) {
    static struct gemm_kernel traced;
    static const struct gemm_problem problem;
    if (!session_get()->report || number != session_get()->report_launch) return;
    take_name(kernel);
    traced.name = name;
    traced.cluster = cluster;
    recording = true;
    sim_recording_begin(&traced, &problem);
}

void page_end(void) {
    char device[64], docs[1024];
    const char *const directory = session_get()->report;
    if (!recording) return;
    recording = false;
    sim_recording_end(-1);
    snprintf(device, sizeof device, "hopper_check, %d SMs, launch %d", sim.sms,
             session_get()->report_launch);
    const bool clean = sim.hazards == 0;
    const struct report_info info = {.simulated = true,
                                     .device = device,
                                     .sms = sim.sms,
                                     .docs = docs_from(directory, docs, sizeof docs)};
    const struct report_row row = {.name = name, .baseline = clean, .failure = "findings"};
    if (!timeline_write_report(directory, &info, &row, 1))
        session_refuse(REFUSED_INPUT, "cannot write into '%s': %s; the page is not whole",
                       directory, strerror(errno));
    session_tell("page", NULL, 0);
}
