// Uses of pointers: integers from them, comparisons, differences, casts, structures and arrays of them, selections.
// requires: int64

typedef struct {
    global int *data;
    int n;
} span;

typedef struct link {
    int value;
    struct link *next;
} link;

int total(span s)
{
    int sum = 0;
    for (global int *p = s.data; p < s.data + s.n; p++)
        sum += *p;
    return sum;
}
span tail(span s, int k)
{
    s.data += k;
    s.n -= k;
    return s;
}
global int *pick(int k, global int *a, global int *b, global int *c)
{
    switch (k) {
    case 0: return a;
    case 1: return b + 1;
    default: return c + 2;
    }
}

kernel void structures(global int *a, global int *b, global int *out)
{
    int i = get_global_id(0);
    span list[3] = {{a, 4}, {b, 3}, {a + 4, 2}};
    span s = list[i % 3];
    out[i] = total(s) + total(tail(s, 1));
    list[i % 3].data = list[(i + 1) % 3].data;
    list[i % 3].n = 1;
    out[6 + i] = total(list[i % 3]) * 1000 + list[0].n + list[1].n + list[2].n;
    out[12 + i] = list[i % 3].data == list[(i + 1) % 3].data;
    global int *p = pick(i % 3, a, b, a);
    out[18 + i] = *p + p[-(i % 3)];
}
// run: structures global=6
// arg a: int[6] = i + 1
// arg b: int[3] = (i + 1) * 10
// arg out: int[24]
// expect out if i < 6: {19, 110, 17}
// expect out if i >= 6 && i < 12: i % 3 == 0 ? 10006 : i % 3 == 1 ? 5007 : 1008
// expect out if i >= 12 && i < 18: 1
// expect out if i >= 18: i % 3 == 0 ? 2 : i % 3 == 1 ? 30 : 4

kernel void integers(global int *a, local int *l, global long *out)
{
    int own[4] = {5, 6, 7, 8};
    l[0] = 50;
    l[1] = 51;
    barrier(CLK_LOCAL_MEM_FENCE);
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)(a + 3);
    out[0] = y - x;
    out[1] = *(global int *)(x + 8);
    out[2] = *(local int *)((size_t)l + 4);
    out[3] = *(int *)((ulong)own + 12);
    out[4] = (x & 3) + ((size_t)own & 3) + ((size_t)l & 3);
    out[5] = (intptr_t)(a + 1) > (intptr_t)a;
    out[6] = (global int *)(y - 4) - a;
    out[7] = (uintptr_t)(global int *)0;
    out[8] = (x ^ y ^ x) == y;
    global int *aligned = (global int *)(((uintptr_t)(a + 3) + 15) & ~(uintptr_t)15);
    out[9] = aligned - a;
    out[10] = (uintptr_t)l != (uintptr_t)own && (uintptr_t)a != (uintptr_t)l;
    union {
        global int *p;
        ulong u;
        uint2 v;
    } both;
    both.p = a + 2;
    both.u += 4;
    out[11] = *both.p;
    both.v.x -= 8;
    out[12] = *both.p;
}
// run: integers global=1
// arg a: int[8] = i * 7
// arg l: local 8
// arg out: long[13]
// expect out: {12, 14, 51, 8, 0, 1, 2, 0, 1, 4, 1, 21, 7}

kernel void relations(global char *a, int n, global int *out)
{
    global char *p = a + n, *q = a + 2 * n;
    out[0] = (p < q) + 2 * (p <= q) + 4 * (q > p) + 8 * (q >= p) + 16 * (p == q) + 32 * (p != q);
    out[1] = ((global int *)q - (global int *)a) + ((global short *)p - (global short *)q);
    global int *none = 0;
    out[2] = (none == 0) + 2 * !none + 4 * (p != 0) + 8 * (none ? 0 : 1);
    int k = 0;
    for (global char *r = q; r != a; r -= n)
        k++;
    out[3] = k;
    global char *swap[2] = {p, q};
    for (int i = 0; i < 3; i++) {
        global char *t = swap[0];
        swap[0] = swap[1];
        swap[1] = t;
    }
    out[4] = swap[0] - swap[1];
}
// run: relations global=1
// arg a: char[64]
// arg n: int = 16
// arg out: int[5]
// expect out: {47, 0, 15, 2, 16}

// A list in private memory, and one in local memory to which each work-item adds itself.
kernel void lists(local int *memory, global int *out)
{
    int i = get_local_id(0), count = get_local_size(0);
    link nodes[5];
    link *head = 0;
    for (int k = 0; k < 5; k++) {
        nodes[k].value = k * (i + 1);
        nodes[k].next = head;
        head = &nodes[k];
    }
    int sum = 0, weight = 1;
    for (link *at = head; at; at = at->next)
        sum += at->value * weight++;
    out[i] = sum;

    local struct shared {
        local struct shared *next;
        int value;
    } *mine = (local struct shared *)memory + i;
    mine->value = i * i;
    mine->next = i + 1 < count ? mine + 1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (local struct shared *at = mine; at; at = at->next)
        sum += at->value;
    out[count + i] = sum;
}
// run: lists global=4 local=4
// arg memory: local 64
// arg out: int[8]
// expect out: i < 4 ? 20 * (i + 1) : i == 4 ? 14 : i == 5 ? 14 : i == 6 ? 13 : 9

// Pointers to pointers, and a loop-carried pointer into two buffers.
kernel void levels(global int *a, global int *b, global int *out)
{
    global int *p = a, *q = b;
    global int **pp = &p;
    global int ***ppp = &pp;
    ***ppp = 100;
    *ppp = &q;
    **pp = 200;
    *pp += 1;
    *q = 201;
    for (int k = 0; k < 5; k++)
        pp = pp == &p ? &q : &p;
    out[0] = **pp;
    out[1] = *ppp == pp;
    global int *r = a;
    int sum = 0;
    for (int k = 0; k < 6; k++) {
        sum = sum * 2 + *r;
        r = k & 1 ? a + k : b + k;
    }
    out[2] = sum;
}
// run: levels global=1
// arg a: int[8] = i
// arg b: int[8] = 10 * i
// arg out: int[3]
// expect a: i == 0 ? 100 : i
// expect b: i == 0 ? 200 : i == 1 ? 201 : 10 * i
// expect out: {100, 1, 100 * 32 + 200 * 16 + 8 + 20 * 4 + 3 * 2 + 40}
