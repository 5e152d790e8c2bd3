/*
 * sim_fiber.c: fibers keep their stacks, their registers and their order; stacks are used again.
 */
#include "sim/core/fiber.h"

#include <stdint.h>
#include <string.h>

#include "tests/support/expect.h"

enum { FIBERS = 200, TURNS = 50 };

static struct sim_fiber *fibers[FIBERS];
static int turns[FIBERS];
static int done;

/* Keeps many values alive over a switch, so that some are in callee-saved registers. */
static void worker(void *argument) {
    const int id = (int)(intptr_t)argument;
    long a = id, b = id + 1, c = id + 2, d = id + 3, e = id + 4, f = id + 5, g = id + 6;
    double x = id * 0.5, y = id * 0.25, z = id * 0.125;
    char stack[512];
    memset(stack, id & 0xff, sizeof stack);
    for (int turn = 0; turn < TURNS; ++turn) {
        turns[id]++;
        fiber_suspend();
        a += 1, b += 2, c += 3, d += 4, e += 5, f += 6, g += 7;
        x += 1, y += 2, z += 3;
        for (unsigned i = 0; i < sizeof stack; ++i)
            if (stack[i] != (char)(id & 0xff)) {
                EXPECT(0, "fiber %d: byte %u of its stack changed", id, i);
                break;
            }
    }
    EXPECT(a == id + TURNS && b == id + 1 + 2 * TURNS && c == id + 2 + 3 * TURNS &&
               d == id + 3 + 4 * TURNS && e == id + 4 + 5 * TURNS && f == id + 5 + 6 * TURNS &&
               g == id + 6 + 7 * TURNS,
           "fiber %d: %ld %ld %ld %ld %ld %ld %ld", id, a, b, c, d, e, f, g);
    EXPECT(x == id * 0.5 + TURNS && y == id * 0.25 + 2 * TURNS && z == id * 0.125 + 3 * TURNS,
           "fiber %d: %g %g %g", id, x, y, z);
    ++done;
    fiber_exit();
}

/* Uses most of what a stack offers; a stack that is too small is a crash here and not in a kernel.
 */
static void deep(void *argument) {
    volatile char room[64 << 10];
    for (unsigned i = 0; i < sizeof room; i += 512)
        room[i] = (char)i;
    *(int *)argument = room[512] == (char)512;
    fiber_exit();
}

static void abandoned(void *argument) {
    ++*(int *)argument;
    fiber_suspend();
    EXPECT(0, "an abandoned fiber ran again");
    fiber_exit();
}

int main(void) {
    for (int i = 0; i < FIBERS; ++i)
        fibers[i] = fiber_new(worker, (void *)(intptr_t)i);
    for (int turn = 0; turn < TURNS; ++turn) {
        for (int i = 0; i < FIBERS; ++i)
            fiber_resume(fibers[i]);
        EXPECT(turns[turn % FIBERS] == turn + 1, "turn %d: %d", turn, turns[turn % FIBERS]);
    }
    EXPECT(done == 0, "%d fibers ended early", done);
    for (int i = 0; i < FIBERS; ++i)
        fiber_resume(fibers[i]);
    EXPECT(done == FIBERS, "%d of %d fibers ended", done, FIBERS);
    for (int i = 0; i < FIBERS; ++i)
        fiber_free(fibers[i]);

    int deep_enough = 0;
    struct sim_fiber *fiber = fiber_new(deep, &deep_enough);
    fiber_resume(fiber);
    fiber_free(fiber);
    EXPECT(deep_enough, "64 KiB of locals: %d", deep_enough);

    int starts = 0;
    for (int i = 0; i < 10000; ++i) {
        fiber = fiber_new(abandoned, &starts);
        fiber_resume(fiber);
        fiber_free(fiber);
    }
    EXPECT(starts == 10000, "%d starts of one stack", starts);
    fiber_pool_trim(0);
    return expect_result();
}
