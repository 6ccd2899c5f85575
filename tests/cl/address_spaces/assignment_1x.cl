// In OpenCL C 1.x pointers are assigned within one address space; without a qualifier they point to private memory.
// build: -cl-std=CL1.0
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
void takes_private(int *p) {}
void takes_local(local int *p) {}
int *returns(global int *p)
{
    return p;                       // error: changes address space of pointer
}
kernel void k(global int *g, local int *l, constant int *c, int x)
{
    int p;
    int *q = &p;
    private int *r = q;
    q = g;                          // error: assigning '__global int *' to '__private int *' changes address space of pointer
    q = l;                          // error: assigning '__local int *' to '__private int *' changes address space of pointer
    q = c;                          // error: assigning '__constant int *' to '__private int *' changes address space of pointer
    g = l;                          // error: assigning '__local int *' to '__global int *' changes address space of pointer
    g = c;                          // error: assigning '__constant int *' to '__global int *' changes address space of pointer
    c = g;                          // error: assigning '__global int *' to '__constant int *' changes address space of pointer
    l = &p;                         // error: assigning '__private int *' to '__local int *' changes address space of pointer
    void *v = g;                    // error: changes address space of pointer
    takes_private(g);               // error: passing '__global int *' to parameter of type '__private int *' changes address space of pointer
    takes_local(g);                 // error: passing '__global int *' to parameter of type '__local int *' changes address space of pointer
    int **pp = &g;                  // error: changes address space of nested pointer
    int y = *(x ? g : l);           // error: pointers to non-overlapping address spaces
    y = g == c;                     // error: pointers to non-overlapping address spaces
    y = l < g;                      // error: pointers to non-overlapping address spaces
    y = g - l;                      // error: invalid operands
    g = 0;
    l = NULL;
    *r = y;
}
