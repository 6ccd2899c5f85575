// A small linear-algebra library: structures holding arrays, passed and returned by value.

typedef struct { float m[3][3]; } mat3;
typedef struct { float3 origin, direction; } ray;

mat3 multiply(mat3 a, mat3 b)
{
    mat3 r;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
            r.m[y][x] = 0;
            for (int k = 0; k < 3; k++)
                r.m[y][x] += a.m[y][k] * b.m[k][x];
        }
    return r;
}

float3 apply(const mat3 *a, float3 v)
{
    return (float3)(dot((float3)(a->m[0][0], a->m[0][1], a->m[0][2]), v),
                    dot((float3)(a->m[1][0], a->m[1][1], a->m[1][2]), v),
                    dot((float3)(a->m[2][0], a->m[2][1], a->m[2][2]), v));
}

kernel void transform(global const mat3 *a, global const mat3 *b, global mat3 *c, global float *v)
{
    size_t i = get_global_id(0);
    mat3 r = multiply(a[i], b[i]);
    c[i] = r;
    ray q = {(float3)(1, 2, 3), (float3)(0)};
    q.direction = apply(&r, q.origin);
    vstore3(q.direction, i, v);
}
// run: transform global=4
// arg a: float[36] = rand(-5, 5)
// arg b: float[36] = rand(-5, 5)
// arg c: float[36]
// arg v: float[12]
// expect c: sum(k, 0, 3, a[i / 3 * 3 + k] * b[i / 9 * 9 + k * 3 + i % 3])
// expect v: sum(j, 0, 3, (j + 1) * sum(k, 0, 3, a[i * 3 + k] * b[i / 3 * 9 + k * 3 + j]))
