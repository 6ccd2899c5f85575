// A format in a kernel argument is found after inlining.
// error anywhere: a printf format in a kernel argument is not supported

void helper(constant char *format, int x) { printf(format, x); }

kernel void k(constant char *text, int i)
{
    constant char *format = i ? text : "%d\n";
    helper(format, i);
}
