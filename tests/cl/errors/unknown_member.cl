// Members that structures and vectors do not have.
typedef struct { int a; } s;
kernel void f(global int *out)
{
    s v = {1};
    out[0] = v.b;           // error: no member named 'b'
    int4 w = 0;
    out[1] = w.q;           // error: illegal vector component name
    int2 n = 0;
    out[2] = n.z;           // error: vector component access exceeds type
}
