// Operands of types that an operator does not accept.
typedef struct { int a; } s;
kernel void f(global int *out, global float *p)
{
    s v = {1};
    out[0] = v + 1;         // error: invalid operands
    float x = 1.0f;
    out[1] = x % 2;         // error: invalid operands
    out[2] = x << 1;        // error: invalid operands
    out[3] = ~x;            // error: invalid argument type
    out[4] = *x;            // error: indirection requires pointer operand
    out[5] = -p;            // error: invalid argument type
    out[6] = p + p;         // error: invalid operands
}
