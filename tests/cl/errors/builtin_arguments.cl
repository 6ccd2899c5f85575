// Calls of built-in functions without a matching overload.
typedef struct { int a; } s;
kernel void f(global float *out)
{
    s v = {1};
    out[0] = sin(v);            // error: sin
    out[1] = dot((float2)(1), (float4)(1));     // error: dot
    out[2] = clamp(1.0f);       // error: clamp
}
