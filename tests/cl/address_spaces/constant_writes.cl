// Writes to constant memory are errors.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
struct s { int a; int b[2]; };
constant int one = 1;
constant int many[2] = {1, 2};
constant struct s whole = {1, {2, 3}};
kernel void k(constant int *p, constant struct s *q, constant float4 *v)
{
    one = 2;              // error: cannot assign to variable 'one' in '__constant' address space
    one++;                // error: cannot assign to variable 'one' in '__constant' address space
    many[0] = 2;          // error: read-only
    *many = 2;            // error: read-only
    whole.a = 2;          // error: read-only
    whole.b[0]++;         // error: read-only
    whole = whole;        // error: cannot assign to variable 'whole' in '__constant' address space
    p[0] = 1;             // error: read-only
    *p += 1;              // error: read-only
    --p[1];               // error: read-only
    q->a = 1;             // error: read-only
    q->b[1] = 2;          // error: read-only
    v->x = 1;             // error: read-only
    v[0].xy = 1;          // error: read-only
    p++;
}
