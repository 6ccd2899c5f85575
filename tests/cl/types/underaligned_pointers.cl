// A typedef may reduce the alignment of a type: accesses through pointers to it are unaligned.

typedef float loose_float __attribute__((aligned(1)));
typedef int loose_int __attribute__((aligned(2)));
typedef float4 loose_float4 __attribute__((aligned(4)));
typedef struct { char c; int i; } pair;
typedef pair loose_pair __attribute__((aligned(1)));
struct packed_like { char c; loose_float x; };

float first(global const loose_float *p) { return p[0]; }

kernel void read(global const uchar *bytes, global float *out, global int *ints)
{
    size_t i = get_global_id(0);
    global const loose_float *p = (global const loose_float *)(bytes + i);
    out[4 * i] = *p;
    out[4 * i + 1] = p[1];
    out[4 * i + 2] = (*(global const loose_float4 *)(bytes + 4 * i)).z;
    out[4 * i + 3] = first(p + 1);
    ints[4 * i] = *(global const loose_int *)(bytes + 2 * i);
    ints[4 * i + 1] = ((global const loose_pair *)(bytes + i))->i;
    ints[4 * i + 2] = sizeof(struct packed_like) + 100 * __alignof__(*p) + 1000 * __alignof__(loose_float4);
    ints[4 * i + 3] = 0;
    private uchar mine[24];
    for (int k = 0; k < 24; k++) mine[k] = bytes[k];
    loose_int *q = (loose_int *)(mine + 2 * i);
    q[1] += 1;
    for (int k = 0; k < 4; k++) ints[4 * i + 3] |= mine[2 * i + 4 + k] << (8 * k);
}
// run: read global=3
// arg bytes: uchar[32] = {0, 0, 128, 63, 0, 0, 0, 64, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}
// arg out: float[12]
// arg ints: int[12]
// expect out if i % 4 == 0: float_of(bytes[i / 4] + (bytes[i / 4 + 1] << 8) + (bytes[i / 4 + 2] << 16) + (bytes[i / 4 + 3] << 24))
// expect out if i % 4 == 1: float_of(bytes[i / 4 + 4] + (bytes[i / 4 + 5] << 8) + (bytes[i / 4 + 6] << 16) + (bytes[i / 4 + 7] << 24))
// expect out if i % 4 == 2: float_of(bytes[i / 4 * 4 + 8] + (bytes[i / 4 * 4 + 9] << 8) + (bytes[i / 4 * 4 + 10] << 16) + (bytes[i / 4 * 4 + 11] << 24))
// expect out if i % 4 == 3: float_of(bytes[i / 4 + 4] + (bytes[i / 4 + 5] << 8) + (bytes[i / 4 + 6] << 16) + (bytes[i / 4 + 7] << 24))
// expect ints if i % 4 == 0: bytes[i / 4 * 2] + (bytes[i / 4 * 2 + 1] << 8) + (bytes[i / 4 * 2 + 2] << 16) + (bytes[i / 4 * 2 + 3] << 24)
// expect ints if i % 4 == 1: bytes[i / 4 + 4] + (bytes[i / 4 + 5] << 8) + (bytes[i / 4 + 6] << 16) + (bytes[i / 4 + 7] << 24)
// expect ints if i % 4 == 2: 4105
// expect ints if i % 4 == 3: bytes[i / 4 * 2 + 4] + (bytes[i / 4 * 2 + 5] << 8) + (bytes[i / 4 * 2 + 6] << 16) + (bytes[i / 4 * 2 + 7] << 24) + 1

kernel void write(global uchar *bytes, global int *in)
{
    size_t i = get_global_id(0);
    global loose_int *p = (global loose_int *)(bytes + 6 * i);
    *p = in[i];
}
// run: write global=2
// arg bytes: uchar[16]
// arg in: int[2] = {0x04030201, 0x14131211}
// expect bytes: {1, 2, 3, 4, 0, 0, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0, 0, 0}
