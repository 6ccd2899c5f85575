// Values of loops used after them, for work-items that leave in different iterations: scalars, arrays, structures.

struct stream {
    uint words[8];
    uint at, seed;
};

uint draw(struct stream *s)
{
    if (s->at % 8 == 0)
        for (int i = 0; i < 8; i++) {
            s->seed = s->seed * 1664525u + 1013904223u;
            s->words[i] = s->seed >> 8;
        }
    uint now = s->at;
    s->at += 1;
    return s->words[now % 8];
}

// Loads from memory that changes in every iteration, within another loop.
kernel void drawn(global uint *out, uint n)
{
    size_t id = get_global_id(0);
    struct stream s;
    s.at = 0;
    s.seed = id;
    for (uint k = 0; k < n; k++) {
        uint found;
        __attribute__((opencl_unroll_hint(1)))
        for (;;) {
            found = draw(&s);
            if (found % 5 == (id + k) % 5) break;
        }
        out[3 * id + k] = found;
    }
}
// run: drawn global=16 local=16
// arg out: uint[48]
// arg n: uint = 3
// expect out: {
//   10738015, 10298341, 14849782, 847981, 4201872, 7086323, 3973567, 1798348, 235574, 14657558, 9133729, 2805075,
//   837894, 9103965, 13616246, 12282360, 3704416, 14580072, 14931136, 15543897, 14200883, 4006077, 15325873, 10275904,
//   9688828, 3624934, 13981505, 1658159, 14768250, 15114176, 817720, 6766121, 8598082, 5894251, 1738867, 11214643,
//   4038587, 604533, 16027469, 807633, 16357719, 2899570, 9200954, 6802315, 1505916, 2323730, 10110121, 15877777
// }

// An operand of the value is updated before the iteration ends.
kernel void made_before(global const uint *in, global uint *out)
{
    size_t id = get_global_id(0);
    uint x = id, iteration = 0, made;
    __attribute__((opencl_unroll_hint(1)))
    do {
        x = x * 5 + in[x % 64];
        made = x ^ x >> 3;
        x += 13;
    } while (++iteration < in[id] % 16);
    out[id] = made;
}
// run: made_before global=16 local=16
// arg in: uint[64] = i * i % 97 + 1
// arg out: uint[16]
// expect out: {
//   1, 127, 20518, 129781287, 33, 118002436, 61803, 524,
//   100, 689, 8684, 46663575, 97, 60762332, 3015, 102
// }

typedef struct { int a, b; uchar c[4]; } Pair;

// The loop is left at two points with the same values, and so is the loop around it.
kernel void left_together(global const int *in, global int *out, uint n)
{
    size_t id = get_global_id(0);
    Pair pair = { 1, 2, { 3, 4, 5, 6 } };
    int outer = 0, inner = 0;
    uint start = in[id], iteration = 0;
    for (;;) {
        for (;;) {
            inner = in[(start + iteration) % 64] + iteration;
            pair.a = inner + 1;
            pair.c[iteration & 3] = iteration;
            iteration++;
            if (iteration % 5 == start % 5) break;
            if (iteration > n) break;
        }
        outer = inner + iteration;
        pair.b = outer * 2;
        if (iteration >= start) break;
        iteration += 2;
    }
    out[4 * id] = inner;
    out[4 * id + 1] = outer;
    out[4 * id + 2] = pair.a + pair.b;
    out[4 * id + 3] = pair.c[0] + pair.c[1] * 2 + pair.c[2] * 3 + pair.c[3] * 4;
}
// run: left_together global=16 local=16
// arg in: int[64] = i * i % 97 + 1
// arg out: int[64]
// arg n: uint = 40
// expect out: {
//   2, 3, 9, 47, 11, 13, 38, 41, 86, 91, 269, 24, 80, 90, 261, 60,
//   39, 56, 152, 136, 105, 131, 368, 220, 118, 155, 429, 336, 63, 115, 294, 468,
//   76, 143, 363, 624, 118, 201, 521, 784, 53, 57, 168, 20, 98, 123, 345, 216,
//   72, 122, 317, 448, 107, 181, 470, 688, 28, 31, 91, 32, 121, 153, 428, 296
// }
