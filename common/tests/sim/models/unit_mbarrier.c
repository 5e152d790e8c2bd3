/* unit_mbarrier.c: the mbarrier's state, step by step, as the PTX ISA tells it. */
#include "sim/models/mbarrier_state.h"
#include "tests/support/expect.h"

static struct mbarrier_state s;
static bool flipped;

static void state_is(uint32_t phase, int pending, int tx, int line) {
    EXPECT(s.phase == phase && s.pending == pending && s.tx == tx,
           "line %d: phase %u pending %d tx %d, expected %u %d %d", line, s.phase, s.pending, s.tx,
           phase, pending, tx);
}
#define STATE(phase, pending, tx) state_is(phase, pending, tx, __LINE__)

static void test_arrivals(void) {
    EXPECT(!mbarrier_state_init(&s, 3), "init");
    STATE(0, 3, 0);
    EXPECT(mbarrier_state_passed(&s, 1) && !mbarrier_state_passed(&s, 0),
           "fresh: only parity 1 is over");
    EXPECT(!mbarrier_state_arrive(&s, 2, &flipped) && !flipped, "two of three");
    STATE(0, 1, 0);
    EXPECT(mbarrier_state_arrive(&s, 2, &flipped) == MBARRIER_TOO_MANY && !flipped, "one too many");
    STATE(0, 1, 0);
    EXPECT(!mbarrier_state_arrive(&s, 1, &flipped) && flipped, "the last");
    STATE(1, 3, 0);
    EXPECT(mbarrier_state_passed(&s, 0) && !mbarrier_state_passed(&s, 1), "parity 0 is over");
    EXPECT(!mbarrier_state_arrive(&s, 3, &flipped) && flipped, "phase 1");
    EXPECT(mbarrier_state_passed(&s, 1) && !mbarrier_state_passed(&s, 0),
           "lapped: parity 0 again is not");
}

static void test_drops(void) {
    EXPECT(!mbarrier_state_init(&s, 3), "init");
    EXPECT(!mbarrier_state_arrive_drop(&s, 1, &flipped) && !flipped, "one leaves");
    EXPECT(mbarrier_state_arrive_drop(&s, 3, &flipped) == MBARRIER_TOO_MANY, "more than there are");
    EXPECT(!mbarrier_state_arrive(&s, 2, &flipped) && flipped, "the others arrive");
    STATE(1, 2, 0);
}

static void test_bytes(void) {
    EXPECT(!mbarrier_state_init(&s, 1), "init");
    EXPECT(!mbarrier_state_expect_tx(&s, 4096), "announce");
    EXPECT(!mbarrier_state_arrive(&s, 1, &flipped) && !flipped, "the bytes are missing");
    STATE(0, 0, 4096);
    EXPECT(!mbarrier_state_complete_tx(&s, 1024, &flipped) && !flipped, "some");
    STATE(0, 0, 3072);
    EXPECT(!mbarrier_state_complete_tx(&s, 3072, &flipped) && flipped, "all");
    STATE(1, 1, 0);
    /* The bytes may come before they are announced. */
    EXPECT(!mbarrier_state_complete_tx(&s, 4096, &flipped) && !flipped, "early bytes");
    STATE(1, 1, -4096);
    EXPECT(!mbarrier_state_expect_tx(&s, 4096), "announce late");
    EXPECT(!mbarrier_state_arrive(&s, 1, &flipped) && flipped, "complete");
    STATE(2, 1, 0);
    /* Too few announced: it never completes. */
    EXPECT(!mbarrier_state_expect_tx(&s, 100) && !mbarrier_state_arrive(&s, 1, &flipped),
           "announce 100");
    EXPECT(!mbarrier_state_complete_tx(&s, 128, &flipped) && !flipped, "128 come");
    STATE(2, 0, -28);
}

static void test_ranges(void) {
    EXPECT(mbarrier_state_init(&s, 0) == MBARRIER_BAD_COUNT, "0 arrivals");
    EXPECT(mbarrier_state_init(&s, 1 << 20) == MBARRIER_BAD_COUNT, "2^20 arrivals");
    EXPECT(!mbarrier_state_init(&s, (1 << 20) - 1), "2^20 - 1 arrivals");
    EXPECT(mbarrier_state_arrive(&s, 0, &flipped) == MBARRIER_BAD_COUNT, "no arrival");
    EXPECT(mbarrier_state_expect_tx(&s, 1 << 20) == MBARRIER_TX_OVERFLOW, "2^20 bytes");
    EXPECT(!mbarrier_state_expect_tx(&s, (1 << 20) - 1), "2^20 - 1 bytes");
    EXPECT(mbarrier_state_expect_tx(&s, 1) == MBARRIER_TX_OVERFLOW, "one more");
    STATE(0, (1 << 20) - 1, (1 << 20) - 1);
    EXPECT(!mbarrier_state_init(&s, 1), "init");
    EXPECT(!mbarrier_state_complete_tx(&s, (1 << 20) - 1, &flipped), "-(2^20 - 1)");
    EXPECT(mbarrier_state_complete_tx(&s, 1, &flipped) == MBARRIER_TX_OVERFLOW, "below");
}

static void test_word(void) {
    uint32_t index;
    EXPECT(mbarrier_word_decode(mbarrier_word(17, 3), 3, &index) && index == 17, "index %u", index);
    EXPECT(!mbarrier_word_decode(mbarrier_word(17, 3), 4, &index), "another launch's");
    EXPECT(!mbarrier_word_decode(0, 0, &index), "zeros");
    EXPECT(!mbarrier_word_decode(UINT64_C(0x7fb77fb77fb77fb7), 0x7fb7, &index), "poison");
}

int main(void) {
    test_arrivals();
    test_drops();
    test_bytes();
    test_ranges();
    test_word();
    return expect_result();
}
