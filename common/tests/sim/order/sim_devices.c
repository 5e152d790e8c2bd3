/*
 * sim_devices.c: kernels that run on several devices at once and hand data to each other, right in
 * several ways and wrong in more. The verdict must be the same with two, three and four devices and
 * under every schedule.
 */
#include "tests/sim/sim_kernels.h"

#include "services/devices.h"
#include "hopper/atomics.h"
#include "hopper/tma.h"
#include "sim/cost/timing_model.h"
#include "tests/support/capture.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

static int other_line; /* of the other side, which the report must name, too */
#define OTHER other_line = __LINE__;
static int culprit_line; /* where the mistake is in how a flag or counter is accessed */
#define CULPRIT culprit_line = __LINE__;

enum { DEVICES = 4, CTAS = 2, THREADS = 64, FLOATS = 4 * THREADS, ROWS = 8, COLUMNS = FLOATS / ROWS,
       FLAGS = 64 };

struct smem {
    float part[FLOATS] __attribute__((aligned(1024))); /* [ROWS][COLUMNS] */
    float other[FLOATS] __attribute__((aligned(1024)));
    mbarrier_t full;
};

static int me(void) { return (int)threadIdx.x; }
static int cta(void) { return (int)blockIdx.x; }
static int next(const struct gemm_device_args *args) { return (args->device + 1) % args->devices; }
static int before(const struct gemm_device_args *args) {
    return (args->device + args->devices - 1) % args->devices;
}
/* A CTA sends to the CTA of its number on the next device, and receives from that of the one
 * before. */
static uint32_t *flag_there(const struct gemm_device_args *args) {
    return &args->flags[next(args)][cta()];
}
static uint32_t *flag_here(const struct gemm_device_args *args) {
    return &args->flags[args->device][cta()];
}

static float *workspaces[DEVICES]; /* each device's, CTAS x FLOATS */
static float *there(const struct gemm_device_args *args) {
    return workspaces[next(args)] + cta() * FLOATS;
}
static float *here(const struct gemm_device_args *args) {
    return workspaces[args->device] + cta() * FLOATS;
}

static struct b128 values(int device) {
    const float v = (float)(1000 * device + 100 * cta() + me()), f[4] = {v, v + 0.25f, v + 0.5f, v};
    struct b128 chunk;
    memcpy(&chunk, f, sizeof chunk);
    return chunk;
}

static void send(const struct gemm_device_args *args) {
    OTHER st_global_b128(there(args) + 4 * me(), values(args->device));
}
static void wait_acquire(const struct gemm_device_args *args, enum scope scope) {
    while (ld_global_acquire(flag_here(args), scope) == 0) {
    }
}
static void keep(const struct gemm_device_args *args, struct b128 chunk) {
    st_global_b128((float *)args->gemm.d + cta() * FLOATS + 4 * me(), chunk);
}
static void receive(const struct gemm_device_args *args) {
    MARK keep(args, ld_global_b128(here(args) + 4 * me()));
}

/* ---- by stores ---- */

/* All threads send, one of them signals; one of the receivers waits, all read. */
#define PUSH(name, signal, wait)                                                                   \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        (void)shared;                                                                              \
        send(&args);                                                                               \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            signal;                                                                                \
            wait;                                                                                  \
        }                                                                                          \
        __syncthreads();                                                                           \
        receive(&args);                                                                            \
    }

PUSH(pushed, st_global_release(flag_there(&args), 1, SCOPE_SYS), wait_acquire(&args, SCOPE_SYS))
PUSH(pushed_by_fences,
     (fence_acq_rel(SCOPE_SYS), st_global_relaxed(flag_there(&args), 1, SCOPE_SYS)),
     while (ld_global_relaxed(flag_here(&args), SCOPE_SYS) == 0) {} fence_acq_rel(SCOPE_SYS))
PUSH(release_of_the_gpu, CULPRIT st_global_release(flag_there(&args), 1, SCOPE_GPU),
     wait_acquire(&args, SCOPE_SYS))
PUSH(acquire_of_the_gpu, st_global_release(flag_there(&args), 1, SCOPE_SYS),
     CULPRIT while (ld_global_acquire(flag_here(&args), SCOPE_GPU) == 0) {})
