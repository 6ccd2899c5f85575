// Operator precedence and associativity as in C99.

kernel void precedence(global int *out, int a, int b, int c)
{
    out[0] = a + b * c;
    out[1] = a - b - c;
    out[2] = a << b + c;
    out[3] = a & b == c;
    out[4] = a | b ^ c & 6;
    out[5] = -a * ~b + !c;
    out[6] = a < b == b > c;
    out[7] = a ? b : c ? 1 : 2;
    out[8] = (a, b, c);
    out[9] = a * b / c % 4;
    out[10] = a || b && 0;
    out[11] = a ^ b | c;
    int y, z;
    y = z = b + 1;
    out[12] = y + z;
    out[13] = - -a;
    out[14] = a - -b;
    out[15] = sizeof(int) * a + sizeof a;
}
// run: precedence global=1
// arg out: int[16]
// arg a: int = 5
// arg b: int = 3
// arg c: int = 2
// expect out: {11, 0, 160, 5 & (3 == 2), 5 | (3 ^ (2 & 6)), -5 * ~3 + 0, (5 < 3) == (3 > 2), 3, 2, 15 / 2 % 4, 1, (5 ^ 3) | 2, 8, 5, 8, 24}
