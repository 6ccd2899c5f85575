// A case runs if the switch jumps to this case, or to an earlier one that falls through.
kernel void k(global int *out, int x)
{
    int r = 0;
    switch (x) {
    case 1: r += 1;
    case 2: r += 2; break;
    default: r = 9;
    }
    out[0] = r;
}