PUSH(fence_of_the_gpu,
     (fence_acq_rel(SCOPE_GPU), st_global_relaxed(flag_there(&args), 1, SCOPE_SYS)),
     wait_acquire(&args, SCOPE_SYS))
PUSH(relaxed_flag, st_global_relaxed(flag_there(&args), 1, SCOPE_SYS),
     wait_acquire(&args, SCOPE_SYS))
PUSH(flag_of_another, st_global_release(flag_here(&args), 1, SCOPE_SYS),
     wait_acquire(&args, SCOPE_SYS))
PUSH(no_flag, (void)0, CULPRIT while (ld_global_acquire(flag_here(&args), SCOPE_SYS) == 0) {})

/* The flag before the data. */
KERNEL(THREADS, 1) flag_first(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    if (me() == 0) st_global_release(flag_there(&args), 1, SCOPE_SYS);
    __syncthreads();
    send(&args);
    if (me() == 0) wait_acquire(&args, SCOPE_SYS);
    __syncthreads();
    receive(&args);
}

/* Twice through the same words: the receiver resets the flag and returns it by another. */
KERNEL(THREADS, 1) there_and_back(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    for (uint32_t round = 1; round <= 2; ++round) {
        send(&args);
        __syncthreads();
        if (me() == 0) {
            st_global_release(flag_there(&args), round, SCOPE_SYS);
            while (ld_global_acquire(flag_here(&args), SCOPE_SYS) != round) {
            }
        }
        __syncthreads();
        keep(&args, ld_global_b128(here(&args) + 4 * me()));
        __syncthreads();
        if (me() == 0) {
            st_global_release(&args.flags[before(&args)][CTAS + cta()], round, SCOPE_SYS);
            while (ld_global_acquire(&args.flags[args.device][CTAS + cta()], SCOPE_SYS) != round) {
            }
        }
        __syncthreads();
    }
}

/* ---- by the TMA ---- */

static void stage(struct smem *shared, const struct gemm_device_args *args) {
    st_shared_b128(&shared->part[4 * me()], values(args->device));
    fence_proxy_async();
    __syncthreads();
}
static void tma_send(struct smem *shared, const struct gemm_device_args *args) {
    OTHER tma_store(&args->map_peer[next(args)], cta() * ROWS, 0, shared->part);
    bulk_commit_group();
}

#define TMA_PUSH(name, wait)                                                                       \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        stage(shared, &args);                                                                      \
        if (me() == 0) {                                                                           \
            tma_send(shared, &args);                                                               \
            wait;                                                                                  \
            st_global_release(flag_there(&args), 1, SCOPE_SYS);                                    \
            wait_acquire(&args, SCOPE_SYS);                                                        \
        }                                                                                          \
        __syncthreads();                                                                           \
        receive(&args);                                                                            \
        __syncthreads();                                                                           \
        if (me() == 0) bulk_wait_group(0);                                                         \
    }
TMA_PUSH(tma_pushed, bulk_wait_group(0))
TMA_PUSH(tma_not_complete, bulk_wait_group_read(0))

/* A chain of loads by the TMA, beside what another warp sends to the peer: by the TMA, to rows that
 * the matrix lacks, so that time alone is spent; by ordinary stores; or nothing. */
enum { CHAIN = 12, SENDS = 16 };
#define LOADS_BESIDE(name, sends)                                                                  \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        if (me() == 0) {                                                                           \
            mbarrier_init(&shared->full, 1);                                                       \
            fence_mbarrier_init();                                                                 \
        }                                                                                          \
        st_shared_b128(&shared->other[4 * me()], values(args.device));                             \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        for (int i = 0; me() >= 32 && i < SENDS; ++i)                                              \
            sends;                                                                                 \
        for (int i = 0; me() == 0 && i < CHAIN; ++i) {                                             \
            mbarrier_arrive_expect_tx(&shared->full, sizeof shared->part);                         \
            const struct tensor_map *const map = &args.map_peer[args.device];                      \
            tma_load(shared->part, map, (CTAS + cta()) * ROWS, 0, &shared->full);                  \
            mbarrier_wait(&shared->full, i % 2);                                                   \
        }                                                                                          \
        if (me() == 32) bulk_wait_group(0);                                                        \
    }
