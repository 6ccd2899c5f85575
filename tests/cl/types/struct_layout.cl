// sizeof, alignment and packing of structures; the bytes of members in memory.

struct plain { char a; int b; char c; };
struct __attribute__((packed)) tight { char a; int b; char c; };
struct vec { char a; float3 b; };
typedef struct { short a; } __attribute__((aligned(16))) wide;
union either { int i; float f; uchar b[8]; };

kernel void sizes(global int *out)
{
    out[0] = sizeof(struct plain);
    out[1] = sizeof(struct tight);
    out[2] = sizeof(struct vec);
    out[3] = sizeof(wide);
    out[4] = sizeof(union either);
    out[5] = sizeof(float3);
    out[6] = sizeof(struct plain[5]);
    struct tight t[2];
    out[7] = (private char *)&t[1] - (private char *)&t[0];
    out[8] = (private char *)&t[0].b - (private char *)&t[0];
}
// run: sizes global=1
// arg out: int[9]
// expect out: {12, 6, 32, 16, 8, 16, 60, 6, 1}

kernel void packed_members(global struct tight *s, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = s[i].b + s[i].c;
    s[i].b = i + 0x01020304;
}
// run: packed_members global=4
// arg s: uchar[24] = {i, 1, 0, 0, 0, 5}
// arg out: int[4]
// expect s: {i, 4 + i / 6, 3, 2, 1, 5}
// expect out: 6
