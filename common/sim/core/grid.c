/*
 * grid.c: grids, clusters, CTAs: which of them are resident on which SM, and the life of a
 * thread.
 *
 * A launch on several devices is a grid on each of them, of the same kernel and size. Their
 * clusters are numbered through: those of device d follow those of device d - 1. So are their SMs.
 * Several such launches may follow each other: on each device one begins when the one before it has
 * ended there, whatever the other devices do. Their clusters are numbered through, too.
 *
 * An SM takes as many CTAs as its threads, shared memory and registers admit; the CTAs of a cluster
 * sit on different SMs and start together. A cluster keeps its places until the last of its threads
 * has ended.
 *
 * Launches run one after another here. An early one overlaps with the launch ahead of it in
 * simulated time alone: its CTAs begin on an SM when the last CTA there has ended. For the rules of
 * order the kernels ahead are running until it waits (order/prerequisites.h).
 */
#include "sim/core/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/devices.h"
#include "sim/core/collective.h"
#include "sim/core/doubt.h"
#include "sim/core/endless.h"
#include "sim/core/events.h"
#include "sim/core/fiber.h"
#include "sim/core/hazards.h"
#include "sim/core/hooks.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/lanes.h"
#include "sim/core/launch_bounds.h"
#include "sim/core/state.h"
#include "sim/core/scheduler.h"
#include "sim/core/shared_memory.h"
#include "sim/core/storage.h"

enum {
    MAX_THREADS = 1024, /* of a CTA */
    MAX_SM_THREADS = 2048,
    MAX_SM_CTAS = 32,
    MAX_CLUSTER = 16,
    SM_SHARED_BYTES = 228 << 10, /* of an SM */
    CTA_SHARED_BYTES = 227 << 10,
    RESERVED_SHARED_BYTES = 1024, /* per CTA, the system's */
};

struct sim_warp **resident_warps;
int resident_warp_count;

static struct {
    int clusters; /* of a device's grid */
    int ctas_per_sm;
    struct {
        int launch; /* that runs here */
        int next;   /* cluster of it to start */
        int live;   /* clusters that have started and not ended */
        int *order; /* of the clusters */
    } on[GEMM_DEVICES];
    int used[GEMM_DEVICES * MAX_SMS];         /* resident CTAs of each SM */
    uint64_t free_at[GEMM_DEVICES * MAX_SMS]; /* when an SM last became free for another CTA */
    struct sim_cluster *pool;                 /* retired, to be used again */
} grid;

/* Until it is complete, another kernel holds each device's first SM. SCHEDULE_TIME */
static struct sim_job leaving;

/* Of the launch before, SCHEDULE_TIME: when its last CTA on each SM ended. */
static uint64_t ended_at[GEMM_DEVICES * MAX_SMS];

/* ---- the life of a thread ---- */

void sim_at_thread_exit(struct sim_thread *thread, struct sim_exit_call *call) {
    call->next = thread->at_exit;
    thread->at_exit = call;
}

void sim_at_cta_exit(struct sim_cta *cta, struct sim_exit_call *call) {
    call->next = cta->at_exit;
    cta->at_exit = call;
}

static void make_exit_calls(struct sim_exit_call **list) {
    while (*list) {
        struct sim_exit_call *call = *list;
        *list = call->next;
        call->call(call);
    }
}

/* A kernel is a function of one struct by value, of a type that only the kernel knows. Calling
 * conventions pass a struct of this length through memory, and a longer one with the same beginning
 * in the same way: so these two types stand for all. */
struct parameter {
    unsigned char bytes[SIM_MOST_ARGS_BYTES];
} __attribute__((aligned(_Alignof(struct gemm_args))));

static struct parameter *parameters; /* [launches][devices] */

const struct gemm_args *sim_args_of(int grid) {
    return (const struct gemm_args *)(const void *)&parameters[grid];
}

/* Part of thread_main(), which fiber_asyncify.h speaks of. */
static inline __attribute__((always_inline)) void call_kernel(int grid) {
    const uintptr_t kernel = (uintptr_t)sim.launch->kernel;
    if (sim.args_bytes == sizeof(struct gemm_args))
        ((void (*)(const struct gemm_args))kernel)(*sim_args_of(grid));
    else
        ((void (*)(const struct parameter))kernel)(parameters[grid]);
}

