// Private arrays of constants, read-only or not, used directly and through pointers, in helpers and in loops.

int look(const int *t, int i)
{
    return t[i & 15];
}

int own(int i)
{
    const uchar t[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
    return t[i & 15];
}

kernel void looked_up(global const int *in, global const int *digits, global int *out)
{
    int i = get_global_id(0);
    const int t[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };
    int s = 0;
    for (int k = 0; k < 3; ++k) {
        const float f[8] = { 0, 0.5f, 1, 1.5f, 2, -2.5f, 3, 3.5f };
        s += (int)(2 * f[(i + k) & 7]);
    }
    out[3 * i] = look(t, in[i]) + t[3];
    out[3 * i + 1] = own(i) - digits[i & 15];
    out[3 * i + 2] = s;
}
// run: looked_up global=64
// arg in: int[64] = i * 7
// arg digits: int[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}
// arg out: int[192]
// expect out if i % 3 == 0: (i / 3 * 7 % 16) * (i / 3 * 7 % 16) + 9
// expect out if i % 3 == 1: 0
// expect out if i % 3 == 2: sum(k, i / 3, i / 3 + 3, k % 8 == 5 ? -5 : k % 8)

kernel void written(global int *out)
{
    int i = get_global_id(0);
    int t[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };
    int u[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };
    int *p = i & 1 ? t : u;
    p[i & 15] = -1;
    struct { char c; short s; } v[8] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, { 9, 10 }, { 11, 12 }, { 13, 14 }, { 15, 16 } };
    v[i & 7].c = i;
    float4 w[4] = { (float4)(1, 2, 3, 4), (float4)(5), (float4)(6, 7, 8, 9), (float4)(1) };
    float4 x[8] = { (float4)(1, 2, 3, 4), (float4)(5), (float4)(6, 7, 8, 9), (float4)(1), (float4)(1, 2, 3, 4), (float4)(5), (float4)(6, 7, 8, 9), (float4)(1) };
    out[4 * i] = t[i & 15] + t[(i + 1) & 15];
    out[4 * i + 1] = u[i & 15];
    out[4 * i + 2] = v[i & 7].c + v[i & 7].s + v[(i + 1) & 7].c;
    out[4 * i + 3] = w[i & 3].y + 100 * x[i & 7].w;
}
// run: written global=32
// arg out: int[128]
// expect out if i % 4 == 0: (i / 4 % 2 ? -1 : (i / 4 % 16) * (i / 4 % 16)) + ((i / 4 + 1) % 16) * ((i / 4 + 1) % 16)
// expect out if i % 4 == 1: i / 4 % 2 ? (i / 4 % 16) * (i / 4 % 16) : -1
// expect out if i % 4 == 2: i / 4 + (i / 4 % 8) * 2 + 2 + ((i / 4 + 1) % 8) * 2 + 1
// expect out if i % 4 == 3: (i / 4 % 4 == 0 ? 2 : i / 4 % 4 == 1 ? 5 : i / 4 % 4 == 2 ? 7 : 1) + 100 * (i / 4 % 4 == 0 ? 4 : i / 4 % 4 == 1 ? 5 : i / 4 % 4 == 2 ? 9 : 1)

// Mostly zeros, with a string among them.
kernel void sparse(global int *out)
{
    int i = get_global_id(0);
    int t[2048] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, i };
    char s[600] = "abcdefghijklmnop";
    out[4 * i] = t[i] + t[9];
    out[4 * i + 1] = s[i];
    t[i + 3] = 5;
    s[i + 1] = 'z';
    out[4 * i + 2] = t[i + 3] + t[i + 100];
    out[4 * i + 3] = s[i + 1] + s[i + 2];
}
// run: sparse global=20
// arg out: int[80]
// expect out if i % 4 == 0: (i / 4 < 9 ? i / 4 + 1 : i / 4 == 9 ? 9 : 0) + i / 4
// expect out if i % 4 == 1: i / 4 < 16 ? 97 + i / 4 : 0
// expect out if i % 4 == 2: 5
// expect out if i % 4 == 3: 122 + (i / 4 + 2 < 16 ? 99 + i / 4 : 0)
