// Unroll hints before other statements than loops have no effect, and do not apply to later loops.

kernel void run(global int *o)
{
    int sum = 0;
#pragma unroll // warning: expected a for, while, or do-while loop to follow '#pragma unroll'
    sum += 1;
    __attribute__((opencl_unroll_hint(2))) // warning: 'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements
    sum += 2;
    {
        sum += 3;
#pragma unroll 4 // warning: expected a for, while, or do-while loop to follow '#pragma unroll'
    }
#pragma unroll 8
#pragma unroll 3
    for (int i = 0; i < 100; i++)
        sum += i * o[1];
#pragma unroll 7
again:
    for (int i = 0; i < 10; i++)
        sum ^= i;
    __attribute__((opencl_unroll_hint(4))) while (sum > 5000)
        sum -= 7;
    o[0] = sum;
}
// run: run global=1
// arg o: int[2] = 1
// expect o: {4957, 1}
