// Loops and branches update indices of private arrays while the element is in use: swaps of adjacent elements, sums of
// adjacent elements, random draws from a buffer, two ends that meet, steps that stop at the end.
// for: T = int, float, long, uchar

// Advances to the next element before it stores to this one.
kernel void change_places(global const T *in, global T *out)
{
    size_t id = get_global_id(0);
    T h[36];
    for (int i = 0; i < 36; i++) h[i] = in[36 * id + i];
    for (int i = 0; i < 35; i++) {
        T t = h[i];
        h[i] = h[i + 1];
        h[i + 1] = t;
    }
    for (int i = 0; i < 36; i++) out[36 * id + i] = h[i];
}
// run: change_places global=20 local=10
// arg in: $T[720] = rand(0, 100)
// arg out: $T[720]
// expect out: in[i - i % 36 + (i + 1) % 36]

kernel void neighbours(global const T *in, global T *out, int n)
{
    size_t id = get_global_id(0);
    T h[40];
    for (int i = 0; i < 40; i++) h[i] = in[40 * id + i];
    T before = h[39];
    int i = 0;
    do {
        T t = h[i];
        h[i] = before + h[i + 1];
        before = t;
    } while (++i < 39);
    // With unknown length as well.
    for (int j = 1; j <= n; j++) {
        T t = h[j - 1];
        h[j - 1] = h[j];
        h[j] = t;
    }
    for (int j = 0; j < 40; j++) out[40 * id + j] = h[j];
}
// run: neighbours global=8 local=8
// arg in: $T[320] = rand(0, 100)
// arg out: $T[320]
// arg n: int = 39
// expect out if i % 40 < 38: in[i] + in[i + 2]
// expect out if i % 40 == 38: in[i + 1]
// expect out if i % 40 == 39: in[i] + in[i - 38]

struct stream {
    union { uint words[8]; T parts[8]; } buffer;
    uint key;
    int at;
};

uint draw(struct stream *s)
{
    if (s->at == 8) {
        s->key += 8;
        for (int i = 0; i < 8; i++) s->buffer.words[i] = (s->key + i) * 2654435761u;
        s->at = 0;
    }
    int now = s->at;
    s->at += 1;
    return s->buffer.words[now];
}

// Number n is (n + 8) * 2654435761. The middle one of three drawn in each iteration decides whether to continue.
kernel void draw_until(global uint *out)
{
    size_t id = get_global_id(0);
    struct stream s;
    s.key = 0;
    s.at = 8;
    uint sum = 0;
    for (;;) {
        sum += draw(&s);
        uint stop = draw(&s);
        sum ^= draw(&s);
        if (stop >> 27 == id) break;
    }
    out[2 * id] = sum;
    out[2 * id + 1] = draw(&s);
}
// run: draw_until global=16 local=16
// arg out: uint[32]
// expect out: {
//   2984537762, 1091988333, 3523316002, 1274836067, 401020960, 1366259934, 2501220188, 1549107668,
//   3917369126, 1627191775, 4045159042, 1810039509, 242183232, 1901463376, 4130872544, 2084311110,
//   2841414334, 2175734977, 3643314982, 2345242951, 2876972516, 2436666818, 1517529760, 2619514552,
//   2259085122, 2710938419, 2736941568, 2802362286, 2207735932, 2971870260, 45169156, 3154717994
// }

// Both ends of a range to reverse are carried, in one variable each.
kernel void reversed(global const T *in, global T *out)
{
    size_t id = get_global_id(0);
    T h[48];
    for (int i = 0; i < 48; i++) h[i] = in[48 * id + i];
    for (int i = 0, j = 47; i < j; i++, j--) {
        T t = h[i];
        h[i] = h[j];
        h[j] = t;
    }
    for (int i = 0; i < 48; i++) out[48 * id + i] = h[i];
}
// run: reversed global=8 local=8
// arg in: $T[384] = rand(0, 100)
// arg out: $T[384]
// expect out: in[i - i % 48 + 47 - i % 48]

// Two steps in an iteration, neither of them beyond the end.
kernel void stop_at_end(global int *out, uint n)
{
    int h[48];
    for (int i = 0; i < 48; i++) h[i] = i * 37 % 50;
    uint at = 0;
    for (uint k = 0; k < n; k++) {
        int t = h[at];
        at = min(at + 1, 47u);
        int u = h[at];
        h[at] = t;
        at = min(at + 1, 47u);
        h[at - 1] = t + h[at] - u;
    }
    for (int i = 0; i < 48; i++) out[i] = h[i];
}
// run: stop_at_end global=1 local=1
// arg out: int[48]
// arg n: uint = 40
// expect out: {
//   0, -13, 24, 61, 48, 35, 22, 59, 46, 33, 20, 57, 44, 31, 18, 55,
//   42, 29, 16, 53, 40, 27, 14, 51, 38, 25, 12, -1, 36, 23, 10, -3,
//   34, 21, 8, -5, 32, 19, 6, -7, 30, 17, 4, -9, 28, 15, 2, 2
// }
