// __constant: program-scope tables, with dynamic indices, as arguments, strings, structures, vectors.

constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
constant float weights[2][3] = {{0.25f, 0.5f, 0.25f}, {1, 2, 3}};
constant float4 corners[] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};
constant char text[] = "constant";
constant uchar bytes[5] = {250, 251, 252, 253, 254};
typedef struct { int key; float value; } entry;
constant entry entries[3] = {{1, 0.5f}, {2, 1.5f}, {3, 2.5f}};
constant int single = 42;
__constant const int base = 2 + 3 * 4;

int lookup(constant int *t, int k) { return t[k]; }

kernel void tables(global int *out, global float *f)
{
    int i = get_global_id(0);
    out[5 * i] = table[i] + lookup(table, 7 - i);
    out[5 * i + 1] = text[i];
    out[5 * i + 2] = bytes[i % 5];
    out[5 * i + 3] = single + base;
    out[5 * i + 4] = entries[i % 3].key;
    f[3 * i] = weights[i & 1][i % 3];
    f[3 * i + 1] = corners[i & 1].z + ((constant float *)corners)[i];
    f[3 * i + 2] = entries[i % 3].value;
}
// run: tables global=8
// arg out: int[40]
// arg f: float[24]
// expect out if i % 5 == 0: {9, _, _, _, _, 3, _, _, _, _, 13, _, _, _, _, 6, _, _, _, _, 6, _, _, _, _, 13, _, _, _, _, 3, _, _, _, _, 9, _, _, _, _}
// expect out if i % 5 == 1: {_, 99, _, _, _, _, 111, _, _, _, _, 110, _, _, _, _, 115, _, _, _, _, 116, _, _, _, _, 97, _, _, _, _, 110, _, _, _, _, 116, _, _, _}
// expect out if i % 5 == 2: 250 + i / 5 % 5
// expect out if i % 5 == 3: 56
// expect out if i % 5 == 4: 1 + i / 5 % 3
// expect f if i % 3 == 0: i / 3 % 2 ? 1 + i / 3 % 3 : (i / 3 % 3 == 1 ? 0.5 : 0.25)
// expect f if i % 3 == 1: 3 + 4 * (i / 3 % 2) + i / 3 + 1
// expect f if i % 3 == 2: 0.5 + i / 3 % 3

kernel void argument(constant float4 *c, constant int *n, global float *out)
{
    int i = get_global_id(0);
    float4 v = c[i % n[0]];
    out[i] = v.x + v.y * n[1];
}
// run: argument global=8
// arg c: float4[3] = i
// arg n: int[2] = {3, 10}
// arg out: float[8]
// expect out: c[i % 3 * 4] + c[i % 3 * 4 + 1] * 10
