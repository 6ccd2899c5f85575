// `const` makes global memory read-only for a kernel.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
struct s { int a; int b[2]; };
void writes(global int *p) { *p = 1; }
kernel void k(global const int *p, const global struct s *q, global int *const r, global const float4 *v)
{
    r[0] = p[0] + q->a;
    p[0] = 1;             // error: read-only
    *p = 1;               // error: read-only
    p[1]++;               // error: read-only
    q->a = 1;             // error: read-only
    q->b[1] = 1;          // error: read-only
    v->x = 1;             // error: read-only
    r = 0;                // error: cannot assign to variable 'r'
    writes(p);            // warning: discards qualifiers
    global int *x = p;    // warning: discards qualifiers
}