static void send_nowhere(const struct gemm_device_args *args, const struct smem *shared) {
    if (me() != 32) return;
    tma_store(&args->map_peer[next(args)], CTAS * ROWS, 0, shared->other);
    bulk_commit_group();
}
static void send_half(const struct gemm_device_args *args, int i) {
    st_global_b128(there(args) + 4 * (me() - 32 + i % 2 * 32), values(args->device));
}
LOADS_BESIDE(loads_alone, (void)0)
LOADS_BESIDE(loads_beside_tma, send_nowhere(&args, shared))
LOADS_BESIDE(loads_beside_stores, (send_half(&args, 2 * i), send_half(&args, 2 * i + 1)))

/* What ordinary stores of a peer wrote, loaded by the TMA. */
#define TMA_LOADS(name, writers, reader)                                                           \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        if (me() == 0) {                                                                           \
            mbarrier_init(&shared->full, 1);                                                       \
            fence_mbarrier_init();                                                                 \
        }                                                                                          \
        send(&args);                                                                               \
        writers;                                                                                   \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            st_global_release(flag_there(&args), 1, SCOPE_SYS);                                    \
            wait_acquire(&args, SCOPE_SYS);                                                        \
            reader;                                                                                \
            mbarrier_arrive_expect_tx(&shared->full, sizeof shared->part);                         \
            const struct tensor_map *const map = &args.map_peer[args.device];                      \
            MARK tma_load(shared->part, map, cta() * ROWS, 0, &shared->full);                      \
        }                                                                                          \
        mbarrier_wait(&shared->full, 0);                                                           \
        keep(&args, ld_shared_b128(&shared->part[4 * me()]));                                      \
    }
TMA_LOADS(tma_loads_writers_fence, fence_proxy_async_global(), (void)0)
TMA_LOADS(tma_loads_reader_fences, (void)0, fence_proxy_async_global())
TMA_LOADS(tma_loads_no_fence, (void)0, (void)0)

/* ---- words that all devices count on: device 0's ---- */

#define COUNT(name, scope)                                                                         \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        (void)shared;                                                                              \
        send(&args);                                                                               \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            if (scope == SCOPE_GPU) CULPRIT;                                                       \
            atomic_add_acq_rel(&args.flags[0][0], 1, scope);                                  \
            while (ld_global_acquire(&args.flags[0][0], SCOPE_SYS) <                               \
                   (uint32_t)(args.devices * CTAS)) {                                              \
            }                                                                                      \
        }                                                                                          \
        __syncthreads();                                                                           \
        keep(&args, ld_global_b128(here(&args) + 4 * me()));                                       \
    }
COUNT(counted, SCOPE_SYS)
COUNT(counted_of_the_gpu, SCOPE_GPU)

/* Reductions of the TMA have the scope .gpu: those of one device may meet, those of two may not. */
KERNEL(THREADS, 1) reduced_by_all(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    stage(shared, &args);
    if (me() > 0) return;
    MARK tma_reduce_add(&args.map_peer[0], 0, 0, shared->part);
    bulk_commit_group();
    bulk_wait_group(0);
}
KERNEL(THREADS, 1) reduced_by_own(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    stage(shared, &args);
    if (me() > 0) return;
    tma_reduce_add(&args.map_peer[args.device], 0, 0, shared->part);
    bulk_commit_group();
    bulk_wait_group(0);
}

/* A device stores to D of another, where that one stores, too. */
KERNEL(THREADS, 1) two_writers(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    if (cta() > 0) return;
    MARK st_global_b128((float *)test_out + 4 * me(), values(args.device));
}

/* ---- launches that follow each other on each device ---- */

/* Kernels send through the same words in every launch. So a CTA has to know that the one which it
 * sends to has read what the launch before sent: that one gives it room. The values differ from
 * launch to launch: a word of the device's own memory counts them. */
