kernel void collatz(global const uint *from, global uint *steps)
{
    uint n = from[get_global_id(0)], count = 0;
    while (n > 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        count++;
    }
    steps[get_global_id(0)] = count;
}
