/*
 * nvml.c: energy, throttle reasons, power limit and use through libnvidia-ml.
 *
 * The toolkit need not have nvml.h, so the nine functions used are declared here; their binary
 * interface is fixed by their names (a suffix _v2 is a different function). NVML API Reference
 * Guide: "Device Queries", "Initialization".
 */
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include "backend.h"

typedef struct nvml_device *nvml_device_t;
struct nvml_utilization {
    unsigned gpu, memory; /* percent of the last second or less in which a kernel ran, … */
};
enum { NVML_SUCCESS = 0, BUSY_PERCENT = 20 };

static struct {
    void *library;
    nvml_device_t device; /* NULL: nothing can be asked */
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver_version)(char *version, unsigned bytes);
    int (*device_by_bus_id)(const char *bus_id, nvml_device_t *device);
    int (*power_limit)(nvml_device_t device, unsigned *milliwatts);
    int (*default_power_limit)(nvml_device_t device, unsigned *milliwatts);
    int (*utilization)(nvml_device_t device, struct nvml_utilization *utilization);
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
    *(void **)&nvml.default_power_limit =
        function("nvmlDeviceGetPowerManagementDefaultLimit", NULL);
    *(void **)&nvml.utilization = function("nvmlDeviceGetUtilizationRates", NULL);
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

/* Percent; 0 if it is not known. */
static unsigned busy(void) {
    struct nvml_utilization utilization = {0, 0};
    if (!nvml.device || !nvml.utilization ||
        nvml.utilization(nvml.device, &utilization) != NVML_SUCCESS)
        return 0;
    return utilization.gpu;
}

void nvml_warn(double power_limit_w) {
    if (busy() >= BUSY_PERCENT) {
        /* What ran before this program may still count: NVML looks back up to a second. */
        nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
        const unsigned percent = busy();
        if (percent >= BUSY_PERCENT)
            fprintf(stderr,
                    "note: another program uses this GPU, %u %% of the last second: times will be "
                    "longer and vary; nvidia-smi names it\n",
                    percent);
    }
    unsigned milliwatts = 0;
    if (nvml.device && nvml.default_power_limit &&
        nvml.default_power_limit(nvml.device, &milliwatts) == NVML_SUCCESS && power_limit_w > 0 &&
        1000 * power_limit_w < milliwatts)
        fprintf(
            stderr,
            "note: this GPU's power limit is %.0f W, of %.0f W by default: under load its clock "
            "will be lower\n",
            power_limit_w, milliwatts / 1000.0);
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
