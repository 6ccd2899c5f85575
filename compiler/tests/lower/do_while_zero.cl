// The IR has no loop. A flag records whether the inner `if` jumps.
kernel void k(global int *out, int x)
{
    do {
        if (x > 1) {
            if (x > 2)
                break;
            out[0] = x;
        }
        out[1] = x;
    } while (0);
}