static void thread_main(void *argument) {
    struct sim_thread *thread = argument;
    struct sim_cta *cta = thread->cta;
    sim_cue(SIM_EVENT_CUE_ENTER, 0);
    call_kernel(cta->launch * sim.devices + cta->device);
    make_exit_calls(&thread->at_exit);
    sim_cue(SIM_EVENT_CUE_EXIT, 0);
    sim_hooks.thread_ends(thread);
    collective_thread_exit(thread);
    lanes_thread_exit(thread);
    if ((thread->warp->exited | 1u << thread->lane) == thread->warp->lanes) sim_drain(thread->warp);
    thread->state = THREAD_DONE;
    thread->warp->ready &= ~(1u << thread->lane);
    thread->warp->exited |= 1u << thread->lane;
    if (--cta->live == 0) {
        make_exit_calls(&cta->at_exit);
        cta->exited = true;
        --cta->cluster->live;
    }
    fiber_exit();
}

static void begin_thread(struct sim_cta *cta, int index) {
    const struct gemm_launch *launch = sim.launch;
    struct sim_thread *thread = &cta->thread[index];
    memset(thread, 0, sizeof *thread);
    thread->self.thread_index.x = (unsigned)index;
    thread->self.block_index.x = (unsigned)(cta->index % launch->grid);
    thread->self.block_dim = (struct sim_index){(unsigned)launch->threads, 1, 1};
    thread->self.grid_dim = (struct sim_index){(unsigned)launch->grid, 1, 1};
    thread->self.cluster_rank = (unsigned)cta->rank;
    thread->self.file = "kernel";
    thread->cues = TURNS_AT_FIRST;
    thread->cta = cta;
    thread->index = index;
    thread->lane = index % WARP_SIZE;
    thread->warp = &cta->warp[index / WARP_SIZE];
    thread->warp->thread[thread->lane] = thread;
    thread->warp->lanes |= 1u << thread->lane;
    thread->warp->ready |= 1u << thread->lane;
    thread->slot = cta->rank * cta->threads + index;
    thread->epoch = 1;
    cta->cluster->slot[thread->slot] = (struct sim_slot){"ld/st", false, thread};
    thread->fiber = fiber_new(thread_main, thread);
    if (!thread->fiber) host_memory_ends("the stack of another thread");
}

static void begin_cta(struct sim_cta *cta, int index, int sm, uint64_t time) {
    cta->index = index;
    cta->device = index / sim.launch->grid % sim.devices;
    cta->launch = index / sim.launch->grid / sim.devices;
    cta->sm = sm;
    ++grid.used[sm];
    cta->live = cta->threads;
    cta->exited = false;
    cta->launched_dependents = cta->has_waited = false;
    cta->registers = NULL;
    cta->tensor = NULL;
    cta->fences = NULL;
    cta->refused_file = NULL;
    cta->at_exit = NULL;
    sim_poison(cta->shared, cta->shared_bytes);
    memset(cta->warpgroup, 0, cta->warpgroups * sizeof *cta->warpgroup);
    memset(cta->warp, 0, cta->warps * sizeof *cta->warp);
    sim_hooks.cta_begins(cta);
    for (int i = 0; i < cta->warps; ++i) {
        struct sim_warp *warp = &cta->warp[i];
        struct sim_warpgroup *warpgroup = &cta->warpgroup[i / WARPGROUP_WARPS];
        warp->cta = cta;
        warp->index = i;
        warpgroup->cta = cta;
        warpgroup->index = i / WARPGROUP_WARPS;
        warpgroup->warp[warpgroup->warps++] = warp;
        sim_hooks.warp_begins(warp, time);
    }
    for (int i = 0; i < cta->threads; ++i)
        begin_thread(cta, i);
}

/* ---- launch bounds ---- */

int (*grid_loaded_bounds)(const void *kernel);

int grid_launch_bounds_ctas(const void *kernel) {
    int ctas = launch_bounds_here(kernel);
    if (ctas == 0 && grid_loaded_bounds) ctas = grid_loaded_bounds(kernel);
    return ctas ? ctas : 1;
}

/* ---- who is resident ---- */

