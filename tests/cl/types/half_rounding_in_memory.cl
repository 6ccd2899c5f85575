// A float that is stored as a half and loaded again is rounded, also if the compiler sees both.

kernel void through_half(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    ushort bits[1];
    vstore_half(a[i], 0, (half *)bits);
    out[i] = vload_half(0, (half *)bits);
}
// run: through_half global=8
// arg a: float[8] = {0.1, 1000000, -1000000, 2049, 1e-30, 3.5, inf, 1.0001}
// arg out: float[8]
// expect out: {0.0999755859375, inf, 0 - inf, 2048, 0, 3.5, inf, 1}
