/* A minimal OpenCL program in C: adds two vectors on every device of every platform, and checks the sums.
 *
 *   cc -o sum examples/sum.c -lOpenCL && scripts/run ./sum
 *
 * The optional argument is a part of the names of the platforms to use. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 100000

static const char *source = "kernel void sum(global const float *a, global const float *b, global float *c)\n"
                            "{\n"
                            "    size_t i = get_global_id(0);\n"
                            "    c[i] = a[i] + b[i];\n"
                            "}\n";

static float a[COUNT], b[COUNT], c[COUNT];

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s failed: error %d\n", what, error);
        exit(1);
    }
}

/* Creates a buffer with a copy of an array, or an uninitialised buffer if `array` is null. */
static cl_mem buffer(cl_context context, const float *array) {
    cl_int error;
    cl_mem_flags flags = array ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_WRITE_ONLY;
    cl_mem memory = clCreateBuffer(context, flags, sizeof a, (void *)array, &error);
    check(error, "clCreateBuffer");
    return memory;
}

/* Adds on one device. Returns whether all sums are correct. */
static int run(cl_device_id device) {
    cl_int error;
    char name[256];
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "sum", &error);
    check(error, "clCreateKernel");

    cl_mem buffers[3] = {buffer(context, a), buffer(context, b), buffer(context, NULL)};
    for (cl_uint i = 0; i < 3; i++) check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    size_t count = COUNT;
    memset(c, 0, sizeof c);
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "clEnqueueReadBuffer");

    int right = 1;
    for (int i = 0; i < COUNT; i++) right &= c[i] == a[i] + b[i];
    printf("%s: %s\n", name, right ? "correct" : "WRONG");

    for (int i = 0; i < 3; i++) clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return right;
}

int main(int count, char **arguments) {
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint platform_count, device_count;
    int right = 1, ran = 0;
    for (int i = 0; i < COUNT; i++) {
        a[i] = i;
        b[i] = 0.5f * (i % 7);
    }
    check(clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < platform_count && p < 16; p++) {
        char name[256];
        check(clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
        if (count > 1 && !strstr(name, arguments[1])) continue;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < device_count && d < 16; d++, ran++) right &= run(devices[d]);
    }
    if (!ran) fprintf(stderr, "no OpenCL device found\n");
    return !(ran && right);
}
