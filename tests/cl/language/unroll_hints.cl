// Unroll hints apply to the next loop only.

kernel void run(global int *o)
{
    int sum = 6;
#pragma unroll 3
    for (int i = 0; i < 100; i++)
        sum += i * o[1];
again:
#pragma unroll 7
    for (int i = 0; i < 10; i++)
        sum ^= i;
    __attribute__((opencl_unroll_hint(4))) while (sum > 4000)
        sum -= 7;
#pragma unroll 2
    __attribute__((opencl_unroll_hint(3))) while (sum > 3990)
        sum -= 2;
    o[0] = sum;
}
// run: run global=1
// arg o: int[2] = 1
// expect o: {3990, 1}
