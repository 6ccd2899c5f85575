// Local variables are declared in the outermost block of a kernel and have no initial value.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
void f(void)
{
    local float a;                // error: non-kernel function variable cannot be declared in local address space
}
void g(local float *fine) {}
kernel void k(global float *out, local float *argument, int x)
{
    local float a = 1;            // error: '__local' variable cannot have an initializer
    local int list[2] = {1, 2};   // error: '__local' variable cannot have an initializer
    local float b;
    local float c[4];
    local struct { int x; float y; } s;
    local float *in_private = &b;
    private float *local pointer;
    b = 1;
    c[0] = b;
    s.x = 1;
    g(argument);
    g(c);
    if (x) {
        local float inner;        // error: variables in the local address space can only be declared in the outermost scope of a kernel
    }
    for (int i = 0; i < 2; ++i) {
        local float looped;       // error: variables in the local address space can only be declared in the outermost scope of a kernel
    }
    {
        local float block;        // error: variables in the local address space can only be declared in the outermost scope of a kernel
    }
    global int not_here;          // error: function scope variable cannot be declared in global address space
    out[0] = b + *in_private;
}
