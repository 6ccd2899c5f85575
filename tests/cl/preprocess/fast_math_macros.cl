// Math options such as -cl-fast-relaxed-math define macros.
// build: -cl-fast-relaxed-math
// build: -cl-finite-math-only -cl-unsafe-math-optimizations -cl-fast-relaxed-math -cl-mad-enable -cl-no-signed-zeros
// build: -cl-std=CL1.2 -cl-opt-disable -cl-fast-relaxed-math -cl-denorms-are-zero -cl-single-precision-constant -w

kernel void defined_macros(global float *out)
{
#ifdef __FAST_RELAXED_MATH__
    out[0] = 1;
#endif
    out[1] = 2.5f * out[1];
}
// run: defined_macros global=1
// arg out: float[2] = 2
// expect out: {1, 5}
