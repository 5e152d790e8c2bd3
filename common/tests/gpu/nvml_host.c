/*
 * nvml_host.c: prints what nvml_warn() says of the device of fake_nvml.c.
 */
#include "gpu/nvml.h"

int main(void) {
    char driver[32];
    double power_limit_w;
    nvml_open("0000:01:00.0", driver, sizeof driver, &power_limit_w);
    nvml_warn(power_limit_w);
    nvml_close();
    return 0;
}
