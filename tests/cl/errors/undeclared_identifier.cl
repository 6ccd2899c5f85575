// Undeclared names, each reported at its location.
kernel void f(global int *out)
{
    out[0] = missing;           // error: use of undeclared identifier 'missing'
    int x = 1;
    other = x;                  // error: use of undeclared identifier 'other'
    {
        int inner = 2;
        out[1] = inner;
    }
    out[2] = inner;             // error: use of undeclared identifier 'inner'
}
