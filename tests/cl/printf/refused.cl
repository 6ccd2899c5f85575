// A format that is not in the program's constant memory is rejected.

kernel void k(constant char *fmt, int i)
{
    printf(fmt, i); // error: format of 'printf' must be a string literal in constant memory
    char text[2] = "a";
    printf(text); // error: format of 'printf' must be a string literal in constant memory
    printf(); // error: too few arguments to function call
}
