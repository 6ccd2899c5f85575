// goto into loops, branches and switches, Duff's device, and barriers around all of it.

kernel void into_loop(global int *out)
{
    int i = get_global_id(0), s = 0, k = 0;
    if (i & 1) goto middle;
    for (k = 0; k < 5; k++) {
        s += 10;
middle:
        s += 1;
    }
    out[i] = s;
}
// run: into_loop global=4
// arg out: int[4]
// expect out: i % 2 ? 45 : 55

kernel void into_branch(global int *out)
{
    int i = get_global_id(0), s = 0;
    if (i == 2) goto inside;
    if (i > 0) {
        s = 10;
inside:
        s += 1;
    } else {
        s = 5;
    }
    out[i] = s;
}
// run: into_branch global=4
// arg out: int[4]
// expect out: {5, 11, 1, 11}

kernel void duff(global const int *a, global int *out, local int *sum)
{
    int i = get_global_id(0), n = a[i], k = 0;
    sum[i] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = sum[(i + 1) % 8];
    int iterations = (n + 3) / 4;
    switch (n % 4) {
    case 0: do { k += 1;
    case 3:      k += 10;
    case 2:      k += 100;
    case 1:      k += 1000;
            } while (--iterations > 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum[i] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = before * sum[(i + 1) % 8];
}
// run: duff global=8 local=8
// arg a: int[8] = i + 1
// arg out: int[8]
// arg sum: local 32
// expect out: {1100, 1110, 1111, 2111, 2211, 2221, 2222, 1000}

kernel void crossing(global int *out)
{
    int i = get_global_id(0), s = 0;
    if (i == 1) goto b;
a:  s += 1;
b:  s += 10;
    if (s < 40) goto a;
    if (s < 100) { s += 50; goto b; }
    out[i] = s;
}
// run: crossing global=2
// arg out: int[2]
// expect out: {104, 103}

kernel void cases_in_blocks(global int *out)
{
    int i = get_global_id(0), s = 0;
    switch (i) {
    case 0:
        s += 1;
        {
    case 1:
            s += 10;
            if (i == 0) break;
    default:
            s += 100;
        }
    case 2:
        while (s < 500) {
            s += 200;
    case 3:
            s += 50;
        }
    }
    out[i] = s;
}
// run: cases_in_blocks global=6
// arg out: int[6]
// expect out: {11, 610, 500, 550, 600, 600}
