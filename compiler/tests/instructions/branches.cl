kernel void classify(global const int *a, global const int *b, global int *c)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i], r;
    if (x > 100) r = x - y;
    else if (x < -100 && y > 0) r = x + y;
    else r = abs(x) * y;
    c[i] = r;
}
