// Known formats are checked against the arguments, also where several are possible.

constant char *constant variable = "%d\n";

void helper(constant char *format, float x) { printf(format, x); }

kernel void k(int i, float f, global const int *in)
{
    printf(variable, f); // warning: format specifies type 'int' but the argument has type 'float'
    printf(i ? "%d\n" : "%f\n", i); // warning: format specifies type 'double' but the argument has type 'int'
    printf("x%d\n" + 1, f); // warning: format specifies type 'int' but the argument has type 'float'
    printf(in); // error: format of 'printf' must be a string literal in constant memory
    helper("%f\n", f);
}
