// Scalars narrower than int are promoted before a shift; vectors of them are not.

kernel void scalar(global const char *a, global const uchar *b, global int *left, global int *right)
{
    size_t i = get_global_id(0);
    left[i] = a[i] << 4;
    right[i] = (b[i] << 8) >> 6;
}
// run: scalar global=16
// arg a: char[16] = rand(-128, 127)
// arg b: uchar[16] = rand(0, 255)
// arg left: int[16]
// arg right: int[16]
// expect left: a * 16
// expect right: (b << 8) >> 6

kernel void vector(global const char4 *a, global const uchar4 *b, global char4 *left, global uchar4 *right, global char4 *sra)
{
    size_t i = get_global_id(0);
    left[i] = a[i] << (char4)(1, 2, 3, 4);
    right[i] = b[i] >> (uchar4)(1, 2, 3, 4);
    sra[i] = a[i] >> (char4)(1);
}
// run: vector global=4
// arg a: char4[4] = rand(-128, 127)
// arg b: uchar4[4] = rand(0, 255)
// arg left: char4[4]
// arg right: uchar4[4]
// arg sra: char4[4]
// expect left: a << (i % 4 + 1)
// expect right: b >> (i % 4 + 1)
// expect sra: a >> 1