int grid_ctas_per_sm(const struct gemm_launch *launch) {
    int by_threads = MAX_SM_THREADS / launch->threads;
    /* How many registers a thread uses is the compiler's secret; that this many CTAs fit is its
     * promise. */
    int by_registers = grid_launch_bounds_ctas(launch->kernel);
    int by_shared = (int)(SM_SHARED_BYTES / (launch->smem_bytes + RESERVED_SHARED_BYTES));
    int ctas = MAX_SM_CTAS;
    if (ctas > by_threads) ctas = by_threads;
    if (ctas > by_registers) ctas = by_registers;
    if (ctas > by_shared) ctas = by_shared;
    return ctas;
}

static void leave(struct sim_job *job) { (void)job; }

/* The kernel that is there leaves the first SMs after sim.held cycles. */
static void hold_first_sms(uint64_t begin) {
    leaving = (struct sim_job){.complete = leave};
    if (sim.held == 0 || !sim_timed()) return;
    for (int device = 0; device < sim.devices; ++device)
        grid.free_at[device * sim.sms] = begin + sim.held;
    sim_job_start(&leaving, begin + sim.held);
}

static bool is_held(int sm) { return leaving.state == JOB_PENDING && sm % sim.sms == 0; }

static bool contains(const int *sm, int count, int wanted) {
    for (int i = 0; i < count; ++i)
        if (sm[i] == wanted) return true;
    return false;
}

/* The device's SM with the most room, apart from the `count` that are taken; -1: there is none. */
static int choose_sm(int device, const int *taken, int count) {
    int best = -1;
    int start = sim.schedule == SCHEDULE_RANDOM ? (int)(sim_random() % (unsigned)sim.sms) : 0;
    for (int i = 0; i < sim.sms; ++i) {
        int sm = device * sim.sms + (start + i) % sim.sms;
        if (grid.used[sm] >= grid.ctas_per_sm || contains(taken, count, sm) || is_held(sm))
            continue;
        if (best < 0 || grid.used[sm] < grid.used[best] ||
            (sim_timed() && grid.used[sm] == grid.used[best] &&
             grid.free_at[sm] < grid.free_at[best]))
            best = sm;
    }
    return best;
}

static void list_resident_warps(void) {
    resident_warp_count = 0;
    for (struct sim_cluster *cluster = sim.clusters; cluster; cluster = cluster->next)
        for (int rank = 0; rank < cluster->ctas; ++rank)
            for (int i = 0; i < cluster->cta[rank].warps; ++i)
                resident_warps[resident_warp_count++] = &cluster->cta[rank].warp[i];
}

static bool start_next_cluster(int device) {
    const struct gemm_launch *launch = sim.launch;
    int sm[MAX_CLUSTER];
    uint64_t time = 0;
    for (int rank = 0; rank < launch->cluster; ++rank) {
        sm[rank] = choose_sm(device, sm, rank);
        if (sm[rank] < 0) return false;
        if (time < grid.free_at[sm[rank]]) time = grid.free_at[sm[rank]];
    }
    const int before = grid.on[device].launch * sim.devices + device; /* grids */
    int index = before * grid.clusters + grid.on[device].order[grid.on[device].next++];
    ++grid.on[device].live;
    struct sim_cluster *cluster = grid.pool;
    if (cluster)
        grid.pool = cluster->next;
    else
        cluster = storage_new(launch);
    cluster->index = index;
    cluster->live = cluster->ctas;
    cluster->slots = cluster->ctas * launch->threads;
    if (launch->early != GEMM_IN_ORDER) /* order/prerequisites.c */
        cluster->slot[cluster->slots++] = (struct sim_slot){"the kernels ahead", false, NULL};
    cluster->mbarriers = NULL;
    cluster->barrier = NULL;
    cluster->fences = NULL;
    cluster->tensor_group = 0;
    cluster->next = NULL;
    struct sim_cluster **end = &sim.clusters;
    while (*end)
        end = &(*end)->next;
    *end = cluster;
    for (int rank = 0; rank < cluster->ctas; ++rank)
        begin_cta(&cluster->cta[rank], index * cluster->ctas + rank, sm[rank], time);
    return true;
}