static uint32_t *room_there(const struct gemm_device_args *args) {
    return &args->flags[before(args)][CTAS + cta()];
}
static uint32_t *room_here(const struct gemm_device_args *args) {
    return &args->flags[args->device][CTAS + cta()];
}
static uint32_t *count_here(const struct gemm_device_args *args) {
    return &args->flags[args->device][2 * CTAS + cta()];
}
static void send_numbered(const struct gemm_device_args *args, uint32_t number) {
    struct b128 chunk = values(args->device);
    chunk.word[3] = number;
    OTHER st_global_b128(there(args) + 4 * me(), chunk);
}
static void wait_for(uint32_t *word) {
    while (ld_global_acquire(word, SCOPE_SYS) == 0) {
    }
}
#define FOLLOW(name, give, wait, reset_flag, reset_room)                                           \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        (void)shared;                                                                              \
        uint32_t *const there = flag_there(&args), *const here = flag_here(&args);                 \
        uint32_t *const room = room_here(&args);                                                   \
        const uint32_t number = ld_global_relaxed(count_here(&args), SCOPE_GPU);                   \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            st_global_relaxed(count_here(&args), number + 1, SCOPE_GPU);                           \
            give;                                                                                  \
            wait;                                                                                  \
            reset_room;                                                                            \
        }                                                                                          \
        (void)room;                                                                                \
        __syncthreads();                                                                           \
        send_numbered(&args, number);                                                              \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            st_global_release(there, 1, SCOPE_SYS);                                                \
            wait_for(here);                                                                        \
            reset_flag;                                                                            \
        }                                                                                          \
        __syncthreads();                                                                           \
        receive(&args);                                                                            \
    }
#define GIVE st_global_release(room_there(&args), 1, SCOPE_SYS)
#define WAIT wait_for(room)
#define RESET_FLAG st_global_relaxed(here, 0, SCOPE_GPU)
#define RESET_ROOM st_global_relaxed(room, 0, SCOPE_GPU)
FOLLOW(followed, GIVE, WAIT, RESET_FLAG, RESET_ROOM)
FOLLOW(no_room, (void)0, (void)0, RESET_FLAG, (void)0)
FOLLOW(flag_stays, GIVE, WAIT, (void)0, RESET_ROOM)
FOLLOW(room_stays, GIVE, WAIT, RESET_FLAG, (void)0)
FOLLOW(room_relaxed, st_global_relaxed(room_there(&args), 1, SCOPE_SYS), WAIT, RESET_FLAG,
       RESET_ROOM)
FOLLOW(room_not_acquired, GIVE, while (ld_global_relaxed(room, SCOPE_SYS) == 0) {}, RESET_FLAG,
       RESET_ROOM)

/* Room at the end of the launch instead, by a thread that has waited for all others of its CTA: the
 * next launch of the sender acquires it. In the first one there is room for all. */
#define FOLLOW_AT_END(name, barrier)                                                               \
    KERNEL(THREADS, 1) name(KERNEL_ARGS_OF(struct gemm_device_args) args) {                        \
        SHARED_MEMORY(struct smem);                                                                \
        (void)shared;                                                                              \
        const uint32_t number = ld_global_relaxed(count_here(&args), SCOPE_GPU);                   \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            st_global_relaxed(count_here(&args), number + 1, SCOPE_GPU);                           \
            while (ld_global_acquire(room_here(&args), SCOPE_SYS) < number) {                      \
            }                                                                                      \
        }                                                                                          \
        __syncthreads();                                                                           \
        send_numbered(&args, number);                                                              \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            st_global_release(flag_there(&args), number + 1, SCOPE_SYS);                           \
            while (ld_global_acquire(flag_here(&args), SCOPE_SYS) < number + 1) {                  \
            }                                                                                      \
        }                                                                                          \
        __syncthreads();                                                                           \
        receive(&args);                                                                            \
        barrier;                                                                                   \
        if (me() == 0) st_global_release(room_there(&args), number + 1, SCOPE_SYS);                \
    }
FOLLOW_AT_END(followed_by_numbers, __syncthreads())
FOLLOW_AT_END(room_before_the_loads, (void)0)

// clang-format on

/* ---- running them ---- */

