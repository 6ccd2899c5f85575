// return with and without a value in functions of the other kind.
typedef struct { int a; } s;
int number(void)
{
    s v = {1};
    return v;                   // error: returning
}
kernel void f(global int *out)
{
    out[0] = number();
    return 1;                   // error: should not return a value
}
