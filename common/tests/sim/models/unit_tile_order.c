/*
 * unit_tile_order.c: divided_by() against the division that it replaces, and tile_in_order()
 * against tile_at().
 */
#include "building_blocks/divisor.h"
#include "building_blocks/tile_order.h"
#include "splitmix64.h"
#include "tests/support/expect.h"

static void expect_quotient(uint32_t dividend, uint32_t number) {
    const uint32_t quotient = divided_by(dividend, divisor_of(number));
    EXPECT(quotient == dividend / number, "%u / %u is not %u", dividend, number, quotient);
}

/* Around multiples of small, large and random divisors. */
static void test_divisor(void) {
    uint64_t random = 1;
    for (int i = 0; i < 2000; ++i) {
        const uint32_t drawn = (uint32_t)splitmix64(&random);
        const uint32_t number = i < 1000   ? (uint32_t)i + 1
                                : i < 1032 ? UINT32_MAX - (uint32_t)i
                                           : (drawn >> i % 32) + 1;
        const uint32_t multiple = number * (uint32_t)(splitmix64(&random) % (UINT32_MAX / number));
        for (int off = -1; off <= 1; ++off)
            expect_quotient(multiple + (uint32_t)off, number);
        expect_quotient(UINT32_MAX, number);
        expect_quotient(UINT32_MAX - UINT32_MAX % number - 1, number);
        expect_quotient((uint32_t)splitmix64(&random), number);
        expect_quotient(0, number);
    }
}

static void test_order(void) {
    for (int tiles_m = 1; tiles_m <= 40; ++tiles_m)
        for (int tiles_n = 1; tiles_n <= 30; ++tiles_n) {
            const struct tile_order order = tile_order_of(tiles_m, tiles_n);
            for (int number = 0; number < tiles_m * tiles_n; ++number) {
                const struct tile tile = tile_in_order(number, order);
                const struct tile right = tile_at(number, tiles_m, tiles_n);
                EXPECT(tile.m == right.m && tile.n == right.n,
                       "tile %d of %d x %d: %d, %d and not %d, %d", number, tiles_m, tiles_n,
                       tile.m, tile.n, right.m, right.n);
            }
        }
}

int main(void) {
    test_divisor();
    test_order();
    return expect_result();
}
