// Invalid program-scope variables in global memory, on devices that have them.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
global int baz = 12;
global int *global ok = &baz;
constant int *global ptr = &baz;    // error: changes address space
global event_t ev;                  // error: cannot be used to declare a program scope variable
local int lv;                       // error: must reside in global or constant address space
private int pv;                     // error: must reside in global or constant address space
global int run_time = *ok;          // error: constant
kernel void f(global int *out)
{
    static int kept = 3;
    static int bad = out[0];        // error: constant
    global int gx;                  // error: global address space
    static local int sl;            // error: must reside in global or constant address space
    out[0] = kept++ + baz;
}
