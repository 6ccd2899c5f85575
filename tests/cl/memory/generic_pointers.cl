// Generic pointers to any space: passed, returned, chosen at run time, stored in arrays, structures and memory.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
// requires: int64

int read(int *p, int k) { return p[k]; }
void add(int *p, int k, int what) { p[k] += what; }
int *later(int *p, int n) { return p + n; }
int *choose(int c, int *p, int *q) { return c ? p : q; }

struct both {
    int *p;
    generic int *q;
    int tag;
};

kernel void spaces(global int *g, local int *l, global int *out)
{
    int i = get_global_id(0);
    int own[4] = {1000, 1001, 1002, 1003};
    l[i] = 100 + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = read(g, i) + read(l, 3 - i) + read(own, i);

    // Through if, ?: and switch.
    int *p;
    switch (i) {
    case 0: p = g; break;
    case 1: p = l; break;
    default: p = own;
    }
    out[4 + i] = p[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    add(p, 3, 7);
    int *q = choose(i & 1, later(l, 1), later(own, 1));
    out[8 + i] = *q;
    out[12 + i] = own[3];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[16 + i] = l[3];

    // In arrays and structures.
    int *list[3] = {g, l, own};
    int sum = 0;
    for (int k = 0; k < 3; k++)
        sum += list[(i + k) % 3][1];
    out[20 + i] = sum;
    struct both b = {i < 2 ? (int *)g : own, l, 5};
    struct both c = b;
    out[24 + i] = c.p[2] + c.q[2] + c.tag;

    // Carried through a loop.
    int *r = own;
    for (int k = 0; k < 3; k++)
        r = r == own ? (int *)l : r == l ? g : (int *)own;
    out[28 + i] = r == own;
}
// run: spaces global=4 local=4
// arg g: int[4] = i * 10
// arg l: local 16
// arg out: int[32]
// expect g: i == 3 ? 37 : i * 10
// expect out if i < 4: i * 10 + 103 - i + 1000 + i
// expect out if i >= 4 && i < 8: i == 4 ? 0 : i == 5 ? 101 : 1000 + i - 4
// expect out if i >= 8 && i < 12: i % 2 ? 101 : 1001
// expect out if i >= 12 && i < 16: i < 14 ? 1003 : 1010
// expect out if i >= 16 && i < 20: 110
// expect out if i >= 20 && i < 24: 10 + 101 + 1001
// expect out if i >= 24 && i < 28: (i < 26 ? 20 : 1002) + 102 + 5
// expect out if i >= 28: 1

// Queries of the address space.
kernel void which(global int *g, local int *l, global int *out)
{
    int i = get_global_id(0);
    int own = 1;
    int *p = i == 0 ? (int *)g : i == 1 ? (int *)l : i == 2 ? &own : 0;
    out[i] = (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0);
    out[4 + i] = get_fence(p) == CLK_GLOBAL_MEM_FENCE ? 1 : get_fence(p) == CLK_LOCAL_MEM_FENCE ? 2 : 0;
    out[8 + i] = (to_global(p) == g) + 2 * (to_local(p) == l) + 4 * (to_private(p) == &own);
    out[12 + i] = (to_global(g) == g) + 2 * (to_local(g) == 0) + 4 * (to_private(g) == 0) + 8 * (to_private(&own) == &own);
    int *back = to_local(p);
    out[16 + i] = back == p;
}
// run: which global=4 local=4
// arg g: int[1]
// arg l: local 4
// arg out: int[20]
// expect out if i < 4: {1, 2, 4, 0}
// expect out if i >= 4 && i < 8: {1, 2, 0, 0}
// expect out if i >= 8 && i < 12: {1, 2, 4, 0}
// expect out if i >= 12 && i < 16: 15
// expect out if i >= 16: {0, 1, 0, 1}

// In global and local memory, as pointers and as integers.
kernel void kept(global int *g, local int *l, int *local *slots, global ulong *memory, global int *out)
{
    int i = get_global_id(0);
    int own[2] = {7, 8};
    l[i] = i * 3;
    slots[i] = i == 0 ? (int *)g + 1 : i == 1 ? (int *)l + 1 : (int *)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = slots[1 - i % 2];
    out[i] = *p;
    out[4 + i] = to_local(p) != 0;
    
    ((int *global *)memory)[i] = i < 2 ? (int *)(g + i) : own + 1;
    int *q = ((int *global *)memory)[i];
    out[8 + i] = *q;
    out[12 + i] = to_global(q) != 0;
    uintptr_t bits = (uintptr_t)q;
    int *again = (int *)bits;
    barrier(CLK_GLOBAL_MEM_FENCE);
    *again += 5;
    out[16 + i] = *q + (again == q);
}
// run: kept global=4 local=4
// arg g: int[4] = 50 + i
// arg l: local 16
// arg slots: local 32
// arg memory: ulong[4]
// arg out: int[20]
// expect g: i < 2 ? 55 + i : 50 + i
// expect memory: _
// expect out if i < 4: i % 2 ? _ : 3
// expect out if i >= 4 && i < 8: i % 2 ? 0 : 1
// expect out if i >= 8 && i < 12: i < 10 ? _ : 8
// expect out if i >= 12 && i < 16: i < 14
// expect out if i >= 16: i < 18 ? 56 + i - 16 : 14
