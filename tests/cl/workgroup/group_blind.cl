// Kernels that cannot observe their groups: every work-item of an odd range runs once, whatever groups are chosen.
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

kernel void once(global int *out)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1), z = get_global_id(2) - get_global_offset(2);
    out[x + get_global_size(0) * (y + get_global_size(1) * z)] += get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2);
}
// run: once global=997
// arg out: int[1300] = 7
// expect out if i < 997: 7 + i
// run: once global=3001 offset=11
// arg out: int[4096] = 7
// expect out if i < 3001: 18 + i
// run: once global=31x37
// arg out: int[2048] = 7
// expect out if i < 1147: 7 + i % 31 + i / 31 * 100
// run: once global=7x11x13 offset=1x2x3
// arg out: int[1024] = 7
// expect out if i < 1001: 7 + i % 7 + 1 + 100 * (i / 7 % 11 + 2) + 10000 * (i / 77 + 3)

// Through a helper, with private memory and an early return.
int shift(int x)
{
    int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
    for (int k = 0; k < 8; k++)
        table[k] += x;
    return table[(x + get_global_size(0)) & 7];
}
kernel void helper(global int *out, int most)
{
    int i = get_global_id(0);
    if (i >= most)
        return;
    atomic_add(&out[0], 1);
    out[i + 1] = shift(i);
}
// run: helper global=509
// arg out: int[600]
// arg most: int = 400
// expect out if i == 0: 400
// expect out if i > 0 && i <= 400: i - 1 + ((i - 1 + 509) % 8 == 0 ? 1 : (i - 1 + 509) % 8 == 1 ? 2 : (i - 1 + 509) % 8 == 2 ? 3 : (i - 1 + 509) % 8 == 3 ? 5 :
//    (i - 1 + 509) % 8 == 4 ? 8 : (i - 1 + 509) % 8 == 5 ? 13 : (i - 1 + 509) % 8 == 6 ? 21 : 34)
