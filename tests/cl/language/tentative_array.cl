// An array without a length at program scope gets one element, unless a later declaration completes it.
// requires: __opencl_c_program_scope_global_variables
// build: -cl-std=CL3.0

global int one[]; // warning: tentative array definition assumed to have one element
global int four[];

kernel void run(global int *o)
{
    one[0] = 5;
    four[3] = 6;
    o[0] = one[0] + four[3];
}
// run: run global=1
// arg o: int[1]
// expect o: 11

global int four[4];
