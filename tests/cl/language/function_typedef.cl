// Functions declared through the name of their type.

typedef int binary(int, int);
typedef void fill(global int *, int);
typedef float unary(float x);

binary add, subtract;
extern binary add;
static fill fill_with;
unary half_of, negate;

kernel void through_typedefs(global int *out)
{
    binary multiply;
    out[0] = add(3, 4);
    out[1] = subtract(3, 4);
    out[2] = multiply(3, 4);
    fill_with(out + 3, 7);
    out[4] = (int)half_of(negate(-9.0f) - 1.0f);
}

int add(int a, int b) { return a + b; }
int subtract(int a, int b) { return a - b; }
int multiply(int a, int b) { return a * b; }
static void fill_with(global int *p, int value) { *p = value; }
float half_of(float x) { return x / 2; }
float negate(float x) { return -x; }
// run: through_typedefs global=1
// arg out: int[5]
// expect out: {7, -1, 12, 7, 4}
