// cl_intel_split_work_group_barrier with scopes, and `#pragma unroll`. The macro cl_nv_pragma_unroll is not defined,
// because programs detect NVIDIA's compiler by it.
// requires: cl_intel_split_work_group_barrier
// build: -cl-std=CL3.0

kernel void reverse(global int *a, global int *out)
{
    uint id = get_local_id(0);
    a[id] = 3 * id;
    intel_work_group_barrier_arrive(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    intel_work_group_barrier_wait(CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
    int sum = 0;
#ifndef cl_nv_pragma_unroll
#pragma OPENCL EXTENSION cl_nv_pragma_unroll : enable
#pragma unroll 4
    for (int k = 0; k < 8; k++)
        sum += a[k];
#endif
    out[id] = sum;
}
// run: reverse global=8 local=8
// arg a: int[8]
// expect a: 3 * i
// arg out: int[8]
// expect out: 84
