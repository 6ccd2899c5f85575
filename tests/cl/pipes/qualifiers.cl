// The qualifiers of a pipe parameter in every order; packet types named by typedefs.
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

typedef unsigned long Wide;
typedef read_only pipe uint Input;
typedef enum { ONE = 1, TWO } Number;

kernel void put(__write_only pipe unsigned int a, const volatile write_only pipe Wide b, unsigned pipe char write_only c, write_only pipe Number d)
{
    unsigned x = 1;
    Wide y = 2;
    uchar z = 3;
    Number n = TWO;
    write_pipe(a, &x);
    write_pipe(b, &y);
    write_pipe(c, &z);
    write_pipe(d, &n);
}

kernel void take(Input a, pipe ulong const b, __read_only pipe uchar c, pipe Number d, global ulong *found)
{
    unsigned x;
    Wide y;
    uchar z;
    Number n;
    if (read_pipe(a, &x) == 0) found[0] = x;
    if (read_pipe(b, &y) == 0) found[1] = y;
    if (read_pipe(c, &z) == 0) found[2] = z;
    if (read_pipe(d, &n) == 0) found[3] = n;
}
// run: put global=1
// arg a: pipe uint[1]
// arg b: pipe ulong[1]
// arg c: pipe uchar[1]
// arg d: pipe uint[1]
// run: take global=1
// arg a: same a
// arg b: same b
// arg c: same c
// arg d: same d
// arg found: ulong[4]
// expect found: {1, 2, 3, 2}
