// -U removes a macro of the command line.
// build: -DKEPT=1 -DGONE -UGONE -D SPACED=2 -U SPACED

kernel void undefined(global int *out)
{
#if defined(KEPT) && !defined(GONE) && !defined(SPACED)
    out[0] = 1;
#endif
}
// run: undefined global=1
// arg out: int[1]
// expect out: 1
