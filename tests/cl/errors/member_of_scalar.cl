// . and -> on what has no members or is no pointer.
typedef struct { int a; } s;
kernel void f(global int *out, global s *p)
{
    int x = 1;
    out[0] = x->a;          // error: member reference
    out[1] = p.a;           // error: member reference
    s v = {1};
    out[2] = v->a;          // error: member reference
}
