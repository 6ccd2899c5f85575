// Pointers chosen at run time: by ?:, by if, in a loop, among arguments, passed to helpers.

int load(global const int *p, int k) { return p[k]; }

kernel void choose(global const int *a, global const int *b, global int *out, int flip)
{
    int i = get_global_id(0);
    global const int *p = (i & 1) ? a : b;
    int s = p[i];
    if (flip) p = b + 1;
    s += load(p, i);
    out[i] = s;
}
// run: choose global=8
// arg a: int[16] = i
// arg b: int[16] = i * 100
// arg out: int[8]
// arg flip: int = 0
// expect out: i % 2 ? 2 * a[i] : 2 * b[i]
// run: choose global=8
// arg a: int[16] = i
// arg b: int[16] = i * 100
// arg out: int[8]
// arg flip: int = 1
// expect out: (i % 2 ? a[i] : b[i]) + b[i + 1]

kernel void ping_pong(global int *a, global int *b, int n)
{
    int i = get_global_id(0);
    global int *from = a, *to = b;
    for (int k = 0; k < n; k++) {
        to[i] = from[i] + 1;
        global int *t = from;
        from = to;
        to = t;
    }
}
// run: ping_pong global=4
// arg a: int[4] = i * 10
// arg b: int[4]
// arg n: int = 5
// expect a: i * 10 + 4
// expect b: i * 10 + 5

kernel void store(global int *a, global int *b, global const int *which)
{
    int i = get_global_id(0);
    *(which[i] ? &a[i] : &b[i]) = i + 1;
}
// run: store global=8
// arg a: int[8]
// arg b: int[8]
// arg which: int[8] = {1, 0, 0, 1}
// expect a: which ? i + 1 : 0
// expect b: which ? 0 : i + 1

kernel void private_choice(global int *out)
{
    int i = get_global_id(0);
    int a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
    int *p = (i & 1) ? a : b;
    p[i & 3] += 100;
    out[i] = a[i & 3] + b[i & 3];
}
// run: private_choice global=4
// arg out: int[4]
// expect out: (i + 1) * 11 + 100
