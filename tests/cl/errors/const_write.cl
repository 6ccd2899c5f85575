// Writes to const objects.
constant int table[2] = {1, 2};
kernel void f(global const int *in, global int *out, const int n)
{
    in[0] = 1;              // error: assign
    n = 2;                  // error: assign
    const int x = 1;
    x++;                    // error: assign
    table[0] = 5;           // error: assign
    out[0] = 1;
}
