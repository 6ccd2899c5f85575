// Subgroups of a work-group wait for each other.
// requires: cl_khr_subgroups
// build: -cl-std=CL3.0

#pragma OPENCL EXTENSION cl_khr_subgroups : enable

// Each subgroup waits for the next one, so the last subgroup ends first.
kernel void reverse_chain(global int *order)
{
    local atomic_int next;
    if (get_local_linear_id() == 0)
        atomic_init(&next, (int)get_num_sub_groups() - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    int id = get_sub_group_id();
    if (get_sub_group_local_id() == 0) {
        while (atomic_load_explicit(&next, memory_order_acquire, memory_scope_work_group) != id)
            ;
        atomic_store_explicit(&next, id - 1, memory_order_release, memory_scope_work_group);
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    order[get_global_linear_id()] = atomic_load_explicit(&next, memory_order_relaxed, memory_scope_work_group);
}
// run: reverse_chain global=960 local=192
// arg order: int[960] = 7
// expect order: -1
// run: reverse_chain global=30x20 local=6x10
// arg order: int[600] = 7
// expect order: -1

// A chain without barriers, in global memory, with volatile accesses.
kernel void volatile_chain(volatile global int *nexts, global int *out)
{
    int id = get_sub_group_id();
    volatile global int *next = nexts + get_group_id(0);
    while (*next != (int)get_num_sub_groups() - 1 - id)
        ;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = *next + id - (int)get_num_sub_groups();
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0)
        *next = (int)get_num_sub_groups() - id;
}
// run: volatile_chain global=1000 local=100
// arg nexts: int[10]
// arg out: int[1000] = 7
// expect nexts: _
// expect out: -1

int step(volatile local int *flag, int round, int *history)
{
    while (atomic_add(flag, 0) < round)
        history[round & 7] += 0;
    return history[round & 7] + round;
}

// The first and the last subgroup answer each other in every round. Each work-item keeps private data meanwhile.
kernel void answers(global int *out, int rounds)
{
    local int ping, pong;
    int history[8];
    int lid = get_local_id(0);
    for (int k = 0; k < 8; ++k)
        history[k] = lid * 8 + k;
    if (lid == 0)
        ping = pong = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int round = 1; round <= rounds; ++round) {
        if (get_sub_group_id() == 0) {
            if (get_sub_group_local_id() == 0)
                atomic_inc(&ping);
            sum += step(&pong, round, history);
        } else if (get_sub_group_id() == get_num_sub_groups() - 1) {
            sum += step(&ping, round, history);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            if (get_sub_group_local_id() == 0)
                atomic_inc(&pong);
        } else {
            sum += history[round & 7] + round;
        }
        if (round % 3 == 0)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
// run: answers global=600 local=150
// arg out: int[600]
// arg rounds: int = 40
// expect out: 40 * 41 / 2 + 5 * (8 * 8 * (i % 150) + 28)

// Collective functions of the work-group, in a kernel whose subgroups wait.
kernel void collectives(global int *out, global long *sums)
{
    local atomic_uint arrived;
    int lid = get_local_id(0);
    if (lid == 0)
        atomic_init(&arrived, 0u);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0)
        atomic_fetch_add(&arrived, 1u);
    while (atomic_load(&arrived) != get_num_sub_groups())
        ;
    int bad = work_group_reduce_add(lid) != 100 * 99 / 2;
    bad += 2 * (work_group_scan_inclusive_add(1) != lid + 1);
    bad += 4 * (work_group_scan_exclusive_max(lid) != (lid == 0 ? INT_MIN : lid - 1));
    bad += 8 * (work_group_broadcast(lid * 3, 77) != 231);
    bad += 16 * (work_group_any(lid == 99) == 0);
    bad += 32 * (work_group_all(lid < 99) != 0);
    out[get_global_id(0)] = bad;
    sums[get_global_id(0)] = work_group_reduce_max((long)lid << 33);
}
// run: collectives global=300 local=100
// arg out: int[300] = 7
// arg sums: long[300]
// expect out: 0
// expect sums: long(99) << 33

// A subgroup takes a lock that another subgroup holds, and waits for it at a barrier of the work-group.
kernel void locks(global int *count, local int *data)
{
    local int lock;
    int lid = get_local_id(0);
    if (lid == 0)
        lock = 0;
    data[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 5; ++round) {
        if (get_sub_group_local_id() == 0) {
            while (atomic_cmpxchg(&lock, 0, 1) != 0)
                ;
            data[0] += 1;
            mem_fence(CLK_LOCAL_MEM_FENCE);
            atomic_xchg(&lock, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        count[get_group_id(0)] = data[0] - 5 * (int)get_num_sub_groups();
}
// run: locks global=512 local=128
// arg count: int[4] = 3
// arg data: local 512
// expect count: 0
