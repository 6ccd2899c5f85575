// Program-scope variables are constant in OpenCL C 1.x, whatever their type.
// build: -cl-std=CL1.0
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
constant int fine = 1;
static constant int fine_too = 2;
constant int *constant pointer = &fine;
constant char *constant text = "text";
const constant float values[] = {1.0f, 2.0f};
int plain = 1;                    // error: program scope variable must reside in constant address space
const int not_constant = 1;       // error: program scope variable must reside in constant address space
global int in_global;             // error: program scope variable must reside in constant address space
local int in_local;               // error: program scope variable must reside in constant address space
private int in_private = 1;       // error: program scope variable must reside in constant address space
static int in_static = 1;         // error: program scope variable must reside in constant address space
global int *bad_ptr;              // error: program scope variable must reside in constant address space
constant int *also_bad = &fine;   // error: program scope variable must reside in constant address space
constant int no_value;            // error: variable in constant address space must be initialized
