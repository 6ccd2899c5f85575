// Arguments that do not convert to the parameter types.
typedef struct { int a; } s;
int take(s v) { return v.a; }
int deref(private float *p) { return *p; }
kernel void f(global int *out)
{
    out[0] = take(1);           // error: passing 'int'
    s v = {1};
    out[1] = take(v);
}
