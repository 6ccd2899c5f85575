// . and -> on operands that have no members or are not pointers.
typedef struct { int a; } s;
kernel void f(global int *out, global s *p)
{
    int x = 1;
    out[0] = x->a;          // error: member reference
    out[1] = p.a;           // error: member reference
    s v = {1};
    out[2] = v->a;          // error: member reference
}
