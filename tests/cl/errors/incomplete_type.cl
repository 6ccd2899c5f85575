// A structure that is only declared.
struct unknown;
kernel void f(global int *out)
{
    struct unknown v;           // error: incomplete type
    out[0] = sizeof(struct unknown);    // error: incomplete type
}
