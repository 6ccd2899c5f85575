// void is no value and no type of a variable.
void nothing(void) { }
kernel void f(global int *out)
{
    out[0] = nothing();         // error: 'void'
    void x;                     // error: incomplete type 'void'
}
