// Vector comparisons give 0 or -1 in a signed integer lane of the operand's width.
// for: N = 2, 3, 4, 8, 16
// build: -DLOAD=vload$N -DSTORE=vstore$N -DI=int$N -DF=float$N -DC=char$N -DU=uchar$N

kernel void ints(global const int *a, global const int *b, global int *out)
{
    I x = LOAD(0, a), y = LOAD(0, b);
    STORE(x < y, 0, out);
    STORE(x > y, 1, out);
    STORE(x <= y, 2, out);
    STORE(x >= y, 3, out);
    STORE(x == y, 4, out);
    STORE(x != y, 5, out);
}
// run: ints global=1
// arg a: int[$N] = {1, 2, 3, -4, 5}
// arg b: int[$N] = {1, 3, 2, 4}
// arg out: int[$N * 6]
// expect out if i / $N == 0: -(a[i % $N] < b[i % $N])
// expect out if i / $N == 1: -(a[i % $N] > b[i % $N])
// expect out if i / $N == 2: -(a[i % $N] <= b[i % $N])
// expect out if i / $N == 3: -(a[i % $N] >= b[i % $N])
// expect out if i / $N == 4: -(a[i % $N] == b[i % $N])
// expect out if i / $N == 5: -(a[i % $N] != b[i % $N])

kernel void floats(global const float *a, global const float *b, global int *out)
{
    F x = LOAD(0, a), y = LOAD(0, b);
    STORE(x < y, 0, out);
    STORE(x >= y, 1, out);
    STORE(x == y, 2, out);
    STORE(x != y, 3, out);
}
// run: floats global=1
// arg a: float[$N] = {1.5, nan, 3, -4, inf}
// arg b: float[$N] = {1.5, nan, 2.5, 4}
// arg out: int[$N * 4]
// expect out if i / $N == 0: -(a[i % $N] < b[i % $N])
// expect out if i / $N == 1: -(a[i % $N] >= b[i % $N])
// expect out if i / $N == 2: -(a[i % $N] == b[i % $N])
// expect out if i / $N == 3: -(a[i % $N] != b[i % $N])

kernel void bytes(global const uchar *a, global const uchar *b, global char *out)
{
    U x = LOAD(0, a), y = LOAD(0, b);
    C less = x < y;
    STORE(less, 0, out);
    STORE(!x, 1, out);
    STORE(x && y, 2, out);
    STORE(x || y, 3, out);
}
// run: bytes global=1
// arg a: uchar[$N] = {0, 200, 100, 3}
// arg b: uchar[$N] = {1, 100, 0}
// arg out: char[$N * 4]
// expect out if i / $N == 0: -(a[i % $N] < b[i % $N])
// expect out if i / $N == 1: -(a[i % $N] == 0)
// expect out if i / $N == 2: -(a[i % $N] && b[i % $N])
// expect out if i / $N == 3: -(a[i % $N] || b[i % $N])
