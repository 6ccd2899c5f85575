// A store to one lane of a vector in a buffer does not change the bytes of the other lanes, whatever the alignment.
// Loads of an odd number of bytes are complete.
// for: T = char, uchar, short, int
#define JOIN(a, b) a##b
#define VECTOR(type, lanes) JOIN(type, lanes)

kernel void lanes(global VECTOR(T, 2) *two, global VECTOR(T, 4) *four, global VECTOR(T, 3) *three, global VECTOR(T, 2) *upper)
{
    size_t i = get_global_id(0);
    two[i].x = 1;
    four[i].y = 2;
    upper[i] = three[i].hi;
}
// run: lanes global=8
// arg two: $T[16] = 99
// arg four: $T[32] = 99
// arg three: $T[32] = i
// arg upper: $T[16]
// expect two: i % 2 == 0 ? 1 : 99
// expect four: i % 4 == 1 ? 2 : 99
// expect upper if i % 2 == 0: i * 2 + 2
// expect upper if i % 2 == 1: _
