// A cast cannot change the named address space.
// build: -cl-std=CL1.2
kernel void k(global int *g, local int *l, constant int *c)
{
    int p;
    global float *fine = (global float *)g;
    constant char *fine_too = (constant char *)c;
    local int4 *fine_as_well = (local int4 *)l;
    uchar *bytes = (uchar *)&p;
    g = (global int *)l;            // error: casting '__local int *' to type '__global int *' changes address space of pointer
    c = (constant int *)g;          // error: casting '__global int *' to type '__constant int *' changes address space of pointer
    l = (local int *)&p;            // error: casting '__private int *' to type '__local int *' changes address space of pointer
    int *q = (int *)g;              // error: casting '__global int *' to type '__private int *' changes address space of pointer
    q = (int *)c;                   // error: casting '__constant int *' to type '__private int *' changes address space of pointer
    g = (global void *)l;           // error: casting
}
