// Integer, character, floating and hexadecimal literals, and the types of integer literals.
// requires: int64

kernel void integers(global long *out)
{
    out[0] = 0;
    out[1] = 017;
    out[2] = 0xFf;
    out[3] = 2147483647;
    out[4] = 0x80000000 / 2;     // unsigned, as it does not fit an int
    out[5] = 2147483648 / 2;     // long
    out[6] = 42u;
    out[7] = 42UL;
    out[8] = -1L;
    out[9] = 'A';
    out[10] = '\n';
    out[11] = '\x41';
    out[12] = '\101';
    out[13] = '\'';
    out[14] = '\\';
    out[15] = 0xFFFFFFFFFFFFFFFF;
    out[16] = -1 > 0u;
    out[17] = -1 > 0L;
    out[18] = sizeof(1L);
    out[19] = sizeof(1);
    out[20] = sizeof('a');
    out[21] = sizeof(4294967296);
}
// run: integers global=1
// arg out: long[22]
// expect out: {0, 15, 255, 2147483647, 0x40000000, 0x40000000, 42, 42, -1, 65, 10, 65, 65, 39, 92, -1, 1, 0, 8, 4, 4, 8}

kernel void floats(global float *out)
{
    out[0] = 1.0f;
    out[1] = .5f;
    out[2] = 3.f;
    out[3] = 1e3f;
    out[4] = 2.5e-3F;
    out[5] = 0x1p-3f;
    out[6] = 0x1.8p1f;
    out[7] = 1e30f;
    out[8] = 3.4028234663852886e38f;
    out[9] = 1.17549435e-38f;
    out[10] = 0x.8p0f;
    out[11] = 16777217.0f;
    out[12] = 1;
    out[13] = 'a';
}
// run: floats global=1
// arg out: float[14]
// expect out: {1, 0.5, 3, 1000, 0.0025, 0.125, 3, 1e30, FLT_MAX, 1.17549435e-38, 0.5, 16777216, 1, 97}
