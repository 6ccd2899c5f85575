// Kernels return void.
kernel int f(global int *out)       // error: kernel must have void return type
{
    return 1;
}
