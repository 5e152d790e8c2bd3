/*
 * expect.h: a failed expectation prints its values and the test goes on; the program ends with 1 if
 * any failed.
 */
#ifndef TESTS_SUPPORT_EXPECT_H
#define TESTS_SUPPORT_EXPECT_H

#include <stdio.h>

static int expectations, failures;

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        ++expectations;                                                                            \
        if (condition) break;                                                                      \
        if (++failures > 20) break;                                                                \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
    } while (0)

/* Ends a test program. One that expected nothing has failed. */
static inline int expect_result(void) {
    printf("%d expectations, %d failed\n", expectations, failures);
    return failures || !expectations;
}

#endif
