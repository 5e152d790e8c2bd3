/*
 * heap.c: blocks of one allocation of global memory, one behind the other. What has been freed is
 * not given again, so that no use of it can be taken for one of another block.
 */
#include "machine/heap.h"

#include <stdint.h>
#include <string.h>

#include "machine/unset.h"
#include "sim/core/global_memory.h"
#include "sim/core/host_memory.h"

enum { ALIGNMENT = 16, TIMES_LIMIT = 8 };

struct block {
    size_t at, bytes;
    bool used;
};

static unsigned char *heap;
static size_t limit = (size_t)8 << 20, room, end, in_use;
static struct block *blocks; /* ascending */
static size_t count, capacity;

size_t heap_limit(void) { return limit; }
void heap_set_limit(size_t bytes) {
    if (!heap) limit = bytes;
}

/* The allocation goes with all others of a run. */
static bool ready(void) {
    size_t offset, bytes;
    if (heap && global_cells_of(heap, &offset, &bytes)) return true;
    room = TIMES_LIMIT * limit;
    end = in_use = count = 0;
    heap = global_alloc(0, room, "the kernels' heap", true);
    return heap != NULL;
}

void *heap_alloc(size_t bytes, bool *exhausted) {
    *exhausted = false;
    if (bytes > limit || !ready()) return NULL;
    const size_t whole = (bytes + !bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (whole > limit - in_use) return NULL;
    *exhausted = whole > room - end;
    if (*exhausted) return NULL;
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 64;
        blocks = host_grown(blocks, capacity, sizeof *blocks, "the kernels' heap");
    }
    blocks[count++] = (struct block){end, whole, true};
    unsigned char *const block = heap + end;
    memset(block, UNSET_BYTE, whole);
    end += whole;
    in_use += whole;
    return block;
}

bool heap_free(const void *pointer) {
    const size_t at = (size_t)((uintptr_t)pointer - (uintptr_t)heap);
    size_t low = 0, high = heap ? count : 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (blocks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (!heap || low == count || blocks[low].at != at || !blocks[low].used) return false;
    blocks[low].used = false;
    in_use -= blocks[low].bytes;
    return true;
}
