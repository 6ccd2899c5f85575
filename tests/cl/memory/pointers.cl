// Pointer arithmetic, difference, comparison, indexing from the middle, null, pointers to pointers.

int sum(global const int *from, global const int *to)
{
    int s = 0;
    while (from != to)
        s += *from++;
    return s;
}

kernel void arithmetic(global int *a, global int *out)
{
    global int *p = a + 4;
    global int *q = &a[10];
    out[0] = p[-1] + p[1];
    out[1] = q - p;
    out[2] = p < q;
    out[3] = *(q - 2);
    out[4] = sum(p, q);
    p += 2;
    out[5] = *p;
    out[6] = *--p;
    out[7] = *p++ + *p;
    out[8] = (p == a + 6) + 2 * (p != q) + 4 * (p >= a);
    global int *none = 0;
    out[9] = none == NULL;
    out[10] = p ? 1 : 0;
    out[11] = !none;
    global int *end = a + 16;
    out[12] = 2[a] + *(1 + a);
    out[13] = (int)(end - a);
    out[14] = &a[3] - &a[7];
}
// run: arithmetic global=1
// arg a: int[16] = i * i
// arg out: int[15]
// expect out: {9 + 25, 6, 1, 64, 16 + 25 + 36 + 49 + 64 + 81, 36, 25, 25 + 36, 7, 1, 1, 1, 5, 16, -4}

kernel void pointer_to_pointer(global int *out)
{
    int a = 1, b = 2;
    int *p = &a;
    int **pp = &p;
    **pp = 10;
    *pp = &b;
    *p = 20;
    int *list[2] = {&a, &b};
    *list[1] += 5;
    **list += 3;
    out[0] = a;
    out[1] = b;
}
// run: pointer_to_pointer global=1
// arg out: int[2]
// expect out: {13, 25}
