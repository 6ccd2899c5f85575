// Options disable a group of warnings, or report its warnings as errors. unused-value contains unused-comparison.
// build: -Wno-unused-value -Werror=parentheses -Wno-error=empty-body
kernel void f(global int *out, int n)
{
    n + 1;
    if (n = 3) // error: using the result of an assignment as a condition without parentheses
        out[0] = 1;
    if (n > 3); // warning: if statement has empty body
    out[1] == 2;
}
