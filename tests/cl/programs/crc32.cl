// CRC-32 of "123456789" and of its prefixes, bit by bit, through a pointer that a helper advances.

uint by_bit(global const uchar *p, uint n)
{
    uint c = ~0u;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? (c >> 1) ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}

kernel void crc(global const uchar *text, global uint *out)
{
    uint i = get_global_id(0);
    out[i] = by_bit(text, i);
}
// run: crc global=10
// arg text: uchar[9] = i + 49
// arg out: uint[10]
// expect out: {0, 2212294583, 1330857165, 2286445522, 2615402659, 3421846044, 158520161, 1342400927, 2598427311, 3421780262}
