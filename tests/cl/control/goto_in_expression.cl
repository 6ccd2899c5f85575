// Labels in statement expressions whose gotos are also inside; jumps from inside to labels outside.

#define find(array, n, wanted) ({ \
    int found = -1, at = 0; \
    again##n: if (at >= n) goto done##n; \
    if (array[at] == wanted) { found = at; goto done##n; } \
    at++; \
    goto again##n; \
    done##n: found; })

kernel void jumps(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    int x = in[i];
    // A loop and its exit.
    out[4 * i] = ({ int sum = 0; again: sum += x; if (sum < 10) goto again; sum; });
    out[4 * i + 1] = find(in, 8, 5) + 10 * find(in, 4, 99);
    // Forward over a part, in a condition and in a loop.
    int iterations = 0;
    while (({ int go; if (iterations >= (int)i) { go = 0; goto out; } iterations++; go = 1; out: go; })) {
        if (iterations > 100) break;
    }
    out[4 * i + 2] = iterations;
    // Nested ones, and a jump out of both.
    int y = 0;
    y = ({ int a = ({ int b = x; if (b == 3) goto leave; if (b > 4) goto small; b += 100; small: b; }); once: if (a < 200) { a *= 2; goto once; } a; });
leave:
    out[4 * i + 3] = y;
}
// run: jumps global=8
// arg in: int[8] = {3, 1, 4, 2, 5, 9, 2, 6}
// arg out: int[32]
// expect out: {12, -6, 0, 0,   10, -6, 1, 202,   12, -6, 2, 208,   10, -6, 3, 204,
//              10, -6, 4, 320,   18, -6, 5, 288,   10, -6, 6, 204,   12, -6, 7, 384}
