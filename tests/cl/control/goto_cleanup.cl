// The usual forms of goto: to a common exit, out of nested loops and switches, restarts; with barriers inside.

int checked(global const int *a, int n)
{
    int r = 0;
    if (n < 0) { r = -1; goto done; }
    for (int k = 0; k < n; k++) {
        switch (a[k]) {
        case 0: goto done;
        case 1: continue;
        case 2: goto error;
        default: break;
        }
        for (int j = 0; j < a[k]; j++) {
            if (j == 5) goto next;
            r += j;
            if (r > 50) goto error;
        }
        r += 1000;
next:   ;
    }
    r += 7;
    goto done;
error:
    r = -r;
done:
    return r;
}

kernel void cleanup(global const int *a, global const int *n, global int *out)
{
    int i = get_global_id(0);
    out[i] = checked(a + i * 4, n[i]);
}
// run: cleanup global=6
// arg a: int[24] = {3, 1, 1, 4,  9, 9, 9, 9,  3, 0, 5, 5,  4, 2, 2, 2,  9, 9, 9, 9,  1, 1, 1, 1}
// arg n: int[6] = {3, 4, 4, 4, -1, 4}
// arg out: int[6]
// expect out: {1010, 47, 1003, -1006, -1, 7}

kernel void retry(global int *out, local int *shared)
{
    int l = get_local_id(0), iterations = 0;
again:
    shared[l] = iterations + l;
    barrier(CLK_LOCAL_MEM_FENCE);
    int left = shared[(l + 1) % 8];
    barrier(CLK_LOCAL_MEM_FENCE);
    iterations++;
    if (iterations == 3) goto out_of_it;
    if (iterations < 10) goto again;
    iterations = 100;
out_of_it:
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[l] = left;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = iterations * 1000 + shared[7 - l];
}
// run: retry global=16 local=8
// arg out: int[16]
// arg shared: local 32
// expect out: 3000 + (7 - i % 8 + 1) % 8 + 2

kernel void many_exits(global const int *a, global int *out)
{
    int i = get_global_id(0), x = a[i], r = 0;
#define S(n) if (x == n) goto bad; r += n; if (x == 100 + n) goto worse;
    S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15) S(16) S(17) S(18) S(19) S(20)
    S(21) S(22) S(23) S(24) S(25) S(26) S(27) S(28) S(29) S(30) S(31) S(32) S(33) S(34) S(35) S(36) S(37) S(38) S(39) S(40)
    S(41) S(42) S(43) S(44) S(45) S(46) S(47) S(48) S(49) S(50) S(51) S(52) S(53) S(54) S(55) S(56) S(57) S(58) S(59) S(60)
    S(61) S(62) S(63) S(64) S(65) S(66) S(67) S(68) S(69) S(70) S(71) S(72) S(73) S(74) S(75) S(76) S(77) S(78) S(79) S(80)
    out[i] = r;
    return;
worse:
    r += 100000;
bad:
    out[i] = -r;
}
// run: many_exits global=64
// arg a: int[64] = i * 3
// arg out: int[64]
// expect out: a >= 1 && a <= 80 ? -(a * (a - 1) / 2) : a > 100 && a <= 180 ? -(100000 + (a - 100) * (a - 99) / 2) : 3240
