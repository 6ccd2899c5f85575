// Pointers to one named address space do not convert to pointers to another one.
void take(global int *p) { *p = 1; }
kernel void f(global int *out, local int *l, constant int *c)
{
    int x = 1;
    global int *p = l;      // error: address space
    take(&x);               // error: address space
    local int *q = out;     // error: address space
    global int *r = c;      // error: address space
}
