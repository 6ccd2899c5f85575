// Initialisers that are too long or name unknown members.
typedef struct { int a, b; } s;
kernel void f(global int *out)
{
    s v = {.c = 1};                 // error: 'c'
    out[0] = v.a;
}