/* The next launch begins on the device if this one has ended there. */
static void follow(int device) {
    if (grid.on[device].next < grid.clusters || grid.on[device].live > 0 ||
        grid.on[device].launch + 1 == sim.launches)
        return;
    uint64_t end = 0;
    for (int sm = device * sim.sms; sm < (device + 1) * sim.sms; ++sm)
        if (end < grid.free_at[sm]) end = grid.free_at[sm];
    for (int sm = device * sim.sms; sm < (device + 1) * sim.sms; ++sm)
        grid.free_at[sm] = end;
    ++grid.on[device].launch;
    grid.on[device].next = 0;
}

bool grid_admit(void) {
    bool started = false;
    for (int device = 0; device < sim.devices; ++device) {
        follow(device);
        while (grid.on[device].next < grid.clusters && start_next_cluster(device))
            started = true;
    }
    if (started) list_resident_warps();
    if (sim.clusters || leaving.state != JOB_PENDING) return sim.clusters != NULL;
    sim_job_force(&leaving); /* a grid that has no other SM */
    return grid_admit();
}

int grid_cancel(int device) {
    if (grid.on[device].next >= grid.clusters) return -1;
    return grid.on[device].order[grid.on[device].next++] * sim.launch->cluster;
}

int grid_waiting(int device) {
    return (grid.clusters - grid.on[device].next) * sim.launch->cluster;
}

bool grid_skipped(int device) {
    const int *const order = grid.on[device].order;
    int highest = -1;
    for (int i = 0; i < grid.on[device].next; ++i)
        if (order[i] > highest) highest = order[i];
    for (int i = grid.on[device].next; i < grid.clusters; ++i)
        if (order[i] < highest) return true;
    return false;
}

void grid_retire(struct sim_cluster *cluster) {
    jobs_complete_all(cluster);
    sim_hooks.cluster_retires(cluster);
    --grid.on[cluster->cta[0].device].live;
    for (int rank = 0; rank < cluster->ctas; ++rank) {
        struct sim_cta *cta = &cluster->cta[rank];
        uint64_t end = 0;
        for (int i = 0; i < cta->warps; ++i)
            if (end < cta->warp[i].clock) end = cta->warp[i].clock;
        if (sim.cycles < end) sim.cycles = end;
        if (!cta->launched_dependents && sim.dependents_at < end) sim.dependents_at = end;
        if (!cta->launched_dependents && cta->has_waited) sim.lets_late = true;
        --grid.used[cta->sm];
        grid.free_at[cta->sm] = end;
    }
    struct sim_cluster **link = &sim.clusters;
    while (*link != cluster)
        link = &(*link)->next;
    *link = cluster->next;
    storage_clear(cluster);
    cluster->next = grid.pool;
    grid.pool = cluster;
    list_resident_warps();
}

/* ---- launching ---- */

static bool refuse(const struct gemm_launch *launch, const char *why, long have, long limit) {
    fprintf(stderr, "%s: launch refused: ", launch->name ? launch->name : "kernel");
    fprintf(stderr, why, have, limit);
    fputc('\n', stderr);
    return false;
}

bool grid_acceptable(const struct gemm_launch *launch) {
    if (!launch->kernel) return refuse(launch, "no kernel", 0, 0);
    if (launch->threads < 1 || launch->threads > MAX_THREADS)
        return refuse(launch, "%ld threads per CTA (1 to %ld)", launch->threads, MAX_THREADS);
    if (launch->cluster < 1 || launch->cluster > MAX_CLUSTER)
        return refuse(launch, "clusters of %ld CTAs (1 to %ld)", launch->cluster, MAX_CLUSTER);
    if (launch->cluster > sim.sms)
        return refuse(launch,
                      "a cluster of %ld CTAs needs as many SMs, and there are %ld: see --sms",
                      launch->cluster, sim.sms);
    if (launch->smem_bytes > CTA_SHARED_BYTES)
        return refuse(launch, "%ld bytes of shared memory per CTA (at most %ld)",
                      (long)launch->smem_bytes, CTA_SHARED_BYTES);
    return true;
}

static void swap(int *one, int *other) {
    const int kept = *one;
    *one = *other;
    *other = kept;
}

/* As many as fit at once are put in some order, then the next as many: so all that have a lower
 * index than the first of such a group begin before one of the group does. With the rule in doubt
 * the group is the whole grid. */
