/*
 * devices_host.c: what a launch on several devices enqueues on which stream, with a runtime that
 * only writes down its calls: R records an event, W waits for one, L launches, C copies, F is a
 * refused launch, S and Z set flags and clear them, E waits for a stream's end; the number is the
 * device whose stream it is.
 */
#include <stdint.h>
#include <string.h>

#include "services/devices.h"
#include "gpu/cuda_call.h"
#include "gpu/devices.h"
#include "gpu/launch.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

enum { CALLER = 100 }; /* the caller's stream; others are the number of the device, times ten */
enum { BESIDE = 1 };   /* and, of a stream beside a kernel's, this */
enum { FLAGS = 5 };    /* words */

static char calls[256];
static int current;

static int refused = -1; /* the device that refuses a launch */
static enum cudaStreamCaptureStatus capturing;

static uint32_t *flags_of(int device) {
    static uint32_t flags[GEMM_DEVICES][FLAGS];
    return flags[device];
}

static int device_of(const void *stream) {
    const intptr_t number = (intptr_t)stream;
    return number == CALLER ? 0 : (int)number / 10 - 1;
}

static cudaError_t call(char what, int device) {
    const size_t used = strlen(calls);
    snprintf(calls + used, sizeof calls - used, "%s%c%d", used ? " " : "", what, device);
    return cudaSuccess;
}

