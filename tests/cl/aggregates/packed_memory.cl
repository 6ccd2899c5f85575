// Packed and aligned structures in buffers, private and local memory: every member at its unaligned offset.
#pragma pack(push, 1)
typedef struct { uchar tag; uint word; ushort half_; float real; } record;
#pragma pack(pop)
typedef struct { char c; int i __attribute__((packed)); } partly;
typedef struct __attribute__((packed)) { char a; struct { short b; int c; } inner; char3 d; } outer;
typedef struct { int a; } __attribute__((aligned(16))) wide;
_Static_assert(sizeof(record) == 11 && sizeof(partly) == 5 && sizeof(wide) == 16, "sizes");
_Static_assert(sizeof(outer) == 13, "outer");

kernel void members(global record *records, global partly *parts, global wide *wides, global outer *outers, local record *scratch)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    scratch[l] = records[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    record r = scratch[l];
    r.word += 1;
    r.half_ ^= 0xff;
    r.real *= 2;
    r.tag = r.tag + 1;
    records[i] = r;
    global uint *word = &records[i].word;
    parts[i].i = i * 0x01010101;
    parts[i].c = i;
    wides[i].a = i;
    outers[i].inner.c = i + 1;
    outers[i].d = (char3)(1, 2, 3);
    outers[i].inner.b = -1;
}
// run: members global=4 local=2
// arg records: uchar[44] = {1, 1, 0, 0, 0, 2, 0, 0, 0, 0x80, 0x3f}
// arg parts: uchar[20]
// arg wides: int[16]
// arg outers: uchar[52]
// arg scratch: local 22
// expect records: {2, 2, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0x40}
// expect parts: i / 5
// expect wides if i % 4 == 0: i / 4
// expect outers if i % 13 == 1 || i % 13 == 2: 0xff
// expect outers if i % 13 == 5: i / 13 + 1
// expect outers if i % 13 == 9: 1
// expect outers if i % 13 == 10: 2
// expect outers if i % 13 == 11: 3
// expect outers if i % 13 == 12: _
