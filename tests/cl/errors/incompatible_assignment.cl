// Values that do not convert.
typedef struct { int a; } s;
typedef struct { int a; } t;
kernel void f(global int *out)
{
    s v = {1};
    t w = {2};
    v = w;                  // error: assigning
    int x = v;              // error: initializing
    out[0] = w;             // error: assigning
}
