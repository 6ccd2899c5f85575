// A caller copies a structure argument. The result has a hidden pointer. A kernel reads its parameter in place.
typedef struct {
    int a;
    float4 v;
} Pair;

Pair twice(Pair p)
{
    p.a *= 2;
    return p;
}

kernel void k(global Pair *out, Pair p)
{
    out[0] = twice(p);
    out[1].v.xy = p.v.zw;
    out[1].a = p.a;
}
