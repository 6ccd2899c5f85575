// Built-in functions accept generic pointers.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0

kernel void results(global float *g, local float *l, global int *gi, global float *out)
{
    int i = get_global_id(0);
    float own = 0;
    int own_int = 0;
    float *p = i == 0 ? g : i == 1 ? (float *)l : &own;
    int *n = i == 0 ? (int *)gi : &own_int;
    float a = fract(2.75f, p);
    out[i] = a + *p;
    a = modf(-3.5f, p);
    out[3 + i] = *p + a * 10;
    a = sincos(0.0f, p);
    out[6 + i] = a + *p;
    a = frexp(12.0f, n);
    out[9 + i] = a + *n;
    a = remquo(7.0f, 2.0f, n);
    out[12 + i] = a + *n * 10;
    a = lgamma_r(1.0f, n);
    out[15 + i] = a + *n;
}
// run: results global=3 local=3
// arg g: float[1]
// arg l: local 4
// arg gi: int[1]
// arg out: float[18]
// expect g: 1
// expect gi: 1
// expect out if i < 3: 2.75
// expect out if i >= 3 && i < 6: -8
// expect out if i >= 6 && i < 9: 1
// expect out if i >= 9 && i < 12: 4.75
// expect out if i >= 12 && i < 15: 39
// expect out if i >= 15: 1

kernel void data(global char *g, local char *l, global char *out)
{
    int i = get_global_id(0);
    char own[16];
    for (int k = 0; k < 16; k++) {
        l[k] = 100 - k;
        own[k] = -k;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    char *p = i == 0 ? (char *)g : i == 1 ? (char *)l : own;
    vstore4(vload4(1, p), i, out);
    vstore3(vload3(1, p + 1), 2, p);
    vstore3(vload3(2, p), 0, out + 12 + 3 * i);
    vstore2(vload2(0, (char *)(uchar *)p), 0, out + 21 + 2 * i);
}
// run: data global=3 local=3
// arg g: char[16] = i
// arg l: local 16
// arg out: char[27]
// expect g: i >= 6 && i < 9 ? i - 2 : i
// expect out if i < 12: i < 4 ? 4 + i : i < 8 ? 100 - i : -(4 + i - 8)
// expect out if i >= 12 && i < 21: i < 15 ? i - 12 + 4 : i < 18 ? 96 - (i - 15) : -(4 + i - 18)
// expect out if i >= 21: i == 21 || i == 25 ? 0 : i == 22 ? 1 : i == 23 ? 100 : i == 24 ? 99 : -1

kernel void atomics(global int *g, local int *l, global int *out)
{
    int i = get_local_id(0);
    if (i == 0)
        l[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile int *p = i & 1 ? (volatile int *)g : (volatile int *)l;
    atomic_add(p, i);
    atomic_inc(p);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atomic_max(p, 20);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (i == 0) {
        out[0] = l[0];
        out[1] = g[0];
        out[2] = atomic_cmpxchg(p, 20, 3);
        out[3] = l[0];
    }
}
// run: atomics global=8 local=8
// arg g: int[1]
// arg l: local 4
// arg out: int[4]
// expect g: 20
// expect out: {20, 20, 20, 3}
