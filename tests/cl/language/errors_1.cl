// Features of C99 that OpenCL C does not have, and errors of C99.
int implicit(void) { return undeclared_function(1); }    // error: implicit declaration of function 'undeclared_function'
implicit_int(int a) { return a; }                        // error: OpenCL C does not support implicit int
int old(a) int a; { return a; }                          // error: K&R style
int variadic(int a, ...) { return a; }                   // error: variadic arguments are not allowed
void pointers(void)
{
    int (*f)(int) = 0;                                   // error: pointers to functions are not allowed
    int a = 0;
    int restrict b;                                      // error: restrict requires a pointer
    register int c;                                      // error: does not support the 'register' storage class
    auto int d;                                          // error: does not support the 'auto' storage class
    long double e;                                       // error: 'long double' is reserved
    float _Complex g;                                    // error: complex numbers are not supported
    bool4 h;                                             // error: bool4
    int (^block)(void);                                  // error: blocks are not supported
    int *address = (int *)&pointers;                     // error: taking address of function is not allowed
    const int i = 1;
    i = 2;                                               // error: cannot assign to variable 'i' with const-qualified type
    goto nowhere;                                        // error: use of undeclared label 'nowhere'
}
kernel int x;                                            // error: '__kernel' attribute only applies to functions
