// atan2pi at the axes and at infinity: the specification lists exact results (OpenCL C 7.5.1).
// for: T = float, double

kernel void edges(global const T *y, global const T *x, global T *out)
{
    size_t i = get_global_id(0);
    out[i] = atan2pi(y[i], x[i]);
}
// run: edges global=16
// arg y: $T[16] = {0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 1.0, -1.0, inf, -inf, inf, -inf, inf, -inf, 2.0, -2.0}
// arg x: $T[16] = {1.0, 1.0, -1.0, -1.0, 0.0, 0.0, -0.0, -0.0, inf, inf, -inf, -inf, 3.0, -3.0, -inf, inf}
// arg out: $T[16]
// expect out: {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.5, -0.5, 0.25, -0.25, 0.75, -0.75, 0.5, -0.5, 1.0, -0.0}
