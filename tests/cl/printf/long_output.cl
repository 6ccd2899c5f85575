// More output than the 64 KiB that wgcl reads together with a launch on some devices.

kernel void count_up(void)
{
    for (int k = 0; k < 6000; ++k)
        printf("%.0d%.0d%.0d%s", 0, 0, 0, k == 5999 ? "last\n" : k == 3000 ? "middle\n" : "");
}
// run: count_up global=1
// prints: middle
// prints: last
