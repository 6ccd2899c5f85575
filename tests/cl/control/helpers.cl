// Helpers: prototypes, many callers, vectors and structures by value, side effects through pointers, single evaluation.

float4 twice(float4 v);
int gcd(int a, int b);
static inline int square(int x) { return x * x; }
void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}
int next(int *counter) { return (*counter)++; }
void nothing(void) {}
int add3(int a, int b, int c) { return a + b * 10 + c * 100; }

kernel void calls(global int *out, global float4 *v)
{
    int i = get_global_id(0);
    int a = i + 1, b = 12;
    swap(&a, &b);
    int n = 0;
    nothing();
    out[4 * i] = gcd(a, b);
    out[4 * i + 1] = square(next(&n)) + square(next(&n)) + n;
    out[4 * i + 2] = add3(i, square(i), square(square(2)));
    out[4 * i + 3] = a - b;
    v[i] = twice(twice((float4)(i, 1, 2, 3)));
}
// run: calls global=4
// arg out: int[16]
// arg v: float4[4]
// expect out: {1, 3, i / 4 + (i / 4) * (i / 4) * 10 + 1600, 11 - i / 4, 2, 3, _, 10, 3, 3, _, 9, 4, 3, _, 8}
// expect v: {4 * (i / 4), 4, 8, 12}

float4 twice(float4 v) { return v + v; }

int gcd(int a, int b)
{
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return a;
}