static int *order_clusters(void) {
    int *const order = host_zeroed((size_t)grid.clusters, sizeof *order, "the order of the CTAs");
    const int fit = doubtful_rules ? 0 : grid.ctas_per_sm * sim.sms / sim.launch->cluster;
    const int group = fit > 0 ? fit : grid.clusters;
    for (int i = 0; i < grid.clusters; ++i)
        order[i] = i;
    for (int first = 0; first < grid.clusters; first += group) {
        const int count = grid.clusters - first < group ? grid.clusters - first : group;
        int *const part = order + first;
        for (int i = count - 1; i > 0 && sim.schedule == SCHEDULE_RANDOM; --i)
            swap(&part[i], &part[sim_random() % (unsigned)(i + 1)]);
        for (int i = 0; i < count / 2 && sim.schedule == SCHEDULE_LATE; ++i)
            swap(&part[i], &part[count - 1 - i]);
    }
    return order;
}

static uint64_t later_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool run(const struct gemm_launch *launch, bool *abandoned) {
    if (!grid_acceptable(launch)) return false;
    if (launch->grid < 1 || launch->grid % launch->cluster)
        return refuse(launch, "a grid of %ld CTAs, in clusters of %ld", launch->grid,
                      launch->cluster);
    sim.launch = launch;
    memset(&grid, 0, sizeof grid);
    grid.clusters = launch->grid / launch->cluster;
    grid.ctas_per_sm = grid_ctas_per_sm(launch);
    int warps = (launch->threads + WARP_SIZE - 1) / WARP_SIZE;
    const int sms = sim.devices * sim.sms;
    resident_warps = host_zeroed((size_t)sms * grid.ctas_per_sm * warps, sizeof *resident_warps,
                                 "the resident warps");
    resident_warp_count = 0;
    const bool overlaps = launch->early != GEMM_IN_ORDER && !sim.ahead_complete;
    for (int i = 0; i < sms; ++i)
        grid.free_at[i] = overlaps ? later_of(ended_at[i], sim.dependents_at) : sim.cycles;
    sim.ahead_end = overlaps ? sim.cycles : 0;
    sim.waits = sim.lets_next = sim.lets_late = false;
    sim.dependents_at = 0;
    for (int device = 0; device < sim.devices; ++device)
        grid.on[device].order = order_clusters();
    hold_first_sms(sim.cycles);
    sim_hooks.launch_begins();
    endless_watch();
    *abandoned = !scheduler_run();
    endless_watch_ends();
    jobs_cancel();
    memcpy(ended_at, grid.free_at, sizeof ended_at);
    sim.ahead_complete = false;
    sim.never_waited = overlaps && !sim.waits;
    while (sim.clusters) {
        struct sim_cluster *next = sim.clusters->next;
        storage_free(sim.clusters);
        sim.clusters = next;
    }
    while (grid.pool) {
        struct sim_cluster *next = grid.pool->next;
        storage_free(grid.pool);
        grid.pool = next;
    }
    for (int device = 0; device < sim.devices; ++device)
        free(grid.on[device].order);
    free(resident_warps);
    resident_warps = NULL;
    sim.launch = NULL;
    return true;
}

bool grid_run(const struct gemm_launch *launch, const void *args, size_t args_bytes, int devices,
              int launches, bool *abandoned) {
    if (devices < 1 || devices > GEMM_DEVICES)
        return refuse(launch, "%ld devices (1 to %ld)", devices, GEMM_DEVICES);
    if (args_bytes < sizeof(struct gemm_args) || args_bytes > SIM_MOST_ARGS_BYTES)
        return refuse(launch,
                      "a parameter of %ld bytes (at most %ld, and it begins with a gemm_args)",
                      (long)args_bytes, SIM_MOST_ARGS_BYTES);
    const int grids = launches * devices;
    parameters = host_aligned(_Alignof(struct parameter), (size_t)grids * sizeof *parameters,
                              "the kernel's parameter");
    for (int i = 0; i < grids; ++i)
        memcpy(&parameters[i], (const char *)args + (size_t)i * args_bytes, args_bytes);
    sim.args = sim_args_of(0);
    sim.args_bytes = args_bytes;
    sim.devices = devices;
    sim.launches = launches;
    const bool ran = run(launch, abandoned);
    sim.args = NULL;
    free(parameters);
    parameters = NULL;
    return ran;
}
