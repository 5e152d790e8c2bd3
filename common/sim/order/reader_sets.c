/*
 * reader_sets.c: a pool of records, each of which is a set: itself and `next`. A table finds the
 * one with a given record and a given rest. Records that no cell and no set holds are given back.
 *
 * A reader's older records are looked for among the newest alone; the others go when the set has
 * grown to twice its size since they last went, or when a write asks.
 */
#include "sim/order/reader_sets.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/host_memory.h"

enum { LOOKED_AT = 4, SMALL = 64, FIRST_ROOM = 4096 };

struct member {
    struct global_record record;
    uint32_t holders; /* cells, and sets that are made of it */
    uint32_t in_bucket;
    uint32_t count;   /* records of the set */
    uint32_t settled; /* of these, the oldest ones that are known to have each byte once */
};

static const char name[] = "the readers of global memory"; /* in a message */

static struct member *pool; /* [0], the empty set, is always there */
static uint32_t pool_room, pool_used = 1, pool_free;
static uint32_t *bucket; /* pool_room of them, a power of two */

void reader_sets_launch_begins(void) {
    if (pool_used > 1) memset(bucket, 0, pool_room * sizeof *bucket);
    pool_used = 1;
    pool_free = 0;
}

const struct global_record *newest_reader(reader_set set) { return &pool[set].record; }

/* ---- one set for one list ---- */

static uint32_t bucket_of(const struct global_record *r) {
    uint64_t hash = r->epoch | (uint64_t)r->cluster << 32;
    hash ^= (r->next | (uint64_t)(r->slot | (uint32_t)r->site << 16) << 32) *
            UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ r->bytes) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(hash >> 32) & (pool_room - 1);
}

/* But for the bytes, and for what is behind it. */
static bool same_reading(const struct global_record *a, const struct global_record *b) {
    return a->epoch == b->epoch && a->issued == b->issued && a->cluster == b->cluster &&
           a->slot == b->slot && a->site == b->site && a->thread == b->thread &&
           a->scope == b->scope && a->how == b->how && a->strong == b->strong;
}

static void grow(void) {
    pool_room = pool_room ? 2 * pool_room : FIRST_ROOM;
    pool = host_grown(pool, pool_room, sizeof *pool, name);
    bucket = host_grown(bucket, pool_room, sizeof *bucket, name);
    memset(bucket, 0, pool_room * sizeof *bucket);
    pool[0] = (struct member){.holders = 1};
    for (uint32_t i = 1; i < pool_used; ++i) { /* none is free now */
        uint32_t *const first = &bucket[bucket_of(&pool[i].record)];
        pool[i].in_bucket = *first;
        *first = i;
    }
}

/* The set of `record` and the set that its `next` names, which is held as long as this one is. */
static reader_set hold(const struct global_record *record) {
    if (!pool_room) grow();
    uint32_t *first = &bucket[bucket_of(record)];
    for (uint32_t i = *first; i; i = pool[i].in_bucket) {
        const struct global_record *const r = &pool[i].record;
        if (r->next != record->next || r->bytes != record->bytes || !same_reading(r, record))
            continue;
        ++pool[i].holders;
        return i;
    }
    uint32_t made = pool_free;
    if (made) {
        pool_free = pool[made].record.next;
    } else {
        if (pool_used == pool_room) {
            grow();
            first = &bucket[bucket_of(record)];
        }
        made = pool_used++;
    }
    struct member *const rest = &pool[record->next];
    ++rest->holders;
    pool[made] = (struct member){*record, 1, *first, rest->count + 1, rest->settled};
    *first = made;
    return made;
}

static void let_go(reader_set set) {
    while (set && --pool[set].holders == 0) {
        uint32_t *link = &bucket[bucket_of(&pool[set].record)];
        while (*link != set)
            link = &pool[*link].in_bucket;
        *link = pool[set].in_bucket;
        const reader_set rest = pool[set].record.next;
        pool[set].record.next = pool_free;
        pool_free = set;
        set = rest;
    }
}

/* Adds one more record to a set that the caller holds, and now holds with it. */
static reader_set hold_with(reader_set set, struct global_record record) {
    record.next = set;
    const reader_set with = hold(&record);
    let_go(set);
    return with;
}

/* ---- a set of other records ---- */

