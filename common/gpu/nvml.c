/*
 * nvml.c: energy, throttle reasons and power limit through libnvidia-ml.
 *
 * The toolkit need not have nvml.h, so the seven functions used are declared here; their binary
 * interface is fixed by their names (a suffix _v2 is a different function). NVML API Reference
 * Guide: "Device Queries", "Initialization".
 */
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <time.h>

#include "backend.h"

typedef struct nvml_device *nvml_device_t;
enum { NVML_SUCCESS = 0 };

static struct {
    void *library;
    nvml_device_t device; /* NULL: nothing can be asked */
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver_version)(char *version, unsigned bytes);
    int (*device_by_bus_id)(const char *bus_id, nvml_device_t *device);
    int (*power_limit)(nvml_device_t device, unsigned *milliwatts);
    int (*energy)(nvml_device_t device, unsigned long long *millijoules);
    int (*throttle_reasons)(nvml_device_t device, unsigned long long *reasons);
} nvml;

/* A function of the library under its name, or under the older one; NULL if it has neither. */
static void *function(const char *name, const char *older_name) {
    void *found = dlsym(nvml.library, name);
    return found || !older_name ? found : dlsym(nvml.library, older_name);
}

void nvml_open(const char *bus_id, char *driver, size_t driver_bytes, double *power_limit_w) {
    *power_limit_w = 0.0;
    driver[0] = '\0';
    nvml.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml.library) return;
    *(void **)&nvml.init = function("nvmlInit_v2", NULL);
    *(void **)&nvml.shutdown = function("nvmlShutdown", NULL);
    *(void **)&nvml.driver_version = function("nvmlSystemGetDriverVersion", NULL);
    *(void **)&nvml.device_by_bus_id = function("nvmlDeviceGetHandleByPciBusId_v2", NULL);
    *(void **)&nvml.power_limit = function("nvmlDeviceGetEnforcedPowerLimit", NULL);
    *(void **)&nvml.energy = function("nvmlDeviceGetTotalEnergyConsumption", NULL);
    *(void **)&nvml.throttle_reasons = function("nvmlDeviceGetCurrentClocksEventReasons",
                                                "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!nvml.init || !nvml.shutdown || !nvml.device_by_bus_id || nvml.init() != NVML_SUCCESS) {
        dlclose(nvml.library);
        nvml.library = NULL;
        return;
    }
    if (nvml.device_by_bus_id(bus_id, &nvml.device) != NVML_SUCCESS) nvml.device = NULL;
    if (nvml.driver_version && nvml.driver_version(driver, (unsigned)driver_bytes) != NVML_SUCCESS)
        driver[0] = '\0';
    unsigned milliwatts = 0;
    if (nvml.device && nvml.power_limit &&
        nvml.power_limit(nvml.device, &milliwatts) == NVML_SUCCESS)
        *power_limit_w = milliwatts / 1000.0;
}

void nvml_close(void) {
    if (!nvml.library) return;
    nvml.shutdown();
    dlclose(nvml.library);
    nvml.library = NULL;
    nvml.device = NULL;
}

bool backend_energy(struct energy_reading *out) {
    unsigned long long millijoules = 0, reasons = 0;
    if (!nvml.device || !nvml.energy || nvml.energy(nvml.device, &millijoules) != NVML_SUCCESS)
        return false;
    if (!nvml.throttle_reasons || nvml.throttle_reasons(nvml.device, &reasons) != NVML_SUCCESS)
        reasons = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *out = (struct energy_reading){.joules = (double)millijoules / 1000.0,
                                   .seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
                                   .throttle_reasons = reasons};
    return true;
}
