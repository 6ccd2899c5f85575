// A return value has no address space; the pointee of a returned pointer has one.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
local int *fine(local int *p) { return p; }
constant int *fine_too(constant int *p) { return p + 1; }
local int *const fine_as_well(local int *p) { return p; }
private int a(void) { return 1; }               // error: return type cannot be qualified with address space
global int b(void);                             // error: return type cannot be qualified with address space
local float4 c(void);                           // error: return type cannot be qualified with address space
local int *private d(local int *p) { return p; }  // error: return type cannot be qualified with address space
global int *global e(global int *p) { return p; } // error: return type cannot be qualified with address space
