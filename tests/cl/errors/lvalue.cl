// An expression that is not an lvalue cannot be assigned to, and has no address.
int give(void) { return 1; }
kernel void f(global int *out)
{
    1 = 2;                      // error: not assignable
    give() = 3;                 // error: not assignable
    out[0] + 1 = 4;             // error: not assignable
    int *p = &5;                // error: cannot take the address
    int a[2], b[2];
    a = b;                      // error: not assignable
    int4 v = 0;
    v.xx = (int2)(1);           // error: not assignable
    out[1] = 5++;               // error: not assignable
}
