// Since OpenCL C 2.0 a generic pointer accepts any pointer but one to constant memory; the reverse needs a cast.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
void takes_generic(int *p) {}
void takes_local(local int *p) {}
kernel void k(global int *g, local int *l, constant int *c, int x)
{
    int p;
    int *q = &p;
    private int *r = &p;
    q = g;
    q = l;
    q = r;
    takes_generic(g);
    takes_generic(l);
    takes_generic(&p);
    q = x ? q : g;
    x = q == g;
    q = c;                          // error: assigning '__constant int *' to '__generic int *' changes address space of pointer
    c = q;                          // error: assigning '__generic int *' to '__constant int *' changes address space of pointer
    g = q;                          // error: assigning '__generic int *' to '__global int *' changes address space of pointer
    l = q;                          // error: assigning '__generic int *' to '__local int *' changes address space of pointer
    r = q;                          // error: assigning '__generic int *' to '__private int *' changes address space of pointer
    g = l;                          // error: changes address space of pointer
    g = c;                          // error: changes address space of pointer
    takes_generic(c);               // error: passing '__constant int *' to parameter of type '__generic int *' changes address space of pointer
    takes_local(q);                 // error: passing '__generic int *' to parameter of type '__local int *' changes address space of pointer
    x = *(x ? g : l);               // error: pointers to non-overlapping address spaces
    x = g == l;                     // error: pointers to non-overlapping address spaces
    x = q == c;                     // error: pointers to non-overlapping address spaces
    int **pp = &g;                  // error: changes address space of nested pointer
}
