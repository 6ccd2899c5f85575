// Program-scope variables in global memory: initialised once, kept between kernels, visible to all work-items.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
// requires: int64

global int counter;
int start = 40 + 2;
static global float list[4] = {1.5f, [2] = 2.5f};
uchar bytes[5] = "abcd";
global char3 triples[2] = {(char3)(1, 2, 3), (char3)(4, 5, 6)};
constant int table[3] = {5, 6, 7};

struct inner {
    short a;
    int *p;
};
struct outer {
    uchar tag;
    struct inner in[2];
    global struct outer *self;
    union {
        uint u;
        float f;
    } both;
    constant int *c;
};
global int target[3] = {70, 71, 72};
global struct outer record = {
    .tag = 9,
    .in = {[1] = {.a = -3, .p = &target[2]}, [0].p = target + 1},
    .self = &record,
    .both.f = 1.0f,
    .c = table + 1,
};
global int *global chain = &target[1];
global int *global *global chained = &chain;
global int *constant fixed = &target[2];
uintptr_t address = (uintptr_t)&counter;

int bump(void)
{
    static int calls = 10;
    static int more;
    more += 2;
    return ++calls + more;
}

kernel void first(global long *out)
{
    out[0] = counter;
    out[1] = start;
    out[2] = list[0] * 100 + list[1] * 10 + list[2];
    out[3] = bytes[3] + bytes[4];
    out[4] = triples[1].z * 10 + triples[0].x;
    out[5] = record.tag + record.in[0].a + record.in[1].a;
    out[6] = *record.in[0].p * 100 + *record.in[1].p;
    out[7] = record.self == &record && record.self->self->tag == 9;
    out[8] = record.both.u;
    out[9] = record.c[1];
    out[10] = **chained + *fixed;
    out[11] = address == (uintptr_t)&counter;
    out[12] = bump();
    counter = 5;
    start++;
    list[3] = 8.0f;
    bytes[1] = 'x';
    target[1] = 171;
    record.in[0].p = &counter;
    chain = &start;
}
// run: first global=1
// arg out: long[13]
// expect out: {0, 42, 152, 100, 61, 6, 7172, 1, 0x3f800000, 7, 143, 1, 13}

kernel void second(global long *out)
{
    out[0] = counter;
    out[1] = start;
    out[2] = list[3];
    out[3] = bytes[0] * 1000 + bytes[1];
    out[4] = target[1];
    out[5] = *record.in[0].p;
    out[6] = **chained;
    out[7] = bump();
    *record.in[0].p += 1;
    **chained += 1;
    out[8] = counter * 100 + start;
}
// run: second global=1
// arg out: long[9]
// expect out: {5, 43, 8, 97120, 171, 5, 43, 16, 644}

kernel void third(global int *out)
{
    int i = get_global_id(0);
    atomic_add(&counter, i);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = counter;
    volatile global int *p = i & 1 ? &target[0] : &target[2];
    atomic_inc(p);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[8 + i] = target[0] * 100 + target[2];
}
// run: third global=8 local=8
// arg out: int[16]
// expect out: i < 8 ? 34 : 7476

// A pointer to an argument, kept in a variable for the next kernel.
global int *global saved;
kernel void save(global int *buffer) { saved = buffer + 2; }
kernel void restore(global int *out, global int *whatever) { out[0] = saved[1]; saved[0] = 99; out[1] = saved == whatever + 2; }
// run: save global=1
// arg buffer: int[4] = 60 + i
// run: restore global=1
// arg out: int[2]
// arg whatever: same buffer
// expect out: {63, 1}
// expect whatever: i == 2 ? 99 : 60 + i

// A pointer to a variable, kept in a buffer.
kernel void publish(global ulong *slot) { slot[0] = (ulong)&target[1]; ((global int *global *)slot)[1] = &start; }
kernel void consume(global ulong *slot, global int *out)
{
    global int *global *p = (global int *global *)slot;
    out[0] = *p[0] + *p[1];
    *p[0] = 1;
    out[1] = target[1];
}
// run: publish global=1
// arg slot: ulong[2]
// expect slot: _
// run: consume global=1
// arg slot: same slot
// arg out: int[2]
// expect out: {215, 1}
