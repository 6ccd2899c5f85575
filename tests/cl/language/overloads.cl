// Functions with the attribute `overloadable`, chosen by the rules of C++; built-ins with scalars among vectors.
#define O __attribute__((overloadable))
int O kind(int x) { return 1; }
int O kind(float x) { return 2; }
int O kind(int4 x) { return 3; }
int O kind(global int *x) { return 4; }
int O kind(local int *x) { return 5; }
int O kind(const int *x) { return 6; }
int O kind(int x, float y) { return 7; }
int O kind(uint x) { return 8; }
float O max(float a, int b) { return a + b; }

kernel void calls(global int *out, local int *scratch)
{
    int i = 1;
    short s = 1;
    char c = 1;
    float f = 2;
    out[0] = kind(1) + 10 * kind(1.0f) + 100 * kind((int4)(1)) + 1000 * kind(out) + 10000 * kind(scratch) + 100000 * kind(&i);
    out[1] = kind(s) + 10 * kind(c) + 100 * kind(1, 2) + 1000 * kind(1u) + 10000 * kind(true) + 100000 * kind((uchar)1);
    out[2] = (int)max(f, i) + (int)max(f, 3.0f) * 10 + max(i, 4) * 100;
    float4 v = (float4)(1, 2, 3, 4);
    out[3] = (int)max(v, 2.5f).x + (int)clamp(v, 2.0f, 3.0f).w * 10 + (int)fmin(v, 2.0f).w * 100;
    out[4] = (int)mix(v, v * 2, 0.5f).w + (int)step(2.0f, v).y * 10 + (int)smoothstep(0.0f, 1.0f, v).x * 100;
    out[5] = (int)ldexp(v, 1).w + (int)(pown(v, (int4)(2)).z + 0.5f) * 10 + (int)(rootn(f * f, 2) + 0.5f) * 100;
    out[6] = abs(-3) + abs_diff(1, 3) * 10 + mul24(2, 3) * 100;
    out[7] = select(1, 2, 1) + select(3, 4, 0u) * 10;
}
// run: calls global=1
// arg out: int[8]
// arg scratch: local 4
// expect out: {654321, 118711, 433, 232, 116, 298, 623, 32}
