// The comma operator, empty statements, declarations of several variables, nested blocks.

kernel void odds(global int *out)
{
    int i = get_global_id(0), a = (i++, i + 1), *p = &a, b[2] = {a, *p};
    ;;
    for (int x = 0, y = 10; x < y; x++, y--) a += x * y;
    { { ; } }
    if (a > 5) ; else a = 100;
    if (a)
        if (b[0] == 3) a++;
        else a--;
    out[get_global_id(0)] = a + b[1] * 1000;
}
// run: odds global=3
// arg out: int[3]
// expect out: {2071, 3074, 4073}
