// Invalid declarations at program scope since OpenCL C 2.0.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
global int baz = 12;
constant int *global ptr = &baz;     // error: changes address space of pointer
local int in_local;                  // error: program scope variable must reside in global or constant address space
private int in_private;              // error: program scope variable must reside in global or constant address space
generic int in_generic;              // error: program scope variable must reside in global or constant address space
constant int no_value;               // error: variable in constant address space must be initialized
global int from_variable = baz;      // error: initializer element is not a compile-time constant
int f(void) { return 1; }
global int from_call = f();          // error: initializer element is not a compile-time constant
global event_t ev;                   // error: cannot be used to declare a program scope variable
global int *global bad = (local int *)0 + 1;   // error: changes address space of pointer
