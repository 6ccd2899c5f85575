// void is neither a value nor a type of variables.
void nothing(void) { }
kernel void f(global int *out)
{
    out[0] = nothing();         // error: 'void'
    void x;                     // error: incomplete type 'void'
}
