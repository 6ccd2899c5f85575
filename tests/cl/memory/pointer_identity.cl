// Two arguments may be one buffer, or overlapping parts of one: their pointers compare like addresses.

kernel void compare(global int *a, global int *b, global int *c, global int *out)
{
    out[0] = a == b;
    out[1] = a != b;
    out[2] = a == c;
    out[3] = a + 1 == b + 1;
    out[4] = a + 1 == b;
    out[5] = a < b + 1;
    out[6] = a >= b;
    out[7] = a == out;
    out[8] = (a == b) == !(b != a);
    out[9] = a && b && c;
}
// run: compare global=1
// arg a: int[4]
// arg b: same a
// arg c: int[4]
// arg out: int[10]
// expect out: {1, 0, 0, 1, 0, 1, 1, 0, 1, 1}
// run: compare global=1
// arg a: int[4]
// arg b: int[4]
// arg c: same a
// arg out: int[10]
// expect out: {0, 1, 1, 0, 0, _, _, 0, 1, 1}

// `b` is the last half of `a`, `c` overlaps its middle.
kernel void parts(global int *a, global int *b, global int *c, global int *out)
{
    out[0] = a + 256 == b;
    out[1] = b - a;
    out[2] = c - a;
    out[3] = b == c + 128;
    out[4] = a < b;
    out[5] = c > b;
    out[6] = a[256] == *b && c[128] == *b;
    *(c + 128) = 77;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[7] = *b;
}
// run: parts global=1
// arg a: int[512] = i
// arg b: same a[256, 256]
// arg c: same a[128, 256]
// arg out: int[8]
// expect a: i == 256 ? 77 : i
// expect out: {1, 256, 128, 1, 1, 0, 1, 77}

// A pointer chosen at run time against a fixed one.
kernel void chosen(global int *a, global int *b, global int *c, int which, global int *out)
{
    global int *p = which == 0 ? a : which == 1 ? b : c;
    out[0] = p == a;
    out[1] = p == b;
    out[2] = p == c;
    out[3] = *p;
    out[4] = p == 0;
    out[5] = p < p + 1;
}
// run: chosen global=1
// arg a: int[2] = 5
// arg b: int[2] = 6
// arg c: same a
// arg which: int = 2
// arg out: int[6]
// expect out: {1, 0, 1, 5, 0, 1}
// run: chosen global=1
// arg a: int[2] = 5
// arg b: int[2] = 6
// arg c: int[2] = 7
// arg which: int = 1
// arg out: int[6]
// expect out: {0, 1, 0, 6, 0, 1}
