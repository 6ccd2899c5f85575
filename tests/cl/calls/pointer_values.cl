// Functions that receive, select, compare, load, store and return pointers. `WGCL_INLINE=0` keeps the functions.

typedef struct { global int *data; local int *shared; global const int *end; } Places;

// The pointer comes from a private structure, and a loop moves it.
static int sum_until_end(private const Places *places, int step)
{
    int sum = 0;
    for (global const int *p = places->data; p < places->end; p += step)
        sum = sum * 3 + *p;
    return sum + places->shared[0];
}

kernel void from_structures(global int *a, global int *b, local int *l)
{
    int i = get_global_id(0);
    local int own[4];
    if (get_local_id(0) == 0) {
        l[0] = 1000;
        own[0] = 2000;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Places places = {a, i & 1 ? own : l, a + 5};
    int first = sum_until_end(&places, 1 + i);
    places.data++;
    int second = sum_until_end(&places, 2);
    b[2 * i] = first;
    b[2 * i + 1] = second;
}
// run: from_structures global=3 local=3
// arg a: int[5] = i + 1
// arg b: int[6]
// arg l: local 16
// expect b: {1179, 1010, 2023, 2010, 1007, 1010}

// The function returns one of its parameters, or null.
static global int *larger(global int *a, global int *b, int limit)
{
    if (*a > limit && *b > limit)
        return 0;
    return *a > *b ? a : b;
}

kernel void returned(global int *a, global int *b, global int *out)
{
    int i = get_global_id(0);
    global int *p = larger(a + i, b + i, 6);
    out[4 * i] = p == 0;
    out[4 * i + 1] = p == a + i;
    out[4 * i + 2] = p ? *p : -1;
    if (p)
        *p = 100 + i;
    p = larger(p ? p : a + i, out + 4 * i + 3, 1000);
    out[4 * i + 3] = p == out + 4 * i + 3;
}
// run: returned global=8
// arg a: int[8] = {1, 9, 3, 8, 5, 7, 2, 7}
// arg b: int[8] = {4, 2, 3, 9, 6, 1, 8, 7}
// arg out: int[32] = 5 * i
// expect out: {0, 0, 4, 0, 0, 1, 9, 0, 0, 0, 3, 0, 1, 0, -1, 1, 0, 0, 6, 0, 0, 1, 7, 1, 0, 0, 8, 1, 1, 0, -1, 1}
// expect a: {1, 101, 3, 8, 5, 105, 2, 7}
// expect b: {100, 2, 102, 9, 104, 1, 106, 7}

// The pointers are in local memory, which all work-items write.
static local int *slot(local int *local *table, int k) { return table[k & 3] + 1; }
static void add_to(local int *local *table, int k, int by) { atomic_add(slot(table, k), by); }

kernel void in_local_memory(global int *out, local int *given)
{
    local int *local table[4];
    local int own[4];
    int l = get_local_id(0);
    if (l < 4) {
        table[l] = l & 1 ? own + (l - 1) : given + l;
        own[l] = 10;
        given[l] = 20;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    add_to(table, l, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4)
        out[l] = *slot(table, l);
}
// run: in_local_memory global=8 local=8
// arg out: int[4]
// arg given: local 16
// expect out: {24, 16, 28, 20}

// A program-scope table, and an argument.
constant int squares[4] = {0, 1, 4, 9};
static constant int *row(constant int *a, constant int *b, int k) { return k & 4 ? b : a; }
static int of(constant int *p, int k) { return p[k & 3]; }

kernel void constants(global int *out, constant int *cubes)
{
    int i = get_global_id(0);
    out[i] = of(row(squares, cubes, i), i) + of(squares, i + 1);
}
// run: constants global=8
// arg out: int[8]
// arg cubes: int[4] = i * i * i
// expect out: {1, 5, 13, 9, 1, 5, 17, 27}

// Chains of functions: the innermost function accesses the objects of all callers.
static int get(local const int *l, global const int *g, constant int *c, int k) { return l[k] + 10 * g[k] + 100 * c[k]; }
static int both(local const int *l, global const int *g, constant int *c, int k) { return get(l, g, c, k) + get(l + 1, g + 1, c + 1, k); }
static int all(local const int *l, global const int *g, constant int *c, bool swapped)
{
    if (swapped)
        return both(l + 1, g, squares, 0);
    return both(l, g, c, 1);
}

kernel void chains(global int *out, global const int *in, constant int *given, local int *shared)
{
    local int own[8];
    int i = get_global_id(0), l = get_local_id(0);
    shared[l] = l;
    own[l] = 2 * l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = all(l & 1 ? shared : own, l & 2 ? in : out + 4, given, l == 3);
}
// run: chains global=4 local=4
// arg out: int[8] = 7 - i
// arg in: int[4] = i + 1
// arg given: int[4] = 5 + i
// arg shared: local 32
// expect out: {1336, 1333, 1356, 133, 3, 2, 1, 0}

// Private variables of the caller: the pointer is selected, stored, and returned.
typedef struct { private int *first; private int *second; } Pair;
static private int *pick(private const Pair *pair, bool second) { return second ? pair->second : pair->first; }
static void exchange(private Pair *pair)
{
    private int *first = pair->first;
    pair->first = pair->second;
    pair->second = first;
    *pair->first += 100;
}

kernel void private_variables(global int *out)
{
    int i = get_global_id(0), x[3] = {i, i + 1, i + 2}, y = 50;
    Pair pair = {x + (i & 1), &y};
    exchange(&pair);
    *pick(&pair, i & 2) += 7;
    exchange(&pair);
    out[4 * i] = x[0];
    out[4 * i + 1] = x[1];
    out[4 * i + 2] = y;
    out[4 * i + 3] = pick(&pair, true) == &y;
}
// run: private_variables global=4
// arg out: int[16]
// expect out: {100, 1, 157, 1, 1, 102, 157, 1, 109, 3, 150, 1, 3, 111, 150, 1}
