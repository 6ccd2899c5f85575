// `aligned` on variables, typedefs, members and types, seen through `_Alignof`, `sizeof` and addresses.
typedef int aligned_int __attribute__((aligned(16)));
typedef struct { char c; aligned_int i; } with_typedef;
typedef struct { char c; int i __attribute__((aligned(8))); char d; } with_member;
typedef struct { char c[3]; } __attribute__((aligned(4))) rounded;
typedef float four __attribute__((ext_vector_type(4)));
struct flexible { int count; float values[]; };
struct empty {};
_Static_assert(_Alignof(aligned_int) == 16 && sizeof(aligned_int) == 4, "typedef");
_Static_assert(sizeof(with_typedef) == 32 && offsetof(with_typedef, i) == 16, "a member of an aligned type");
_Static_assert(sizeof(with_member) == 16 && offsetof(with_member, d) == 12, "an aligned member");
_Static_assert(sizeof(rounded) == 4 && __alignof__(rounded) == 4, "an aligned type");
_Static_assert(sizeof(four) == 16 && _Alignof(four) == 16, "ext_vector_type");
_Static_assert(sizeof(struct flexible) == 4 && offsetof(struct flexible, values) == 4, "flexible array member");
_Static_assert(sizeof(struct empty) == 0, "empty");
_Static_assert(sizeof(float3) == 16 && _Alignof(char3) == 4 && sizeof(short3[2]) == 16, "three lanes");

kernel void addresses(global uint *out, global struct flexible *f)
{
    char spoil = 1;
    int a __attribute__((aligned(32))) = 5;
    aligned_int b = 6;
    __attribute__((aligned(64))) char c = 7;
    local char pad;
    local int d __attribute__((aligned(16)));
    four v = {1, 2, 3, 4};
    float4 w = v;
    pad = spoil;
    d = 8;
    out[0] = (uint)((uintptr_t)&a % 32);
    out[1] = (uint)((uintptr_t)&b % 16);
    out[2] = (uint)((uintptr_t)&c % 64);
    out[3] = (uint)((uintptr_t)&d % 16);
    out[4] = a + b + c + d + pad;
    out[5] = (uint)(v + w).w;
    out[6] = f->count;
    out[7] = (uint)f->values[2];
}
// run: addresses global=1
// arg out: uint[8]
// arg f: uint[4] = {3, 0x41200000, 0x41a00000, 0x41f00000}
// expect out: {0, 0, 0, 0, 27, 8, 3, 30}
