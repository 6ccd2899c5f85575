// Pointers to all spaces are as large as size_t here (the specification lets them differ).
kernel void sizes(global uint *out, global int *g, local int *l, constant int *c)
{
    int x = 0;
    int *p = &x;
    out[0] = sizeof(g) == sizeof(size_t);
    out[1] = sizeof(l) == sizeof(size_t);
    out[2] = sizeof(c) == sizeof(size_t);
    out[3] = sizeof(p) == sizeof(size_t);
    out[4] = sizeof(global char *) == sizeof(uintptr_t);
    out[5] = sizeof(ptrdiff_t) == sizeof(size_t) && sizeof(g - g) == sizeof(size_t);
}
// run: sizes global=1
// arg out: uint[6]
// arg g: int[1]
// arg l: local 4
// arg c: int[1]
// expect out: 1
