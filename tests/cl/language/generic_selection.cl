// _Generic selects the association with the type of the first operand, which is not evaluated.

int of_int(int x) { return x + 1; }
float of_float(float x) { return x * 2; }
int nowhere(int x);

#define kind(x) _Generic((x), char: 1, int: 2, uint: 3, float: 4, float4: 5, int *: 6, global int *: 7, default: 0)
#define apply(x) _Generic((x), int: of_int, float: of_float)(x)
#define root(x) _Generic((x), float: sqrt, int: abs)(x)

struct S { int a; };
enum E { e };

kernel void select_by_type(global int *out, global float *f)
{
    int i = 3, array[2] = {1, 2};
    const int constant_int = 4;
    volatile float v = 1.5f;
    struct S s = {9};
    char c = 1;
    out[0] = kind(i);
    out[1] = kind(constant_int);
    out[2] = kind(v);
    out[3] = kind(c);
    out[4] = kind(c + c);
    out[5] = kind('c');
    out[6] = kind((float4)(1));
    out[7] = kind(array);
    out[8] = kind(out);
    out[9] = kind(1UL);
    out[10] = kind(1u);
    out[11] = kind((int4)(1) < (int4)(2));
    // The operand does not change.
    out[12] = _Generic(i++, int: 10, default: 20) + i;
    out[13] = _Generic(nowhere(1), int: 1);
    // The selected expression is an lvalue, in any position of the list.
    _Generic(1, default: c, int: i) = 40;
    out[14] = i;
    out[15] = _Generic(s, struct S: s, default: 0).a;
    out[16] = apply(i);
    out[17] = sizeof(_Generic(1.0f, float: c, default: i));
    out[18] = _Generic(_Generic(1, int: 1.0f), float: 5, int: 6);
    out[19] = root(-7);
    out[20] = _Generic((enum E)e, enum E: 1, default: 2);
    f[0] = apply(v);
    f[1] = root(16.0f);
}
// run: select_by_type global=1
// arg out: int[21]
// arg f: float[2]
// expect out: {2, 2, 4, 1, 2, 2, 5, 6, 7, 0, 3, 0, 13, 1, 40, 9, 41, 1, 5, 7, 1}
// expect f: {3, 4}
