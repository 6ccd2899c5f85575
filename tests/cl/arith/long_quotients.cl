// Signed 64-bit quotients and remainders, also in nested loops, where an H100's Vulkan driver miscompiles them.
// build: -cl-std=CL3.0

int differs(long a, long d, long quotient, long rest)
{
    long least = -0x7fffffffffffffff - 1;
    if (a == least && d == -1) return quotient != least || rest != 0;
    ulong size = d < 0 ? -(ulong)d : (ulong)d, left = rest < 0 ? -(ulong)rest : (ulong)rest;
    return quotient * d + rest != a || left >= size || (rest != 0 && (rest < 0) != (a < 0));
}

#define BY(D) wrong += differs(a, D, a / (D), a % (D)); wrong += d == (D) && a / (D) != a / d;

kernel void constants(global int *out, global const long *in, long d)
{
    long a = in[get_global_id(0)];
    int wrong = 0;
    BY(1L) BY(-1L) BY(2L) BY(-2L) BY(3L) BY(-3L) BY(5L) BY(7L) BY(-7L) BY(10L) BY(-10L) BY(64L) BY(-64L) BY(641L) BY(1000000007L) BY(-1000000007L)
    BY(4294967296L) BY(4294967297L) BY(-4294967297L) BY(0x7fffffffffffffffL) BY(-0x7fffffffffffffffL) BY(-0x7fffffffffffffffL - 1)
    out[get_global_id(0)] = wrong;
}
// run: constants global=12
// arg out: int[12] = 9
// arg in: long[12] = {0, 1, -1, 38, -39, 1000000007, -4294967297, 9223372036854775807, -9223372036854775808, -9223372036854775807, 123456789012345678, -123456789012345678}
// arg d: long = 7
// expect out: 0

kernel void unknown(global int *out, global const long *in)
{
    long a = in[get_global_id(0)];
    int wrong = 0;
    for (int i = 0; i < 12; i++) if (in[i] != 0) wrong += differs(a, in[i], a / in[i], a % in[i]);
    long2 pair = (long2)(a, 7) / (long2)(in[11], -2), rest = (long2)(a, 7) % (long2)(in[11], -2);
    wrong += differs(a, in[11], pair.x, rest.x) + (pair.y != -3) + (rest.y != 1);
    out[get_global_id(0)] = wrong;
}
// run: unknown global=12
// arg out: int[12] = 9
// arg in: long[12] = {0, 1, -1, 38, -39, 1000000007, -4294967297, 9223372036854775807, -9223372036854775808, -9223372036854775807, 123456789012345678, -123456789012345678}
// expect out: 0

kernel void loops(global long *out)
{
    long a = 9, b = 4;
    int n = 0;
    do {
        for (int i = 24; i-- > 0;) {
            a = (a + 2) % 39;
            b = (b + 2) % 25;
        }
    } while (++n < 25);
    out[0] = a;
    out[1] = b;
}
// run: loops global=1
// arg out: long[2] = 9
// expect out: {0, 4}

kernel void loops_by(global long *out, long d, long e)
{
    long a = 9, b = 4;
    int n = 0;
    do {
        for (int i = 24; i-- > 0;) {
            a = (a + 2) % d;
            b = (b + 2) % e;
        }
    } while (++n < 25);
    out[0] = a;
    out[1] = b;
}
// run: loops_by global=1
// arg out: long[2] = 9
// arg d: long = 39
// arg e: long = 25
// expect out: {0, 4}
