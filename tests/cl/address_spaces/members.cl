// Members of structures and unions have the address space of the object; only their pointees may have a qualifier.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
struct fine {
    global int *a;
    local int *b;
    constant int *c;
    private int *d;
    int *e;
};
struct wrong {
    global int a;        // error: field may not be qualified with an address space
    local int b;         // error: field may not be qualified with an address space
    constant int c;      // error: field may not be qualified with an address space
    private int d;       // error: field may not be qualified with an address space
};
union wrong_too {
    global float4 a;     // error: field may not be qualified with an address space
    int b;
};
