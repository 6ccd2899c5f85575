// The same name twice in one scope.
int twice(int x) { return x; }
int twice(int x) { return x; }      // error: redefinition of 'twice'
kernel void f(global int *out)
{
    int a = 1;
    int a = 2;                      // error: redefinition of 'a'
    out[0] = a;
}