static uint32_t *flags[DEVICES];
static element_t *outputs[DEVICES];
static struct gemm_device_args all[DEVICES];
static void (*kernel_of_run)(const struct gemm_device_args);
static int devices_of_run, launches_of_run = 1;
static bool following;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)self, (void)problem;
    const struct gemm_launch launch = {.kernel = (const void *)(uintptr_t)kernel_of_run,
                                       .name = "test",
                                       .grid = CTAS,
                                       .cluster = 1,
                                       .threads = THREADS,
                                       .smem_bytes = sizeof(struct smem),
                                       .stream = stream};
    for (int i = 1; i < launches_of_run; ++i)
        if (gemm_launch_devices(&launch, all, devices_of_run)) return GEMM_LAUNCH_FAILED;
    return gemm_launch_devices(&launch, all, devices_of_run);
}

/* The same, without waiting for other devices between launches. */
static enum gemm_status enqueue_following(const struct contender *self,
                                          const struct gemm_problem *problem, void *stream) {
    if (gemm_devices_begin(stream)) return GEMM_LAUNCH_FAILED;
    const enum gemm_status status = enqueue(self, problem, stream);
    return gemm_devices_end(stream) || status ? GEMM_LAUNCH_FAILED : GEMM_OK;
}

/* Opens the simulator of so many devices, with their memory. */
static void open_devices(int devices, enum sim_schedule schedule, uint64_t seed) {
    struct backend_info info;
    sim_configure(CTAS, schedule, seed);
    if (backend_open(&(struct backend_options){.type = GEMM_FP16, .gpus = devices}, &info)) exit(1);
    EXPECT(info.gpus_open == devices && info.gpus == GEMM_DEVICES, "%d of %d GPUs are open",
           info.gpus_open, info.gpus);
    for (int d = 0; d < DEVICES; ++d) {
        if (!outputs[d]) {
            outputs[d] = backend_alloc_on(d, TEST_BYTES, "D", true);
            flags[d] = backend_alloc_on(d, FLAGS * sizeof *flags[d], "flags", true);
            workspaces[d] = backend_alloc_on(d, CTAS * FLOATS * sizeof(float), "workspace", true);
        }
        memset(outputs[d], 0, TEST_BYTES);
        memset(flags[d], 0, FLAGS * sizeof *flags[d]);
        memset(workspaces[d], 0, CTAS * FLOATS * sizeof(float));
    }
    test_out = outputs[0];
    for (int d = 0; d < devices; ++d) {
        all[d] = (struct gemm_device_args){.device = d, .devices = devices};
        all[d].gemm.d = outputs[d];
        for (int i = 0; i < devices; ++i) {
            all[d].flags[i] = flags[i];
            if (gemm_tensor_map(&all[d].map_peer[i], GEMM_FP32, workspaces[i], CTAS * ROWS, COLUMNS,
                                COLUMNS, ROWS, COLUMNS, SWIZZLE_NONE))
                exit(1);
        }
    }
    devices_of_run = devices;
}

static char *captured; /* what the last run has written to stderr */

static enum run_status run_captured(void (*kernel)(const struct gemm_device_args), double *cycles) {
    const struct contender contender = {.name = "test",
                                        .enqueue = following ? enqueue_following : enqueue};
    static const struct gemm_problem problem;
    const struct capture capture = capture_begin();
    other_line = marked_line = culprit_line = 0;
    kernel_of_run = kernel;
    const enum run_status status = backend_run(&contender, &problem, cycles);
    free(captured);
    captured = capture_end(capture);
    return status;
}

enum { SCHEDULES = 3 + 6, RUNS = SCHEDULES * (DEVICES - 1) };
static const char *prepare(int i) {
    static char text[64];
    const int schedule = i % SCHEDULES < 3 ? i % SCHEDULES : SCHEDULE_RANDOM;
    open_devices(2 + i / SCHEDULES, (enum sim_schedule)schedule, (uint64_t)i);
    snprintf(text, sizeof text, "%d devices, %s", devices_of_run, schedule_names[schedule]);
    return text;
}

