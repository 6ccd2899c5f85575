// Math functions on vectors have the result of the scalar function in each lane.
// for: N = 2, 3, 4, 8, 16
// build: -DV=float$N -DLOAD=vload$N -DSTORE=vstore$N

kernel void lanes(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    V x = LOAD(i, a);
    STORE(sin(x), 4 * i, out);
    STORE(exp(x), 4 * i + 1, out);
    STORE(pow(x, x), 4 * i + 2, out);
    STORE(sqrt(x) + floor(x), 4 * i + 3, out);
}
// run: lanes global=2
// arg a: float[$N * 2] = 0.25 + i * 0.125
// arg out: float[$N * 8]
// expect out within 1e-5 if i / $N % 4 == 0: sin(a[i / $N / 4 * $N + i % $N])
// expect out within 1e-5 if i / $N % 4 == 1: exp(a[i / $N / 4 * $N + i % $N])
// expect out within 1e-5 if i / $N % 4 == 2: pow(a[i / $N / 4 * $N + i % $N], a[i / $N / 4 * $N + i % $N])
// expect out within 1e-5 if i / $N % 4 == 3: sqrt(a[i / $N / 4 * $N + i % $N]) + floor(a[i / $N / 4 * $N + i % $N])
