// A format must be known when the program is built.

kernel void k(constant char *fmt, int i)
{
    printf(fmt, i); // error: format of 'printf' must be a string literal in constant memory
    printf(i ? "a" : "b"); // error: format of 'printf' must be a string literal in constant memory
    printf(); // error: too few arguments to function call
}
