// Vectors that adjacent work-items store with a stride of two, and in another order.
// for: T = uchar, short, int, long
// for: N = 2, 4, 8

#define VECTOR_(t, n) t##n
#define VECTOR(t, n) VECTOR_(t, n)
typedef VECTOR(T, N) V;

kernel void apart(global const V *a, global V *out)
{
    int i = get_global_id(0);
    out[2 * i] = a[i] + a[i];
}
// run: apart global=32 local=32
// arg a: $T$N[32] = rand(0, 60)
// arg out: $T$N[64] = 1
// expect out if i / $N % 2 == 0: 2 * a[i / $N / 2 * $N + i % $N]

kernel void ordered(global const V *a, global const int *order, global V *out)
{
    int i = get_global_id(0);
    out[order[i]] = a[i] + (V)1;
}
// run: ordered global=32 local=32
// arg a: $T$N[32] = rand(0, 60)
// arg order: int[32] = i * 7 % 32
// arg out: $T$N[32]
// expect out: a[i / $N * 23 % 32 * $N + i % $N] + 1
