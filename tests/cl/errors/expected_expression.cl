// An operator without its operand.
kernel void f(global int *out)
{
    out[0] = 1 + ;          // error: expected expression
    out[1] = * 2;           // error: indirection requires pointer operand
}
