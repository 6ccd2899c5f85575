// Statement expressions jump into loops and nested statements, outside of and inside the expression.

int search(global const int *a, int n)
{
    int i = 0, found = -1;
    int x = n;
    x = ({ if (n > 6) goto inside; n + 1; });
    while (i < x) {
        found += 10;
    inside:
        found += a[i];
        i++;
        if (found > 40) goto out;
    }
out:
    return found;
}

int within(int n)
{
    return ({
        int sum = 0, k = 0;
        if (n & 1) goto middle;
        for (k = 0; k < n; k++) {
            sum += 10;
        middle:
            sum += k;
            if (sum > 60) goto done;
        }
        sum += 1000;
    done:
        sum;
    });
}

int both(int n)
{
    int iterations = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
    again:
        iterations++;
        sum += ({
            int part = n;
            if (part > 2) goto half_way;
            while (part < 5) {
                part++;
            half_way:
                if (iterations < n) goto again;
                if (part == 4) break;
                part += 2;
                if (iterations == 7) goto leave;
            }
            part;
        });
    }
leave:
    return 100 * iterations + sum;
}

kernel void jumps(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    out[3 * i] = search(in, in[i]);
    out[3 * i + 1] = within(in[i]);
    out[3 * i + 2] = both(in[i]);
}
// run: jumps global=8
// arg in: int[8] = {3, 1, 4, 2, 5, 7, 2, 6}
// arg out: int[24]
// expect out: {49, 1023, 515, 23, 1000, 321, 49, 1046, 612, 37, 1021, 415, 49, 1050, 714, 54, 65, 700, 37, 1021, 415, 49, 75, 708}
