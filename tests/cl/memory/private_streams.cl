// A structure in private memory contains an array and the index of its next element, as buffers of random numbers and
// of hash functions do. The index changes between its use and the access: `words[at++]`.

typedef struct { uint a; ushort b; uint c[3]; uchar d; } Part;
typedef struct { uint words[2]; uint key; int at; } Stream;

void refill(Stream *s)
{
    if (s->at == 2) {
        s->at = 0;
        s->key += 3;
        for (int i = 0; i < 2; i++) s->words[i] = (s->words[i] + s->key) * 2654435761u;
    }
}

uint next(Stream *s)
{
    refill(s);
    return s->words[s->at++];
}

uint next_in_steps(Stream *s)
{
    refill(s);
    uint value = s->words[s->at];
    s->at += 1;
    return value;
}

#define KERNEL(name, draw) \
kernel void name(uint x, uint first, global const uint *expected, global uint *out) \
{ \
    uint t1 = first + 4u * (uint)get_global_id(0), t2 = get_global_id(0), sum = 0; \
    Stream s; \
    s.at = 1; \
    s.key = x; \
    for (int i = 0; i < 2; i++) s.words[i] = i * 77u; \
    Part h0[13]; \
    int at0 = 9; \
    for (int i = 0; i < 13; i++) { \
        h0[i] = (Part){ 0 }; \
        h0[i].a = i * 3 + x; \
        h0[i].b = i * 4 + x; \
        h0[i].d = i * 5 + x; \
        h0[i].c[0] = i * 6 + x; \
        h0[i].c[2] = i * 7 + x; \
    } \
    uchar h1[2]; \
    long at1 = 1; \
    for (int i = 0; i < 2; i++) h1[i] = i * 3 + x; \
    Part e0 = h0[draw(&s) % 13u]; \
    h0[at0] = e0; \
    for (int n = 0; n < 12; n++) { \
        if (t2 < h0[n].c[0]) { \
            Part e2 = h0[n + 1]; \
            h0[at0] = e2; \
            at1 = draw(&s) < h1[at1] ? at1 : (at1 + 1) % 2; \
        } else { \
            h0[n].a = t1 - h0[n + 1].a; \
        } \
        t2 = n + x; \
        h0[n + 1].b = h1[at1]; \
    } \
    for (int i = 0; i < 13; i++) { \
        sum = sum * 31u + h0[i].a; \
        sum = sum * 31u + h0[i].b; \
        sum = sum * 31u + h0[i].d; \
        sum = sum * 31u + h0[i].c[0]; \
        sum = sum * 31u + h0[i].c[2]; \
    } \
    for (int i = 0; i < 2; i++) sum = sum * 31u + h1[i]; \
    for (int i = 0; i < 2; i++) sum = (sum ^ s.words[i]) * 5u; \
    out[get_global_id(0)] = sum; \
}

KERNEL(in_steps, next_in_steps)
// run: in_steps global=16 local=16
// arg x: uint = 5
// arg first: uint = 100
// arg expected: uint[16]
// arg out: uint[16]
// expect out: _

KERNEL(at_once, next)
// run: at_once global=16 local=16
// arg x: uint = 5
// arg first: uint = 100
// arg expected: same out
// arg out: uint[16]
// expect out: expected
