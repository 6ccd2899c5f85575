// Casts between generic and named spaces are valid in both directions, but never to or from constant.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
kernel void k(global int *g, local int *l, constant int *c)
{
    int p;
    int *q = (int *)g;
    q = (generic int *)l;
    g = (global int *)q;
    l = (local int *)q;
    private int *r = (private int *)q;
    g = to_global(q);
    l = to_local(q);
    r = to_private(q);
    q = (int *)c;                   // error: casting '__constant int *' to type '__generic int *' changes address space of pointer
    c = (constant int *)q;          // error: casting '__generic int *' to type '__constant int *' changes address space of pointer
    g = (global int *)l;            // error: casting '__local int *' to type '__global int *' changes address space of pointer
    l = (local int *)&p;            // error: casting '__private int *' to type '__local int *' changes address space of pointer
    c = (constant int *)g;          // error: casting '__global int *' to type '__constant int *' changes address space of pointer
    to_global(c);                   // error: no matching function for call to 'to_global'
    get_fence(c);                   // error: no matching function for call to 'get_fence'
}
