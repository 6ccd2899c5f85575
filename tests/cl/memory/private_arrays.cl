// Private arrays as scratch space: sorting, tables computed at run time, arrays passed to helpers, arrays of bytes.

void sort(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

kernel void sort_each(global int *data)
{
    size_t i = get_global_id(0);
    int a[8];
    for (int k = 0; k < 8; k++)
        a[k] = data[8 * i + k];
    sort(a, 8);
    for (int k = 0; k < 8; k++)
        data[8 * i + k] = a[k];
}
// run: sort_each global=4
// arg data: int[32] = (i * 37 + 11) % 8 * 10 + i / 8
// expect data: i % 8 * 10 + i / 8

kernel void histogram(global const uchar *text, global uchar *out, int n)
{
    uchar count[16];
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    for (int k = 0; k < n; k++)
        count[text[k] & 15]++;
    for (int k = 0; k < 16; k++)
        out[k] = count[k];
}
// run: histogram global=1
// arg text: uchar[100] = rand(0, 255)
// arg out: uchar[16]
// arg n: int = 100
// expect out: sum(k, 0, 100, text[k] % 16 == i)