/* Has each device what the one before it has sent? */
static bool all_received(void) {
    for (int d = 0; d < devices_of_run; ++d)
        for (int c = 0; c < CTAS; ++c)
            for (int t = 0; t < THREADS; ++t) {
                const int from = (d + devices_of_run - 1) % devices_of_run;
                const float *const got = (const float *)outputs[d] + c * FLOATS + 4 * t;
                if (got[0] != (float)(1000 * from + 100 * c + t)) return false;
                uint32_t number; /* of the launch */
                memcpy(&number, &got[3], sizeof number);
                if (following && number != (uint32_t)launches_of_run - 1) return false;
            }
    return true;
}

static void expect_right(const char *name, void (*kernel)(const struct gemm_device_args),
                         bool received) {
    for (int i = 0; i < RUNS; ++i) {
        const char *const how = prepare(i);
        EXPECT(run_captured(kernel, NULL) == RUN_OK, "%s, %s: %s", name, how, captured);
        EXPECT(!received || all_received(), "%s, %s: not received", name, how);
    }
}

/* The first hazard is of this kind, in the marked line or, where either side may come first, in the
 * other; the report names both, a device, and what the text says. */
static void expect_wrong(const char *name, void (*kernel)(const struct gemm_device_args),
                         const char *kind, const char *text) {
    for (int i = 0; i < RUNS; ++i) {
        const char *const how = prepare(i), *got = "nothing", *file;
        int line = 0;
        char other[64];
        const enum run_status status = run_captured(kernel, NULL);
        hazards_get(0, &got, &file, &line);
        if (culprit_line) marked_line = culprit_line, other_line = 0;
        EXPECT(status == RUN_HAZARD && !strcmp(got, kind), "%s, %s: expected %s, got %s\n%s", name,
               how, kind, got, captured);
        EXPECT(line == marked_line || (other_line && line == other_line),
               "%s, %s: line %d, expected %d or %d\n%s", name, how, line, marked_line, other_line,
               captured);
        snprintf(other, sizeof other, "sim_devices.c:%d", other_line);
        EXPECT(!other_line || strstr(captured, other), "%s, %s: %s is not named\n%s", name, how,
               other, captured);
        EXPECT(strstr(captured, "of device ") && strstr(captured, text),
               "%s, %s: the report lacks a device or \"%s\"\n%s", name, how, text, captured);
        if (i == 0 && getenv("SHOW_REPORTS")) printf("---- %s\n%s", name, captured);
    }
}
/* Which mistake shows first depends on the schedule. */
static void expect_caught(const char *name, void (*kernel)(const struct gemm_device_args)) {
    for (int i = 0; i < RUNS; ++i) {
        const char *const how = prepare(i);
        EXPECT(run_captured(kernel, NULL) == RUN_HAZARD, "%s, %s: no hazard", name, how);
    }
}
#define EXPECT_CAUGHT(kernel) expect_caught(#kernel, kernel)
#define EXPECT_RECEIVED(kernel) expect_right(#kernel, kernel, true)
#define EXPECT_RIGHT(kernel) expect_right(#kernel, kernel, false)
#define EXPECT_WRONG(kernel, kind, text) expect_wrong(#kernel, kernel, kind, text)

/* Simulated cycles of a kernel on two devices. */
static double cycles_of(void (*kernel)(const struct gemm_device_args)) {
    double cycles = 0;
    open_devices(2, SCHEDULE_TIME, 0);
    EXPECT(run_captured(kernel, &cycles) == RUN_OK, "%s", captured);
    return cycles;
}

static void test_time(void) {
    enum { LINK_LATENCY_AT_LEAST = 500 };
    const double own = cycles_of(reduced_by_own), over_the_link = cycles_of(tma_pushed);
    EXPECT(over_the_link > own + LINK_LATENCY_AT_LEAST, "%.0f cycles over the link, %.0f without",
           over_the_link, own);
}

/* The TMA of an SM executes requests in order: loads wait for a store that waits for the link. They
 * do not wait for ordinary stores, which wait for the link themselves. */
static void test_order_of_requests(void) {
    enum { SENT_BYTES = SENDS * CTAS * FLOATS * 4, LINK = LINK_BYTES_PER_CYCLE * CTAS / CHIP_SMS };
    const double link = (double)SENT_BYTES / LINK, alone = cycles_of(loads_alone);
    const double beside_tma = cycles_of(loads_beside_tma);
    const double beside_stores = cycles_of(loads_beside_stores);
    const double longer = link > alone ? link : alone;
    EXPECT(beside_tma > alone + 0.8 * link, "%.0f cycles of loads and %.0f of the link take %.0f",
           alone, link, beside_tma);
    EXPECT(beside_stores > 0.7 * link && beside_stores < 1.2 * longer,
           "%.0f cycles of loads and %.0f of the link take %.0f with ordinary stores", alone, link,
           beside_stores);
}

