/*
 * sim_reader_sets.c: who has read a cell, beside a table of the last reading of each byte by each
 * actor; and that cells which the same ones have read have the same set.
 */
#include "sim/order/reader_sets.h"

#include <string.h>

#include "tests/support/expect.h"

enum { ACTORS = 40, BYTES = 16, CELLS = 8, STEPS = 20000 };

/* Of each byte: the epoch and the line of the last reading; 0: none. */
struct reading {
    uint32_t epoch;
    uint16_t site;
};
static struct reading table[CELLS][ACTORS][BYTES];
static reader_set cell[CELLS];

static uint32_t draw(uint32_t below) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static struct global_record read_of(int actor, uint32_t epoch, int site, unsigned bytes) {
    return (struct global_record){.slot = (uint16_t)(actor / 2),
                                  .cluster = (uint32_t)actor % 2,
                                  .how = GLOBAL_LD_ST,
                                  .epoch = epoch,
                                  .site = (uint16_t)site,
                                  .bytes = (uint16_t)bytes};
}

static void compare(int c, int step) {
    struct reading found[ACTORS][BYTES] = {0};
    cell[c] = settled_readers(cell[c]);
    for (reader_set set = cell[c]; set; set = newest_reader(set)->next) {
        const struct global_record *const r = newest_reader(set);
        struct reading *const of = found[2 * r->slot + (int)r->cluster];
        for (int i = 0; i < BYTES; ++i) {
            if (!(r->bytes >> i & 1)) continue;
            EXPECT(!of[i].epoch, "step %d: one actor has two records of byte %d", step, i);
            of[i] = (struct reading){r->epoch, r->site};
        }
    }
    for (int a = 0; a < ACTORS; ++a)
        for (int i = 0; i < BYTES; ++i)
            EXPECT(found[a][i].epoch == table[c][a][i].epoch &&
                       found[a][i].site == table[c][a][i].site,
                   "step %d: actor %d, byte %d: epoch %u, line %d, and not %u, %d", step, a, i,
                   found[a][i].epoch, found[a][i].site, table[c][a][i].epoch, table[c][a][i].site);
}

/* `actors`: few, who come again and again, or many. */
static void read_and_write(uint32_t actors) {
    uint32_t epoch[ACTORS];
    for (int a = 0; a < ACTORS; ++a)
        epoch[a] = 1;
    for (int step = 0; step < STEPS; ++step) {
        const int c = (int)draw(CELLS), a = (int)draw(actors), site = 1 + (int)draw(3);
        const unsigned first = draw(BYTES), bytes = (1u << (1 + draw(BYTES - first))) - 1;
        const unsigned mask = bytes << first & 0xffff;
        if (draw(4) == 0) ++epoch[a];
        if (draw(300) == 0) {
            cell[c] = readers_of_other_bytes(cell[c], mask);
            for (int i = 0; i < ACTORS * BYTES; ++i)
                if (mask >> i % BYTES & 1) table[c][i / BYTES][i % BYTES] = (struct reading){0, 0};
        } else {
            const struct global_record read = read_of(a, epoch[a], site, mask);
            cell[c] = readers_and(cell[c], &read);
            for (int i = 0; i < BYTES; ++i)
                if (mask >> i & 1) table[c][a][i] = (struct reading){epoch[a], (uint16_t)site};
        }
        if (step % 97 == 0) compare(c, step);
    }
    for (int c = 0; c < CELLS; ++c)
        compare(c, STEPS);
}

/* As a row of an input: each thread reads all cells, and of each its elements one by one. */
static void share(void) {
    memset(cell, 0, sizeof cell);
    for (int a = 0; a < 1000; ++a)
        for (int c = 0; c < CELLS; ++c)
            for (int element = 0; element < 8; ++element) {
                const struct global_record read = read_of(a, 1, 1, 3u << 2 * element);
                cell[c] = readers_and(cell[c], &read);
            }
    for (int c = 1; c < CELLS; ++c)
        EXPECT(cell[c] == cell[0], "cell %d has another set, though the same have read it", c);
    for (int c = 0; c < CELLS; ++c)
        cell[c] = readers_of_other_bytes(cell[c], 0xffff);
    const struct global_record read = read_of(0, 1, 1, 1);
    EXPECT(readers_and(0, &read) < 1000, "sets that no cell has are not used again");
}

int main(void) {
    reader_sets_launch_begins();
    read_and_write(3);
    memset(cell, 0, sizeof cell);
    memset(table, 0, sizeof table);
    reader_sets_launch_begins();
    read_and_write(ACTORS);
    reader_sets_launch_begins();
    share();
    return expect_result();
}
