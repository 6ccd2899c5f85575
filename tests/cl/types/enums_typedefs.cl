// Enumerations, typedefs of scalars, arrays, pointers and structures, and scopes that hide names.

enum color { red, green = 5, blue, last = blue + 10 };
typedef enum { off, on } state;
typedef int row[4];
typedef global int *pointer;
typedef struct node { int value; struct node *next; } node;

kernel void names(pointer out)
{
    enum color c = blue;
    state s = on;
    out[0] = red; out[1] = c; out[2] = last; out[3] = s;
    row r = {1, 2, 3, 4};
    out[4] = r[2] + sizeof(row);
    int x = 1;
    {
        int x = 2;
        {
            int x = x = 3;
            out[5] = x;
        }
        out[6] = x;
    }
    out[7] = x;
    for (int x = 9; x < 10; x++)
        out[8] = x;
    typedef short local_name;
    out[9] = sizeof(local_name);
    node second = {20, 0}, first = {10, &second};
    out[10] = first.value + first.next->value;
    switch (c) {
    case red: out[11] = 1; break;
    case blue: out[11] = 2; break;
    default: out[11] = 3;
    }
}
// run: names global=1
// arg out: int[12]
// expect out: {0, 6, 16, 1, 19, 3, 2, 1, 9, 2, 30, 2}
