// The work of loops, private arrays, and loops that mainly gather.
// arguments: --isa avx2 --local-size 16,16
kernel void matrix_product(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

kernel void sorted(global float *a, int n)
{
    float list[8];
    int i = get_global_id(0);
    for (int k = 0; k < 8; ++k)
        list[(k * n) & 7] = a[i * 8 + k];
    a[i] = list[n & 7];
}

kernel void walk(global const int *next, global int *out, int steps)
{
    int at = get_global_id(0);
    for (int k = 0; k < steps; ++k)
        at = next[next[next[at]]];
    out[get_global_id(0)] = at;
}
