// Invalid blocks and enqueued kernels.
// build: -cl-std=CL3.0
int constant seven = 7;
int (^program)(int) = ^(int n) { return n * seven; };
typedef int (^unary)(int);
struct s { unary member; }; // error: 'int (^)(int)'
int (^uninitialized)(int); // error: invalid block variable declaration - must be initialized
extern unary elsewhere; // error: invalid block variable declaration - using 'extern' storage class is disallowed
unary returns(void); // error: declaring function return value of type 'int (^)(int)' is not allowed
int takes(unary block); // error: declaring function parameter of type 'int (^)(int)' is not allowed
int (^variadic)(int, ...) = 0; // error: invalid block prototype, variadic arguments are not allowed in OpenCL
kernel void k(global int *out, local int *memory, ndrange_t range) { } // error: 'ndrange_t' cannot be used as the type of a kernel parameter
kernel void l(clk_event_t event) { } // error: 'clk_event_t' cannot be used as the type of a kernel parameter
global queue_t queue; // error: the 'queue_t' type cannot be used to declare a program scope variable
kernel void m(global int *out, queue_t queue) {
    int x = 1;
    unary own = ^(int n) { return n + x; };
    unary other = own;
    own = other; // error: cannot assign to a block variable: it is const
    unary *pointer; // error: pointer to type 'int (^)(int)' is invalid in OpenCL
    unary many[2]; // error: array has incomplete element type 'int (^)(int)'
    unary chosen = x ? own : other; // error: can only be called, enqueued, or used to initialize a block variable // error: can only be called, enqueued, or used to initialize a block variable
    out[0] = sizeof(own); // error: 'int (^)(int)'
    out[1] = *own; // error: can only be called, enqueued, or used to initialize a block variable
    out[2] = (int)&own; // error: taking address of a block is not allowed
    unary writes = ^(int n) { x = n; return x; }; // error: cannot assign to variable 'x' with const-qualified type 'const int'
    unary inner = ^(int n) { return own(n); }; // error: cannot refer to a block inside block
    unary wrong = ^(float f) { return 1; }; // error: initializing 'int (^)(int)' with an expression of incompatible type 'int (^)(float)'
    unary two = ^(int n) { if (n) return n; return 1.0f; }; // error: return type 'float' must match previous return type 'int'
    void (^nothing)(void) = ^{ out[3] = program(x); };
    ndrange_t range = ndrange_1D(4);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, nothing);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, own); // error: enqueued block must return 'void'
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, nothing, 4); // error: mismatch in number of block parameters and local size arguments passed
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, ^(local void *p) { }, 4u);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, ^(local int *p) { }, 4u); // error: blocks used in enqueue_kernel call are expected to have parameters of type 'local void*'
    enqueue_kernel(out, CLK_ENQUEUE_FLAGS_NO_WAIT, range, nothing); // error: expected 'queue_t' argument type
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT); // error: too few arguments to function call
    event_t copied = 0;
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, ^{ event_t own = copied; }); // error: enqueued block cannot capture a variable of type 'event_t'
    clk_event_t event = create_user_event();
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, 1, &event, &event, nothing);
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, range, 1, &event, &event, out); // error: expected block argument
    size_t sizes[2] = {4, 4};
    range = ndrange_2D(sizes, sizes);
    range = ndrange_2D(4); // error: to a parameter of type 'const size_t[2]'
    out[4] = event + 1; // error: invalid operands
}