/* ---- the runtime ---- */

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    (void)event;
    return call('R', device_of(stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)event, (void)flags;
    return call('W', device_of(stream));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    (void)to, (void)from, (void)bytes, (void)kind;
    return call('C', device_of(stream));
}
cudaError_t cudaSetDevice(int device) {
    current = device;
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = (cudaStream_t)(intptr_t)(10 * (current + 1));
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    (void)flags;
    *event = NULL;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)peer, (void)flags;
    return cudaSuccess;
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    *can = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 3;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at) {
    (void)at;
    attributes->device = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    EXPECT(flags == cudaStreamNonBlocking, "a stream that waits for the kernels");
    *stream = (cudaStream_t)(intptr_t)(10 * (current + 1) + BESIDE);
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    (void)stream;
    *status = capturing;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return (intptr_t)stream % 10 == BESIDE ? cudaSuccess : call('E', device_of(stream));
}
cudaError_t cudaMemsetAsync(void *at, int byte, size_t bytes, cudaStream_t stream) {
    const int device = device_of(stream);
    EXPECT((intptr_t)stream % 10 == BESIDE, "the flags of device %d wait for its kernel", device);
    EXPECT(at == flags_of(device) && bytes == FLAGS * sizeof(uint32_t), "other words are set");
    return call(byte ? 'S' : 'Z', device);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    (void)stream;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    (void)event;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
bool cuda_ok(cudaError_t status, const char *attempt) {
    (void)attempt;
    return status == cudaSuccess;
}

static int fitting; /* CTAs that a device has room for */
int gemm_resident_clusters(const struct gemm_launch *launch) { return fitting / launch->cluster; }

bool launch_prepare(const struct gemm_launch *launch) {
    (void)launch;
    return true;
}
bool launch_enqueue(const struct gemm_launch *launch, const void *parameter) {
    const struct gemm_device_args *const args = parameter;
    EXPECT(device_of(launch->stream) == current && args->device == current,
           "device %d on the stream of device %d while %d is the current one", args->device,
           device_of(launch->stream), current);
    call(args->device == refused ? 'F' : 'L', device_of(launch->stream));
    return args->device != refused;
}

/* ---- the tests ---- */

static void *const stream = (void *)(intptr_t)CALLER;

static void launch(int devices, int times) {
    const struct gemm_launch grid = {.name = "test", .stream = stream};
    const struct gemm_device_args args[3] = {{.device = 0}, {.device = 1}, {.device = 2}};
    for (int i = 0; i < times; ++i)
        EXPECT(gemm_launch_devices(&grid, args, devices) == GEMM_OK, "launch %d", i);
}

static void expect_calls(const char *what, const char *expected) {
    EXPECT(!strcmp(calls, expected), "%s: %s, expected %s", what, calls, expected);
    EXPECT(current == 0, "%s: leaves device %d the current one", what, current);
    calls[0] = 0;
}

/* The last of three refuses. */
static void expect_end(size_t flags, const char *what, const char *expected) {
    const struct gemm_launch grid = {.name = "test", .stream = stream, .flags = flags};
    struct gemm_device_args args[3] = {{.device = 0}, {.device = 1}, {.device = 2}};
    for (int i = 0; i < 9; ++i)
        args[i / 3].flags[i % 3] = flags_of(i % 3);
    refused = 2;
    EXPECT(gemm_launch_devices(&grid, args, 3) == GEMM_LAUNCH_FAILED, "%s", what);
    refused = -1;
    expect_calls(what, expected);
}

static void open_devices(int count) {
    int ordinals[GEMM_DEVICES];
    EXPECT(devices_find(0, ordinals) == 3 && devices_open(ordinals, count), "%d devices", count);
    calls[0] = 0;
}

int main(void) {
    open_devices(2);
    launch(2, 2);
    expect_calls("two launches", "R0 W1 L0 L1 R1 W0 R0 W1 L0 L1 R1 W0");
    EXPECT(gemm_devices_begin(stream) == GEMM_OK, "begin");
    launch(2, 3);
    EXPECT(gemm_devices_end(stream) == GEMM_OK, "end");
    expect_calls("three launches that follow each other", "R0 W1 L0 L1 L0 L1 L0 L1 R1 W0");
    launch(2, 1);
    expect_calls("a launch after them", "R0 W1 L0 L1 R1 W0");

    struct gemm_launch grid = {.name = "test", .stream = stream, .grid = 133, .cluster = 1};
    const struct gemm_device_args args[2] = {{.device = 0}, {.device = 1}};
    fitting = 132;
    EXPECT(gemm_launch_devices(&grid, args, 2) == GEMM_OK, "a grid that need not fit");
    expect_calls("a grid that need not fit", "R0 W1 L0 L1 R1 W0");
    grid.together = true;
    const struct capture refused = capture_begin();
    EXPECT(gemm_launch_devices(&grid, args, 2) == GEMM_LAUNCH_FAILED, "a grid that does not fit");
    char *const reason = capture_end(refused);
    EXPECT(strstr(reason, "its 133 CTAs wait for each other, and only 132 fit"), "%s", reason);
    free(reason);
    expect_calls("a grid that does not fit", "");
    grid.grid = 132;
    EXPECT(gemm_launch_devices(&grid, args, 2) == GEMM_OK, "a grid that fits");
    expect_calls("a grid that fits", "R0 W1 L0 L1 R1 W0");

    const struct gemm_copy copy = {.to = calls, .from = calls, .bytes = 1, .device = 1};
    EXPECT(gemm_copy_devices(&copy, 1, stream) == GEMM_OK, "a copy");
    expect_calls("a copy", "R0 W1 C1 R1 W0");
    gemm_devices_begin(stream);
    const struct capture capture = capture_begin();
    EXPECT(gemm_copy_devices(&copy, 1, stream) == GEMM_LAUNCH_FAILED, "a copy between launches");
    char *const text = capture_end(capture);
    EXPECT(strstr(text, "copies refused"), "a copy between launches: %s", text);
    free(text);
    gemm_devices_end(stream);
    expect_calls("a refused copy", "R0 W1 R1 W0");
    devices_close();

    open_devices(3);
    gemm_devices_begin(stream);
    launch(3, 2);
    gemm_devices_end(stream);
    expect_calls("three devices", "R0 W1 W2 L0 L1 L2 L0 L1 L2 R1 R2 W0 W0");
    expect_end(FLAGS, "the others wait for the third",
               "R0 W1 W2 L0 L1 F2 S0 S1 E0 E1 Z0 Z1 Z2 R1 R2 W0 W0");
    expect_end(0, "nobody waits for the third", "R0 W1 W2 L0 L1 F2 R1 R2 W0 W0");
    capturing = cudaStreamCaptureStatusActive;
    expect_end(FLAGS, "a graph without the third", "R0 W1 W2 L0 L1 F2 R1 R2 W0 W0");
    capturing = cudaStreamCaptureStatusNone;
    devices_close();
    return expect_result();
}