/* Three launches in flight. The same kernels are right when every launch waits for all devices. */
static void test_launches(void) {
    launches_of_run = 3;
    following = true;
    EXPECT_RECEIVED(followed);
    EXPECT_RECEIVED(followed_by_numbers);
    EXPECT_RIGHT(reduced_by_own);
    EXPECT_WRONG(no_room, "data-race", ", launch ");
    EXPECT_CAUGHT(flag_stays);
    EXPECT_WRONG(room_stays, "data-race", ", launch ");
    EXPECT_WRONG(room_relaxed, "data-race", "releases none of this");
    EXPECT_WRONG(room_not_acquired, "data-race", "but acquires nothing");
    EXPECT_WRONG(room_before_the_loads, "data-race", ", launch ");
    following = false;
    EXPECT_RECEIVED(no_room);
    EXPECT_RECEIVED(room_before_the_loads);
    launches_of_run = 1;
}

static enum gemm_status enqueue_copy(const struct contender *self,
                                     const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem;
    const struct gemm_copy copy = {workspaces[1], workspaces[0], 16, 0};
    const enum gemm_status begun = gemm_devices_begin(stream);
    const enum gemm_status status = gemm_copy_devices(&copy, 1, stream);
    const enum gemm_status end = gemm_devices_end(stream);
    return begun || status || end ? GEMM_LAUNCH_FAILED : GEMM_OK;
}

static void test_refusals(void) {
    open_devices(2, SCHEDULE_EARLY, 0);
    devices_of_run = 3;
    EXPECT(run_captured(pushed, NULL) == RUN_FAILED && strstr(captured, "see --gpus"),
           "three devices where two are open: %s", captured);
    static const struct contender copying = {.name = "test", .enqueue = enqueue_copy};
    const struct capture capture = capture_begin();
    const enum run_status status = backend_run(&copying, &(struct gemm_problem){0}, NULL);
    char *const text = capture_end(capture);
    EXPECT(status == RUN_FAILED && strstr(text, "copies refused"), "a copy between launches: %s",
           text);
    free(text);
}

int main(void) {
    EXPECT_RECEIVED(pushed);
    EXPECT_RECEIVED(pushed_by_fences);
    EXPECT_RECEIVED(there_and_back);
    EXPECT_RECEIVED(tma_pushed);
    EXPECT_RECEIVED(tma_loads_writers_fence);
    EXPECT_RECEIVED(tma_loads_reader_fences);
    EXPECT_RECEIVED(counted);
    EXPECT_RIGHT(reduced_by_own);

    EXPECT_WRONG(release_of_the_gpu, "data-race", "on different devices");
    EXPECT_WRONG(acquire_of_the_gpu, "data-race", "on different devices");
    EXPECT_WRONG(fence_of_the_gpu, "data-race", "it needs .sys (SCOPE_SYS)");
    EXPECT_WRONG(relaxed_flag, "data-race", "fence_acq_rel(SCOPE_SYS) is missing");
    EXPECT_WRONG(flag_of_another, "data-race", "on different devices");
    EXPECT_WRONG(flag_first, "data-race", "");
    EXPECT_WRONG(tma_not_complete, "read-before-landed", "bulk_wait_group()");
    EXPECT_WRONG(tma_loads_no_fence, "missing-proxy-fence", "fence_proxy_async_global()");
    EXPECT_WRONG(counted_of_the_gpu, "data-race", "on different devices");
    EXPECT_WRONG(reduced_by_all, "data-race", "on different devices");
    EXPECT_WRONG(two_writers, "global-write-write", "one writer");
    EXPECT_WRONG(no_flag, "deadlock", "polls the word at flags of device");

    test_launches();
    test_time();
    test_order_of_requests();
    test_refusals();
    backend_close();
    return expect_result();
}
