// An extension's macro is defined only in OpenCL C versions that have its functions, because programs test the macro.
// build: -cl-std=CL1.0
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

kernel void run(global int *o, global float *f, local int *tile)
{
    int i = get_local_id(0), x = i;
#ifdef cl_ext_float_atomics
    atomic_fetch_add_explicit((volatile global atomic_float *)f, 1.5f, memory_order_relaxed, memory_scope_work_group);
#endif
#ifdef cl_khr_subgroup_ballot
    x += sub_group_ballot(x).x;
#endif
#ifdef cl_khr_subgroup_shuffle
    x += sub_group_shuffle(x, 0);
#endif
#ifdef cl_khr_subgroup_shuffle_relative
    x += sub_group_shuffle_up(x, 0);
#endif
#ifdef cl_khr_subgroup_rotate
    x += sub_group_rotate(x, 0);
#endif
#ifdef cl_khr_subgroup_clustered_reduce
    x += sub_group_clustered_reduce_add(x, 1);
#endif
#ifdef cl_khr_subgroup_non_uniform_vote
    x += sub_group_elect();
#endif
#ifdef cl_khr_subgroup_non_uniform_arithmetic
    x += sub_group_non_uniform_reduce_add(x);
#endif
#ifdef cl_khr_subgroup_extended_types
    x += sub_group_broadcast((char)x, 0);
#endif
#ifdef cl_intel_subgroups
    x += intel_sub_group_shuffle(x, 0);
#endif
#ifdef cl_khr_work_group_uniform_arithmetic
    x += work_group_reduce_and(x);
#endif
#ifdef cl_khr_extended_bit_ops
    x += bit_reverse(x);
#endif
#ifdef cl_khr_integer_dot_product
    x += dot((uchar4)(x), (uchar4)(1));
#endif
#ifdef cl_khr_extended_async_copies
    event_t e = async_work_group_copy_2D2D(tile, 0, o, 0, 4, 2, 1, 2, 2, 0);
    wait_group_events(1, &e);
#endif
#ifdef cl_intel_split_work_group_barrier
    intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
    intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
#endif
    o[i] = x & 0;
}
// run: run global=8 local=8
// arg o: int[8] = -1
// arg f: float[1]
// arg tile: local 32
// expect o: 0
// expect f within 12: 12
