// Compound assignment and ++/-- on memory: the address is evaluated once, with its side effects.

kernel void memory(global int *data, global float *f, global int *count)
{
    size_t i = get_global_id(0);
    int k = 0;
    global int *p = data + i * 4;
    p[k++] += 10;
    p[k++] *= 3;
    *(p + k++) -= 1;
    p[k]++;
    f[i] /= 4;
    f[i] += 1;
    count[i] = k;
}
// run: memory global=4
// arg data: int[16] = i
// arg f: float[4] = i
// arg count: int[4]
// expect data: {i + 10, i * 3, i - 1, i + 1}
// expect f: i / 4.0 + 1
// expect count: 3

kernel void vectors(global int4 *data, global float2 *f)
{
    size_t i = get_global_id(0);
    data[i] += 2;
    data[i].y *= 7;
    data[i].zw -= (int2)(1, 2);
    data[i]++;
    f[i].x += 0.5f;
    f[i].yx *= (float2)(2, 3);
}
// run: vectors global=4
// arg data: int4[4] = i
// arg f: float2[4] = i
// expect data: {i + 3, (i + 2) * 7 + 1, i + 2, i + 1}
// expect f: {(i + 0.5) * 3, i * 2}
