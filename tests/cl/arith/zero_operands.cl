// An operation with a constant zero cannot be folded: NaNs, infinities and signs of zeros are preserved.
// for: T = float, double

#define JOINED(t, n) t##n
#define VECTOR(t, n) JOINED(t, n)

kernel void scalars(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    global T *o = out + 12 * i;
    o[0] = x * (T)0;
    o[1] = (T)0 * x;
    o[2] = (T)0 / x;
    o[3] = x / (T)0;
    o[4] = x + (T)0;
    o[5] = (T)0 - x;
    o[6] = x - (T)0;
    o[7] = x / -(T)0;
    o[8] = x - -(T)0;
    o[9] = x + -(T)0;
    o[10] = fma(x, (T)0, (T)1);
    o[11] = fma(x, (T)1, (T)0);
}
// run: scalars global=8
// arg a: $T[8] = {0, -0.0, 2, -3, inf, -inf, nan, 1e-30}
// arg out: $T[96]
// expect out if i % 12 < 2: a[i / 12] * 0.0
// expect out if i % 12 == 2: 0.0 / a[i / 12]
// expect out if i % 12 == 3: a[i / 12] / 0.0
// expect out if i % 12 == 4: a[i / 12] + 0.0
// expect out if i % 12 == 5: 0.0 - a[i / 12]
// expect out if i % 12 == 6: a[i / 12]
// expect out if i % 12 == 7: a[i / 12] / -0.0
// expect out if i % 12 == 8: a[i / 12] + 0.0
// expect out if i % 12 == 9: a[i / 12]
// expect out if i % 12 == 10: a[i / 12] * 0.0 + 1.0
// expect out if i % 12 == 11: a[i / 12] + 0.0

kernel void vectors(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    VECTOR(T, 4) c = (VECTOR(T, 4))(0, 2, -(T)0, 1);
    vstore4(x * c, 4 * i, out);
    vstore4(x / c, 4 * i + 1, out);
    vstore4(c / x, 4 * i + 2, out);
    vstore4(x + (VECTOR(T, 4))(0, 2, 0, 1), 4 * i + 3, out);
}
// run: vectors global=8
// arg a: $T[8] = {0, -0.0, 2, -3, inf, -inf, nan, 1e-30}
// arg out: $T[128]
// expect out if i % 16 < 4: a[i / 16] * (i % 4 == 0 ? 0.0 : i % 4 == 1 ? 2.0 : i % 4 == 2 ? -0.0 : 1.0)
// expect out if i % 16 / 4 == 1: a[i / 16] / (i % 4 == 0 ? 0.0 : i % 4 == 1 ? 2.0 : i % 4 == 2 ? -0.0 : 1.0)
// expect out if i % 16 / 4 == 2: (i % 4 == 0 ? 0.0 : i % 4 == 1 ? 2.0 : i % 4 == 2 ? -0.0 : 1.0) / a[i / 16]
// expect out if i % 16 / 4 == 3: a[i / 16] + (i % 4 == 0 ? 0.0 : i % 4 == 1 ? 2.0 : i % 4 == 2 ? 0.0 : 1.0)

// Lanes with equal values.
kernel void same_lanes(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    vstore2((VECTOR(T, 2))(x, 1) * (VECTOR(T, 2))(0), 2 * i, out);
    vstore2((VECTOR(T, 2))(x, 1) + (VECTOR(T, 2))(0), 2 * i + 1, out);
}
// run: same_lanes global=8
// arg a: $T[8] = {0, -0.0, 2, -3, inf, -inf, nan, 1e-30}
// arg out: $T[32]
// expect out if i % 4 == 0: a[i / 4] * 0.0
// expect out if i % 4 == 1: 0
// expect out if i % 4 == 2: a[i / 4] + 0.0
// expect out if i % 4 == 3: 1

// A function of a constant is a constant zero as well.
kernel void roots(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    out[3 * i] = sqrt((T)0) / x;
    out[3 * i + 1] = x * sqrt((T)0);
    out[3 * i + 2] = sqrt((T)0) / ((T)0 / x);
}
// run: roots global=8
// arg a: $T[8] = {0, -0.0, 2, -3, inf, -inf, nan, 1e-30}
// arg out: $T[24]
// expect out if i % 3 == 0: 0.0 / a[i / 3]
// expect out if i % 3 == 1: a[i / 3] * 0.0
// expect out if i % 3 == 2: 0.0 / (0.0 / a[i / 3])
