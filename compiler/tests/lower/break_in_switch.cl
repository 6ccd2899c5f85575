// The code after the `if` becomes its `else`: no flag, no loop.
kernel void k(global int *out, int x, int y)
{
    switch (x) {
    case 1:
        if (y > 3)
            break;
        out[0] = y;
        break;
    }
    out[1] = x;
}
