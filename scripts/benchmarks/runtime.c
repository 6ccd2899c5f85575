/* Measures launches, transfers, maps and command buffers on every device of every platform whose name contains the
 * first argument (default: all platforms).
 *
 *   cc -O2 -o target/runtime scripts/benchmarks/runtime.c -lOpenCL
 *   target/runtime wgcl
 *
 * The second argument is the size of the large transfers in MiB (default: 64). The third argument is the number of
 * launches in the longer batch (default: 100,000). Times are medians. Bandwidths are those of blocking calls, in 10^9
 * bytes per second. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s failed: error %d\n", what, error);
        exit(1);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static const char *SOURCE =
    "kernel void empty(void) {}\n"
    "kernel void one(global int *a) { a[get_global_id(0)] += 1; }\n"
    "kernel void eight(global int *a, int b, int c, int d, int e, int f, int g, global int *h) { a[get_global_id(0)] += b + c + d + e + f + g + h[0]; }\n"
    "kernel void many(global int *a, int b0, int b1, int b2, int b3, int b4, int b5, int b6, int b7, int b8, int b9, int c0, int c1, int c2, int c3, int c4,\n"
    "    int c5, int c6, int c7, int c8, int c9, int d0, int d1, int d2, int d3, int d4, int d5, int d6, int d7, int d8, int d9, global int *e) {\n"
    "    a[get_global_id(0)] += b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9 + c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + d0 + d1 + d2 + d3 + d4\n"
    "        + d5 + d6 + d7 + d8 + d9 + e[0];\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static const size_t GLOBAL = 64;
static int long_batch = 100000;

static void enqueue(cl_kernel kernel) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &GLOBAL, &GLOBAL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static void set_arguments(cl_kernel kernel, int count, cl_mem first, cl_mem last) {
    int zero = 0;
    for (int i = 0; i < count; i++) {
        cl_mem *buffer = i == 0 ? &first : &last;
        int is_buffer = i == 0 || i == count - 1;
        check(clSetKernelArg(kernel, i, is_buffer ? sizeof(cl_mem) : sizeof(int), is_buffer ? (void *)buffer : &zero), "clSetKernelArg");
    }
}

static void launches(const char *name, cl_kernel kernel) {
    enum { SINGLE = 2000, ROUNDS = 9 };
    double times[SINGLE];
    for (int i = 0; i < 20; i++) enqueue(kernel);
    clFinish(queue);
    for (int i = 0; i < SINGLE; i++) {
        double begin = now();
        enqueue(kernel);
        clFinish(queue);
        times[i] = now() - begin;
    }
    printf("  %-28s one by one %8.2f us", name, median(times, SINGLE));
    int counts[] = {1000, long_batch};
    for (int c = 0; c < 2; c++) {
        double enqueued[ROUNDS];
        int rounds = c ? 3 : ROUNDS;
        for (int r = 0; r < rounds; r++) {
            double begin = now();
            for (int i = 0; i < counts[c]; i++) enqueue(kernel);
            enqueued[r] = (now() - begin) / counts[c];
            clFinish(queue);
            times[r] = (now() - begin) / counts[c];
        }
        printf("   batch of %6d %7.3f us (enqueue %6.3f)", counts[c], median(times, rounds), median(enqueued, rounds));
    }
    printf("\n");
}

static void latency(cl_kernel kernel, cl_device_id device) {
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_int error;
    cl_command_queue profiling = clCreateCommandQueueWithProperties(context, device, list, &error);
    check(error, "clCreateCommandQueueWithProperties");
    enum { COUNT = 1000 };
    double start[COUNT], end[COUNT], whole[COUNT];
    for (int i = 0; i < COUNT; i++) {
        cl_event event;
        cl_ulong times[3];
        double begin = now();
        check(clEnqueueNDRangeKernel(profiling, kernel, 1, NULL, &GLOBAL, &GLOBAL, 0, NULL, &event), "clEnqueueNDRangeKernel");
        clFinish(profiling);
        whole[i] = now() - begin;
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof(cl_ulong), &times[0], NULL);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(cl_ulong), &times[1], NULL);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), &times[2], NULL);
        clReleaseEvent(event);
        start[i] = (times[1] - times[0]) * 1e-3;
        end[i] = (times[2] - times[1]) * 1e-3;
    }
    printf("  %-28s queued to start %8.2f us   start to end %7.2f us   enqueue to finished %8.2f us\n", "profiled launch", median(start, COUNT),
           median(end, COUNT), median(whole, COUNT));
    clReleaseCommandQueue(profiling);
}

static void transfers(size_t size, int rounds, cl_mem_flags flags, const char *name) {
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | flags, size, NULL, &error);
    check(error, "clCreateBuffer");
    cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &error);
    check(error, "clCreateBuffer");
    char *host = aligned_alloc(4096, size);
    memset(host, 1, size);
    double *times[8];
    for (int k = 0; k < 8; k++) times[k] = malloc(rounds * sizeof(double));
    for (int r = -1; r < rounds; r++) {
        double stamp[9];
        stamp[0] = now();
        check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
        clFinish(queue);
        stamp[1] = now();
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, host, 0, NULL, NULL), "clEnqueueReadBuffer");
        clFinish(queue);
        stamp[2] = now();
        check(clEnqueueCopyBuffer(queue, buffer, other, 0, 0, size, 0, NULL, NULL), "clEnqueueCopyBuffer");
        clFinish(queue);
        stamp[3] = now();
        void *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &error);
        check(error, "clEnqueueMapBuffer");
        clFinish(queue);
        stamp[4] = now();
        memcpy(host, mapped, size);
        stamp[5] = now();
        check(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
        clFinish(queue);
        mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
        check(error, "clEnqueueMapBuffer");
        clFinish(queue);
        stamp[6] = now();
        memcpy(mapped, host, size);
        stamp[7] = now();
        check(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
        clFinish(queue);
        stamp[8] = now();
        for (int k = 0; k < 8 && r >= 0; k++) times[k][r] = stamp[k + 1] - stamp[k];
    }
    static const char *NAMES[] = {"write", "read", "copy", "map", "from map", NULL, "to map", "unmap"};
    printf("  %-28s", name);
    for (int k = 0; k < 8; k++) {
        if (!NAMES[k]) continue;
        double time = median(times[k], rounds);
        if (size < 1 << 20) printf(" %s %.1f us ", NAMES[k], time);
        else printf(" %s %.1f GB/s ", NAMES[k], size / time * 1e-3);
    }
    printf("\n");
    for (int k = 0; k < 8; k++) free(times[k]);
    free(host);
    clReleaseMemObject(buffer);
    clReleaseMemObject(other);
}

static void replays(cl_kernel kernel, cl_platform_id platform) {
    clCreateCommandBufferKHR_fn create = (clCreateCommandBufferKHR_fn)clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandBufferKHR");
    clCommandNDRangeKernelKHR_fn record = (clCommandNDRangeKernelKHR_fn)clGetExtensionFunctionAddressForPlatform(platform, "clCommandNDRangeKernelKHR");
    clFinalizeCommandBufferKHR_fn finalize =
        (clFinalizeCommandBufferKHR_fn)clGetExtensionFunctionAddressForPlatform(platform, "clFinalizeCommandBufferKHR");
    clEnqueueCommandBufferKHR_fn replay = (clEnqueueCommandBufferKHR_fn)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCommandBufferKHR");
    clReleaseCommandBufferKHR_fn release = (clReleaseCommandBufferKHR_fn)clGetExtensionFunctionAddressForPlatform(platform, "clReleaseCommandBufferKHR");
    if (!create || !record || !finalize || !replay || !release) return;
    cl_int error;
    cl_command_buffer_khr buffer = create(1, &queue, NULL, &error);
    if (error != CL_SUCCESS) return;
    enum { LAUNCHES = 100, ROUNDS = 101 };
    for (int i = 0; i < LAUNCHES; i++) {
        if (record(buffer, NULL, NULL, kernel, 1, NULL, &GLOBAL, &GLOBAL, 0, NULL, NULL, NULL) != CL_SUCCESS) return;
    }
    check(finalize(buffer), "clFinalizeCommandBufferKHR");
    double enqueued[2][ROUNDS], whole[2][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (int kind = 0; kind < 2; kind++) {
            double begin = now();
            if (kind) {
                for (int i = 0; i < LAUNCHES; i++) enqueue(kernel);
            } else {
                check(replay(0, NULL, buffer, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
            }
            enqueued[kind][r] = now() - begin;
            clFinish(queue);
            whole[kind][r] = now() - begin;
        }
    }
    printf("  %-28s replayed %8.1f us (enqueue %6.1f)   enqueued singly %8.1f us (enqueue %6.1f)\n", "100 launches", median(whole[0], ROUNDS),
           median(enqueued[0], ROUNDS), median(whole[1], ROUNDS), median(enqueued[1], ROUNDS));
    release(buffer);
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : "";
    if (argc > 3) long_batch = atoi(argv[3]);
    size_t large = (size_t)(argc > 2 ? atoi(argv[2]) : 64) << 20;
    cl_platform_id platforms[16];
    cl_uint count = 0;
    check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < count; p++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strstr(name, wanted)) continue;
        cl_device_id devices[8];
        cl_uint found = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 8, devices, &found) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < found; d++) {
            char device[256] = "";
            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof device, device, NULL);
            printf("%s: %s\n", name, device);
            cl_int error;
            context = clCreateContext(NULL, 1, &devices[d], NULL, NULL, &error);
            check(error, "clCreateContext");
            queue = clCreateCommandQueueWithProperties(context, devices[d], NULL, &error);
            check(error, "clCreateCommandQueueWithProperties");
            cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &error);
            check(error, "clCreateProgramWithSource");
            check(clBuildProgram(program, 1, &devices[d], "", NULL, NULL), "clBuildProgram");
            cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
            check(error, "clCreateBuffer");
            cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
            check(error, "clCreateBuffer");
            static const struct { const char *name; int arguments; } KERNELS[] = {{"empty", 0}, {"one", 1}, {"eight", 8}, {"many", 32}};
            for (int k = 0; k < 4; k++) {
                cl_kernel kernel = clCreateKernel(program, KERNELS[k].name, &error);
                check(error, "clCreateKernel");
                set_arguments(kernel, KERNELS[k].arguments, a, b);
                char title[64];
                snprintf(title, sizeof title, "launch, %d arguments", KERNELS[k].arguments);
                launches(title, kernel);
                if (k == 1) {
                    latency(kernel, devices[d]);
                    replays(kernel, platforms[p]);
                }
                clReleaseKernel(kernel);
            }
            transfers(4096, 1000, 0, "4 KiB");
            char title[64];
            snprintf(title, sizeof title, "%zu MiB", large >> 20);
            transfers(large, 7, 0, title);
            snprintf(title, sizeof title, "%zu MiB, ALLOC_HOST_PTR", large >> 20);
            transfers(large, 7, CL_MEM_ALLOC_HOST_PTR, title);
            clReleaseMemObject(a);
            clReleaseMemObject(b);
            clReleaseProgram(program);
            clReleaseCommandQueue(queue);
            clReleaseContext(context);
        }
    }
    return 0;
}
