// String literals are in constant memory.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
constant char *constant at_program_scope = "abc";
kernel void k(global int *out)
{
    constant char *fine = "abc";
    char copy[] = "abc";
    const constant char *also_fine = &"abc"[1];
    char *a = "abc";                // error: changes address space of pointer
    const char *b = "abc";          // error: changes address space of pointer
    global char *c = "abc";         // error: changes address space of pointer
    local char *d = "abc";          // error: changes address space of pointer
    private char *e = "abc";        // error: changes address space of pointer
    fine[0] = 'x';                  // error: read-only
    copy[0] = 'x';
    out[0] = fine[1] + also_fine[0] + copy[2];
}
