// Object-like and function-like macros, nesting, stringify, paste, variadic, redefinition, recursion stopped.

#define ONE 1
#define ADD(a, b) ((a) + (b))
#define TWICE(x) ADD(x, x)
#define PASTE(a, b) a##b
#define PASTE2(a, b) PASTE(a, b)
#define TEXT(x) #x
#define TEXT2(x) TEXT(x)
#define FIRST(a, ...) a
#define REST(a, ...) __VA_ARGS__
#define CALL(f, ...) f(__VA_ARGS__)
#define loop(x) loop(x + 1)
#define EMPTY
#define PARENS() 7
#define SWAP_NAME(name) swap_##name
#define MULTI(a) \
    do { \
        (a) += 1; \
    } while (0)

int (loop)(int x) { return x; }
int swap_it(int x) { return -x; }

kernel void expand(global int *out)
{
    int PASTE(var, 1) = 5;
    int var2 = 6;
    out[0] = TWICE(ONE);
    out[1] = ADD(ADD(1, 2), TWICE(3));
    out[2] = PASTE2(var, ONE) + PASTE(var, 2);
    out[3] = sizeof(TEXT(a + b)) + TEXT2(ONE)[0];
    out[4] = FIRST(4, 5, 6);
    out[5] = CALL(ADD, 10, 20);
    out[6] = CALL(FIRST, REST(1, 8, 9), 3);
    out[7] = loop(3);
    out[8] = PARENS() EMPTY;
    out[9] = SWAP_NAME(it)(9);
    MULTI(out[9]);
#undef ONE
#define ONE 100
    out[10] = ONE;
    out[11] = PARENS
        ();
    out[12] = sizeof(TEXT("q\n"));
#define ADD(a, b) ((a) + (b))
    out[13] = ADD(1, 2);
    int EMPTY PASTE(,tail) = 3;
    out[14] = tail;
}
// run: expand global=1
// arg out: int[15]
// expect out: {2, 9, 11, 6 + 49, 4, 30, 8, 4, 7, -8, 100, 7, 6, 3, 3}
