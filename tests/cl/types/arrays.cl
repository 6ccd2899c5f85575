// Private arrays of one to three dimensions with dynamic indices, short initialisers, arrays of vectors.

kernel void dims(global int *out, int n)
{
    size_t i = get_global_id(0);
    int a[8] = {1, 2, 3};
    int b[3][4] = {{1, 2}, {3}, {4, 5, 6, 7}};
    int c[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    a[(i + n) % 8] += 100;
    b[i % 3][(i + 1) % 4] = -1;
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += a[k];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++)
            sum += 1000 * b[y][x];
    sum += 1000000 * c[i & 1][(i >> 1) & 1][(i >> 2) & 1];
    out[i] = sum;
}
// run: dims global=12
// arg out: int[12]
// arg n: int = 3
// expect out: {1025106, 5027106, 3020106, 7026106, 2027106, 6021106, 4027106, 8024106, 1022106, 5027106, 3027106, 7023106}

kernel void vectors(global const float4 *in, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 window[4];
    for (int k = 0; k < 4; k++)
        window[(k + i) % 4] = in[k];
    out[i] = window[0] + 10.0f * window[3];
}
// run: vectors global=4
// arg in: float4[4] = i
// arg out: float4[4]
// expect out: in[(4 - i / 4) % 4 * 4 + i % 4] + 10 * in[(7 - i / 4) % 4 * 4 + i % 4]

kernel void strings(global char *out)
{
    char text[] = "wgcl";
    char padded[8] = "ab";
    for (int k = 0; k < sizeof(text); k++)
        out[k] = text[k];
    for (int k = 0; k < 8; k++)
        out[5 + k] = padded[k];
}
// run: strings global=1
// arg out: char[13] = 1
// expect out: {119, 103, 99, 108, 0, 97, 98, 0, 0, 0, 0, 0, 0}
