/*
 * fake_nvml.c: a libnvidia-ml.so.1 whose device has the power limits and the use that the
 * environment says: FAKE_LIMIT, FAKE_DEFAULT (watts), FAKE_BUSY (percent, one for each question).
 */
#include <stdlib.h>
#include <string.h>

struct nvml_device;
struct utilization {
    unsigned gpu, memory;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, struct nvml_device **device);
int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *device, unsigned *milliwatts);
int nvmlDeviceGetPowerManagementDefaultLimit(struct nvml_device *device, unsigned *milliwatts);
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct utilization *utilization);

static unsigned number(const char *name) {
    const char *text = getenv(name);
    return text ? (unsigned)atoi(text) : 0;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, struct nvml_device **device) {
    static char here;
    *device = (struct nvml_device *)&here;
    return strcmp(bus_id, "0000:01:00.0") != 0;
}

int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *device, unsigned *milliwatts) {
    *milliwatts = 1000 * number("FAKE_LIMIT");
    return !device;
}

int nvmlDeviceGetPowerManagementDefaultLimit(struct nvml_device *device, unsigned *milliwatts) {
    *milliwatts = 1000 * number("FAKE_DEFAULT");
    return !device;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct utilization *utilization) {
    static int asked;
    const char *text = getenv("FAKE_BUSY");
    for (int i = 0; text && i < asked; ++i)
        text = strchr(text, ',') ? strchr(text, ',') + 1 : text;
    ++asked;
    *utilization = (struct utilization){.gpu = text ? (unsigned)atoi(text) : 0};
    return !device;
}