static struct global_record *listed; /* of one set, the newest first */
static uint32_t listed_room;

static uint32_t list(reader_set set) {
    const uint32_t count = pool[set].count;
    if (count > listed_room) {
        listed_room = 2 * count;
        listed = host_grown(listed, listed_room, sizeof *listed, name);
    }
    for (uint32_t i = 0; i < count; ++i, set = pool[set].record.next)
        listed[i] = pool[set].record;
    return count;
}

/* What is left of the first `count` listed records, in front of `rest`. Takes `set`. */
static reader_set exchange(reader_set set, uint32_t count, reader_set rest) {
    if (rest) ++pool[rest].holders;
    while (count--)
        if (listed[count].bytes) rest = hold_with(rest, listed[count]);
    let_go(set);
    return rest;
}

/* Is the whole set known to have each byte once for each actor? */
static bool is_settled(reader_set set) { return pool[set].settled == pool[set].count; }

/* By actor, and the newest first: `next` is the place in the list meanwhile. */
static int compare(const void *left, const void *right) {
    const struct global_record *const a = &listed[*(const uint32_t *)left],
                                      *const b = &listed[*(const uint32_t *)right];
    if (a->cluster != b->cluster) return a->cluster < b->cluster ? -1 : 1;
    if (a->slot != b->slot) return a->slot < b->slot ? -1 : 1;
    if (a->how != b->how) return a->how < b->how ? -1 : 1;
    return a < b ? -1 : a > b;
}

reader_set settled_readers(reader_set set) {
    if (!set || is_settled(set)) return set;
    const uint32_t count = list(set);
    uint32_t *const order = host_grown(NULL, count, sizeof *order, name);
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    qsort(order, count, sizeof *order, compare);
    bool all_left = true;
    unsigned known = 0; /* bytes that newer records of the same actor have */
    for (uint32_t i = 0; i < count; ++i) {
        struct global_record *const record = &listed[order[i]];
        if (!i || !same_actor(record, &listed[order[i - 1]])) known = 0;
        const unsigned bytes = record->bytes;
        record->bytes &= (uint16_t)~known;
        all_left &= record->bytes == bytes;
        known |= bytes;
    }
    free(order);
    if (!all_left) set = exchange(set, count, 0);
    pool[set].settled = pool[set].count;
    return set;
}

reader_set readers_of_other_bytes(reader_set set, unsigned bytes) {
    if (!set) return 0;
    const uint32_t count = list(set);
    const bool settled = is_settled(set);
    for (uint32_t i = 0; i < count; ++i)
        listed[i].bytes &= (uint16_t)~bytes;
    set = exchange(set, count, 0);
    if (set && settled) pool[set].settled = pool[set].count;
    return set;
}

/* Leaves the newest record out. */
static reader_set rest_of(reader_set set) {
    const reader_set rest = pool[set].record.next;
    ++pool[rest].holders;
    let_go(set);
    return rest;
}

/* Takes the bytes of `read` from the same actor's records among the newest ones. *all: there are no
 * others. */
static reader_set look_for(reader_set set, const struct global_record *read, bool *all) {
    reader_set rest = set;
    uint32_t looked = 0;
    bool found = false;
    for (; rest && looked < LOOKED_AT; ++looked, rest = pool[rest].record.next) {
        const struct global_record *const then = &pool[rest].record;
        found |= then->bytes & read->bytes && same_actor(then, read);
    }
    *all = !rest;
    if (!found) return set;
    list(set);
    for (uint32_t i = 0; i < looked; ++i)
        if (same_actor(&listed[i], read)) listed[i].bytes &= (uint16_t)~read->bytes;
    return exchange(set, looked, rest);
}

reader_set readers_and(reader_set set, const struct global_record *read) {
    struct global_record now = *read;
    bool all;
    if (!pool_room) grow();
    if (set && same_reading(&pool[set].record, read)) {
        const unsigned before = pool[set].record.bytes;
        if (!(read->bytes & ~before)) return set;
        now.bytes |= (uint16_t)before;
        set = rest_of(set);
    } else if (pool[set].count > 2 * pool[set].settled + SMALL) {
        set = settled_readers(set);
    }
    set = look_for(set, read, &all);
    set = hold_with(set, now);
    if (all) pool[set].settled = pool[set].count;
    return set;
}
