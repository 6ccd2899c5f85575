// A call of a function that is neither declared nor built in.
kernel void f(global int *out)
{
    out[0] = no_such_function(1);       // error: no_such_function
}
