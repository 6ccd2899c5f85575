// A kernel may be called as a function by another.

kernel void inner(global int *out, int value)
{
    out[get_global_id(0)] += value;
}

kernel void outer(global int *out)
{
    inner(out, 5);
    inner(out, get_global_id(0));
}
// run: outer global=4
// arg out: int[4]
// expect out: 5 + i
// run: inner global=4
// arg out: int[4]
// arg value: int = 3
// expect out: 3
