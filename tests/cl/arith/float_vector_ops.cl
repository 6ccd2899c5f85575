// Float operators on vectors of every width, with scalars widened.
// for: N = 2, 3, 4, 8, 16
// build: -DV=float$N -DLOAD=vload$N -DSTORE=vstore$N

kernel void ops(global const float *a, global const float *b, float s, global float *out)
{
    size_t i = get_global_id(0);
    V x = LOAD(i, a), y = LOAD(i, b);
    STORE(x + y, i * 5, out);
    STORE(x - s, i * 5 + 1, out);
    STORE(s * y, i * 5 + 2, out);
    STORE(-x, i * 5 + 3, out);
    V z = x;
    z += y;
    z *= s;
    STORE(z, i * 5 + 4, out);
}
// run: ops global=2
// arg a: float[$N * 2] = rand(-100, 100) * 0.25
// arg b: float[$N * 2] = rand(-100, 100) * 0.5
// arg s: float = 1.5
// arg out: float[$N * 10]
// expect out if i / $N % 5 == 0: a[i / $N / 5 * $N + i % $N] + b[i / $N / 5 * $N + i % $N]
// expect out if i / $N % 5 == 1: a[i / $N / 5 * $N + i % $N] - s
// expect out if i / $N % 5 == 2: s * b[i / $N / 5 * $N + i % $N]
// expect out if i / $N % 5 == 3: -a[i / $N / 5 * $N + i % $N]
// expect out if i / $N % 5 == 4: (a[i / $N / 5 * $N + i % $N] + b[i / $N / 5 * $N + i % $N]) * s
