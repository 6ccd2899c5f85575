// async_work_group_copy, plain and strided, and wait_group_events.

kernel void copy(global const float *in, global float *out, local float *l, int n)
{
    event_t e = async_work_group_copy(l, in + get_group_id(0) * n, n, 0);
    wait_group_events(1, &e);
    for (int k = get_local_id(0); k < n; k += get_local_size(0))
        l[k] *= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + get_group_id(0) * n, l, n, 0);
    wait_group_events(1, &e);
}
// run: copy global=16 local=8
// arg in: float[40] = i
// arg out: float[40]
// arg l: local 80
// arg n: int = 20
// expect out: 2 * i

kernel void strided(global const int *in, global int *out, local int *l)
{
    event_t e = async_work_group_strided_copy(l, in, 10, 3, 0);
    wait_group_events(1, &e);
    out[get_local_id(0)] = l[get_local_id(0)];
}
// run: strided global=10 local=10
// arg in: int[30] = i
// arg out: int[10]
// arg l: local 40
// expect out: 3 * i

// Elements smaller than a word, from every byte of a word; the adjacent bytes do not change.
kernel void small(global const char *in, global char *out, global const short *in2, global short *out2, global const uchar2 *in3, global uchar2 *out3,
    int offset, int n)
{
    local char l[64];
    local short l2[64];
    local uchar2 l3[64];
    event_t e = async_work_group_copy(l, in + offset, n, 0);
    e = async_work_group_copy(l2, in2 + offset, n, e);
    e = async_work_group_copy(l3, in3 + offset, n, e);
    wait_group_events(1, &e);
    for (int k = get_local_id(0); k < n; k += get_local_size(0)) {
        l[k] += 1;
        l2[k] += 1;
        l3[k] = l3[k].yx;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + offset, l, n, 0);
    e = async_work_group_copy(out2 + offset, l2, n, e);
    e = async_work_group_copy(out3 + offset, l3, n, e);
    wait_group_events(1, &e);
}
// run: small global=8 local=8
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg in3: uchar2[64] = 2 * i
// arg out3: uchar2[64] = 100
// arg offset: int = 0
// arg n: int = 63
// expect out if i < 63: i + 1
// expect out2 if i < 63: 1000 * i + 1
// expect out3 if i < 126: 2 * (i ^ 1)
// run: small global=8 local=8
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg in3: uchar2[64] = 2 * i
// arg out3: uchar2[64] = 100
// arg offset: int = 4
// arg n: int = 41
// expect out if i >= 4 && i < 45: i + 1
// expect out2 if i >= 4 && i < 45: 1000 * i + 1
// expect out3 if i >= 8 && i < 90: 2 * (i ^ 1)
// run: small global=8 local=8
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg in3: uchar2[64] = 2 * i
// arg out3: uchar2[64] = 100
// arg offset: int = 7
// arg n: int = 10
// expect out if i >= 7 && i < 17: i + 1
// expect out2 if i >= 7 && i < 17: 1000 * i + 1
// expect out3 if i >= 14 && i < 34: 2 * (i ^ 1)
