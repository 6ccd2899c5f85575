// Enumerations, typedefs, constant sizes, `sizeof` and relatives.
enum colour { red, green = 5, blue, negative = -3, after, };
enum { anonymous = 1 << 4, sum = anonymous + blue };
typedef enum colour colour_t;
typedef int list[4];
typedef list table[2];
typedef unsigned int word, *words;
_Static_assert(red == 0 && blue == 6 && after == -2 && sum == 22, "enumerators");
_Static_assert(sizeof(colour_t) == 4 && sizeof(list) == 16 && sizeof(table) == 32, "sizes");
_Static_assert(vec_step(int) == 1 && vec_step(float3) == 4 && vec_step(char16) == 16 && vec_step((short2)(1)) == 2, "vec_step");
_Static_assert(_Alignof(float4) == 16 && __alignof__(char) == 1 && __alignof(short3) == 8, "alignment");
constant int sized[sum] = {[blue] = 1};
constant int lengths[] = {sizeof(sized) / sizeof(sized[0]), sizeof(table) / sizeof(list)};

static int twice(const int x) { return 2 * x; }
inline int thrice(int x) { return 3 * x; }
static inline colour_t next(colour_t c) { return c == red ? green : blue; }
extern int later(int);

kernel void names(global int *out)
{
    const int count = 3;
    int local_list[count] = {1, 2, 3};
    list a = {1, 2, 3, 4};
    const list b = {5, 6};
    table t = {{1}, {2}};
    word w = ~0u;
    enum inner { red = 9 };
    colour_t c = green;
    typeof(a[0]) copied = a[3];
    __typeof__(int *) pointer = a;
    int int_ = 0, shadowed = 1;
    {
        float shadowed = 2.5f;
        int_ = shadowed * 2;
    }
    for (int i = 0, j = 10; i < j; i++, j--) {
        int i = 100;
        shadowed += i;
    }
    switch (c) {
    case green: out[0] = 1; break;
    case blue: out[0] = 2; break;
    default: out[0] = 3;
    }
    out[1] = red + a[3] + b[1] + t[1][0];
    out[2] = w == UINT_MAX;
    out[3] = copied + pointer[1];
    out[4] = int_ * 1000 + shadowed;
    out[5] = next(red) + 10 * next(green);
    out[6] = twice(3) + thrice(4) + later(5);
    out[7] = lengths[0] + 100 * lengths[1] + sizeof(local_list);
    out[8] = ({ int x = 4; x *= 2; x + 1; });
    unsigned u = 1;
    signed char sc = -1;
    long unsigned int lu = 1;
    short signed ss = -2;
    out[9] = u + sc + (int)lu + ss;
    bool flag = 0.5f;
    bool other = 256;
    out[10] = flag + other + (bool)pointer + !flag;
    c = negative;
    out[11] = c;
}
int later(int x) { return x + 1; }
// run: names global=1
// arg out: int[12]
// expect out: {1, 9 + 4 + 6 + 2, 1, 6, 5501, 66, 24, 22 + 200 + 12, 9, -1, 3, -3}
