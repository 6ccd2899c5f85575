// Selections among shifts of two words, as hashcat writes them, and selections that are not one shift.

uint left(uint a, uint b, int c)
{
    int k = c & 3;
    uint r = 0;
    if (k == 0) r = b;
    else if (k == 1) r = (a >> 24) | (b << 8);
    else if (k == 2) r = (a >> 16) | (b << 16);
    else if (k == 3) r = (a >> 8) | (b << 24);
    return r;
}

uint right(uint a, uint b, int c)
{
    int k = c & 3;
    uint r = 0;
    if (k == 0) r = b;
    else if (k == 1) r = (a << 24) | (b >> 8);
    else if (k == 2) r = (a << 16) | (b >> 16);
    else if (k == 3) r = (a << 8) | (b >> 24);
    return r;
}

kernel void words(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    uint a = in[2 * i], b = in[2 * i + 1];
    out[4 * i] = left(a, b, i);
    out[4 * i + 1] = left(0, b, i);
    out[4 * i + 2] = left(a, 0x80, i);
    out[4 * i + 3] = right(a, b, i);
}
// run: words global=5
// arg in: uint[10] = {0x01020304, 0x05060708, 0x11121314, 0x15161718, 0x21222324, 0x25262728, 0x31323334, 0x35363738, 0x41424344, 0x45464748}
// arg out: uint[20]
// expect out: {0x05060708, 0x05060708, 0x80, 0x05060708, 0x16171811, 0x16171800, 0x8011, 0x14151617, 0x27282122, 0x27280000, 0x802122, 0x23242526, 0x38313233, 0x38000000, 0x80313233, 0x32333435, 0x45464748, 0x45464748, 0x80, 0x45464748}

// The last case is not linear, the distance is not that of one pair of words, or cases are missing.
kernel void others(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    uint a = in[0], b = in[1];
    int k = i & 3;
    out[4 * i] = k == 0 ? b : k == 1 ? a >> 24 | b << 8 : k == 2 ? a >> 16 | b << 16 : a >> 24 | b << 8;
    out[4 * i + 1] = k == 0 ? b : k == 1 ? a >> 24 | b << 8 : k == 2 ? a >> 16 | a << 16 : a >> 8 | b << 24;
    out[4 * i + 2] = k == 0 ? a : k == 1 ? a >> 8 : k == 2 ? a >> 16 : a;
    out[4 * i + 3] = k == 0 ? a : k == 2 ? a >> 8 : k == 1 ? a >> 16 : b;
}
// run: others global=4
// arg in: uint[2] = {0x01020304, 0x05060708}
// arg out: uint[16]
// expect out: {0x05060708, 0x05060708, 0x01020304, 0x01020304, 0x06070801, 0x06070801, 0x00010203, 0x00000102, 0x07080102, 0x03040102, 0x00000102, 0x00010203, 0x06070801, 0x08010203, 0x01020304, 0x05060708}
