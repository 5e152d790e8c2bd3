/*
 * find_device_host.c: which GPU of a machine a program gets, and what it says where none will do.
 * The runtime is faked.
 */
#include <string.h>

#include "gpu/find_device.h"
#include "tests/gpu/fake_runtime.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

/* `found` -1: none will do, and the line on stderr has `says`. */
static void check_for(enum gemm_machine machine, int oldest, int devices, int first, int second,
                      int found, const char *says) {
    struct cudaDeviceProp properties = {.major = 0};
    int ordinal = -1;
    fake.devices = devices;
    fake.capability[0] = first;
    fake.capability[1] = second;
    const struct capture capture = capture_begin();
    const bool good = find_device(machine, oldest, &ordinal, &properties);
    char *const text = capture_end(capture);
    EXPECT(good == (found >= 0) && (!good || ordinal == found),
           "from %d on, of %d and %d: device %d, expected %d", oldest, first, second, ordinal,
           found);
    if (good)
        EXPECT(10 * properties.major + properties.minor == fake.capability[ordinal],
               "the properties are of another device");
    EXPECT(says ? strstr(text, says) && strstr(text, "runs in the simulator, without a GPU") &&
                      strchr(text, '\n') == text + strlen(text) - 1
                : !*text,
           "from %d on, of %d and %d: says '%s'", oldest, first, second, text);
    free(text);
}

static void check(int oldest, int devices, int first, int second, int found, const char *says) {
    check_for(MACHINE_HOPPER, oldest, devices, first, second, found, says);
}

int main(void) {
    /* Kernels for 9.0 and no other. */
    check(0, 1, 90, 0, 0, NULL);
    check(0, 2, 86, 90, 1, NULL);
    check(0, 1, 86, 0, -1, "no device of compute capability 9.0 (Hopper); device 0 is first, 8.6;");
    check(0, 2, 120, 100, -1, "no device of compute capability 9.0 (Hopper)");
    check(0, 0, 0, 0, -1, "no CUDA device (none is visible)");
    /* Some that also run elsewhere: Hopper, which runs them all, or the newest. */
    check(80, 2, 120, 90, 1, NULL);
    check(80, 2, 90, 120, 0, NULL);
    check(80, 2, 86, 120, 1, NULL);
    check(80, 2, 89, 86, 0, NULL);
    check(80, 2, 86, 86, 0, NULL);
    check(80, 2, 75, 80, 1, NULL);
    check(80, 1, 75, 0, -1,
          "no device of compute capability 8.0 or later; device 0 is first, 7.5;");
    check(90, 1, 89, 0, -1,
          "no device of compute capability 9.0 or later; device 0 is first, 8.9;");
    check(90, 1, 103, 0, 0, NULL);
    /* Kernels for Blackwell: code for 10.0 runs on nothing else, not on 10.3. */
    check_for(MACHINE_BLACKWELL, 0, 2, 90, 100, 1, NULL);
    check_for(MACHINE_BLACKWELL, 0, 2, 90, 103, -1,
              "no device of compute capability 10.0 (Blackwell); device 0 is first, 9.0;");
    return expect_result();
}
