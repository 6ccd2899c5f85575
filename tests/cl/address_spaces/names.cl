// Address space qualifiers with and without underscores are the same, and may appear wherever `const` may.
// build: -cl-std=CL1.0
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0

constant int a[2] = {1, 2};
__constant int b[2] = {3, 4};
int constant c[2] = {5, 6};
const constant int d = 7;
constant const int e = 8;
typedef global int *global_ints;
typedef __global int global_int;

int sum(constant int *p, __constant int *q)
{
    return p[0] + q[1];
}

kernel void names(global int *x, __global int *y, int global *z, global const int *u, const int __global *v, int const global *const w,
                  local int *l, __local int *m, global_ints n, global_int *o)
{
    private int one = 1;
    __private int two = 2;
    int private three = 3;
    private int *p = &one;
    __private int *q = &two;
    int *r = &three;
    p = q;
    r = p;
    int i = get_global_id(0);
    l[0] = u[i] + v[i] + w[i];
    m = l;
    x[i] = *r + sum(a, b) + sum(c, &c[0]) + d + e;
    y[i] = m[0];
    z[i] = *q;
    n[i] = x == n;
    o[i] = three;
}
// run: names global=4 local=1
// arg x: int[4]
// arg y: int[4]
// arg z: int[4]
// arg u: int[4] = i
// arg v: int[4] = 10 * i
// arg w: int[4] = 100 * i
// arg l: local 4
// arg m: local 4
// arg n: int[4]
// arg o: int[4]
// expect x: 2 + 1 + 4 + 5 + 6 + 7 + 8
// expect y: 111 * i
// expect z: 2
// expect n: 0
// expect o: 3
