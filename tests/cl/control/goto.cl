// goto forward out of nested blocks and backward to make loops.

kernel void forward(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int r = 0;
    if (a[i] < 0) goto failed;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) {
            r += 1;
            if (x + y == a[i]) goto found;
        }
    r = 1000;
    goto end;
found:
    r += 100;
    goto end;
failed:
    r = -1;
end:
    out[i] = r;
}
// run: forward global=6
// arg a: int[6] = {-3, 0, 2, 5, 6, 7}
// arg out: int[6]
// expect out: {-1, 101, 103, 112, 116, 1000}

kernel void backward(global int *out)
{
    int i = get_global_id(0);
    int n = 0, s = 0;
again:
    s += n;
    if (++n < i) goto again;
outer:
    n = 0;
inner:
    s++;
    if (++n < 3) goto inner;
    if (s < 50) goto outer;
    out[i] = s;
}
// run: backward global=6
// arg out: int[6]
// expect out: {51, 51, 52, 51, 51, 52}

kernel void into_branches(global int *out)
{
    int i = get_global_id(0);
    int s = 0;
    if (i & 1) goto odd;
    s = 10;
    if (i == 2) goto done;
    s += 5;
odd:
    s += 1;
done:
    out[i] = s;
}
// run: into_branches global=4
// arg out: int[4]
// expect out: {16, 1, 10, 1}
