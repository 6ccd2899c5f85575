// Device-side enqueue in modules of other compilers: at -O0 (enqueue.spvasm) and -O2 (enqueue_optimised.spvasm).
//
//     clang-15 -x cl -c -target spir64 -cl-std=CL2.0 -Xclang -finclude-default-header -O0 \
//         -emit-llvm enqueue.cl -o enqueue.bc
//     llvm-spirv-15 --spirv-max-version=1.0 --preserve-ocl-kernel-arg-type-metadata-through-string \
//         enqueue.bc -o enqueue.spv
//     spirv-dis --no-header enqueue.spv -o enqueue.spvasm

#pragma OPENCL EXTENSION cl_khr_subgroups : enable

typedef struct {
    char first;
    float4 four;
    global int *where;
    long last[3];
} mixed_t;

global int counter;

kernel void nothing_captured(global int *out)
{
    out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(6), ^{ atomic_inc(&counter); });
}

kernel void counted(global int *out) { out[0] = counter; }

kernel void captured(global int *out, int by, mixed_t given)
{
    mixed_t own = given;
    own.first = 7;
    own.where = out + 8;
    short8 lanes = (short8)(1, 2, 3, 4, 5, 6, 7, (short)by);
    // The memory of the block is the same in every iteration.
    for (int i = 0; i < 4; i++) {
        size_t sizes[2] = {2, 1};
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_2D(sizes), ^{
            int id = (int)get_global_id(0);
            out[2 * i + id] = by * (i + 1) + id;
            if (id == 0)
                own.where[i] = own.first + (int)own.four.w + (int)given.last[2] + lanes.s7 + lanes.s1;
        });
        own.first++;
    }
    by = 0;
}

kernel void local_memory(global int *out, int bytes)
{
    void (^block)(local void *, local void *) = ^(local void *a, local void *b) {
        local int *ints = a;
        local char *chars = b;
        int id = (int)get_local_id(0);
        ints[id] = id * 3;
        chars[id] = (char)(id + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = ints[3 - id] * 100 + chars[3 - id];
    };
    out[8] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(8, 4), block, bytes, 4ul);
    out[9] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(8, 4), block, bytes, 0);
}

kernel void ordered(global int *out)
{
    queue_t q = get_default_queue();
    clk_event_t user = create_user_event(), events[2], marker;
    ndrange_t one = ndrange_1D(1);
    int failed = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &user, &events[0], ^{ out[0] = atomic_inc(out + 7) + 1; });
    failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &events[0], &events[1], ^(local void *m) {
        *(local int *)m = atomic_inc(out + 7) + 1;
        out[1] = *(local int *)m;
    }, 16);
    failed |= enqueue_marker(q, 2, events, &marker);
    failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &marker, 0, ^{ out[2] = atomic_inc(out + 7) + 1; });
    out[3] = failed;
    retain_event(marker);
    out[4] = is_valid_event(marker) + 2 * is_valid_event(CLK_NULL_EVENT);
    capture_event_profiling_info(events[1], CLK_PROFILING_COMMAND_EXEC_TIME, out + 8);
    failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &events[1], 0, ^{ out[5] = out[8] > 0 && out[10] >= out[8]; });
    release_event(events[0]);
    release_event(events[1]);
    release_event(marker);
    release_event(marker);
    set_user_event_status(user, CL_COMPLETE);
    release_event(user);
}

void go(global int *out, int level)
{
    if (level == 0)
        return;
    int id = (int)get_global_id(0);
    void (^child)(void) = ^{
        atomic_add(out + level, id + 1);
        go(out, level - 1);
    };
    if (enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(2), child) != 0)
        out[0] = -1;
}

kernel void nested(global int *out) { go(out, 3); }

kernel void given_queues(global int *out, queue_t a, queue_t b)
{
    size_t sizes[3] = {4, 3, 2}, groups[3] = {2, 3, 1}, offsets[3] = {1, 0, 0};
    enqueue_kernel(a, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_3D(offsets, sizes, groups), ^{
        atomic_add(out, (int)get_global_id(0));
        // A queue is a number, and captured as such.
        if (get_global_linear_id() == 0)
            enqueue_kernel(b, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1, 3, 3), ^{ atomic_add(out + 1, (int)get_global_id(0)); });
    });
}

kernel void asked(global uint *out)
{
    void (^block)(local void *) = ^(local void *m) { out[9] = *(local uint *)m; };
    ndrange_t range = ndrange_1D(64, 64);
    out[0] = get_kernel_work_group_size(block);
    out[1] = get_kernel_preferred_work_group_size_multiple(block);
    out[2] = get_kernel_max_sub_group_size_for_ndrange(range, block);
    out[3] = get_kernel_sub_group_count_for_ndrange(range, block);
}
