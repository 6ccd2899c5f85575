// Invalid kernels, and attributes in invalid positions.
kernel int returns(global int *p) { return 1; }                                  // error: kernel must have void return type
static kernel void hidden(void) {}                                               // error: kernel functions cannot be declared static
kernel void main(void) {}                                                        // error: kernel cannot be called 'main'
__attribute__((reqd_work_group_size(1, 1, 1))) void helper(void) {}              // error: can only be applied to an OpenCL kernel function
kernel __attribute__((reqd_work_group_size(1, 1))) void two(void) {}             // error: requires exactly 3 arguments
kernel __attribute__((reqd_work_group_size(0, 1, 1))) void none(void) {}         // error: must be greater than 0
kernel __attribute__((vec_type_hint(struct s))) void hint(void) {}               // error: expecting a vector or vectorizable scalar type
typedef int vector __attribute__((vector_size(16)));                             // error: attribute 'vector_size' is not supported
typedef int five __attribute__((ext_vector_type(5)));                            // error: 'ext_vector_type' requires
int O(int x) { return 1; }
float O(float x) { return 2; }                                                   // error: conflicting types for 'O'
__attribute__((overloadable)) int f(long x) { return 1; }
__attribute__((overloadable)) int f(float x) { return 2; }
int ambiguous(void) { return f(1); }                                             // error: call to 'f' is ambiguous
int recursive(int n) { return n ? recursive(n - 1) : 0; }                        // error: recursion is not supported
void unroll(void)
{
    __attribute__((opencl_unroll_hint(-1))) for (;;) ;                           // error: requires a positive integral compile time constant
}
