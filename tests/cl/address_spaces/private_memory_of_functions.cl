// Functions access private memory of their callers: parts of structures, dynamic indices, aliased arrays, bytes.
// `WGCL_INLINE=0` prevents inlining of these functions.
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

typedef struct { uchar tag; uint head[3]; float scale; ulong wide; uint tail[9]; } Record;

constant uint primes[8] = { 2, 3, 5, 7, 11, 13, 17, 19 };

#define STEP(i) x = x * 1664525u + (y ^ i); y ^= x >> 7; y += x << 3 & i * 77u; x ^= y << 13;
#define CHURN(x0, y0) uint x = x0, y = y0; STEP(1u) STEP(7u) uint c = x ^ y;

// Constant indices, some of them written conditionally.
uint parts(Record *r, const uint *w, uint k)
{
    CHURN(r->head[1], w[2] + k)
    if (c & 1u) r->tail[3] = c;
    if (c & 2u) { r->wide += c; r->tag = (uchar)(c >> 8); }
    r->scale += 1.0f;
    return c ^ r->head[2] ^ primes[k & 7u];
}

// Dynamic indices.
uint places(uint *w, uint k)
{
    CHURN(w[k & 7u], k)
    w[c & 7u] += c;
    w[(k + 1u) & 7u] ^= primes[c & 7u];
    return c;
}

// Two pointers, which may alias.
uint both(uint *a, uint *b)
{
    CHURN(a[0], b[1])
    a[1] += c;
    b[0] ^= c;
    a[2] = b[1] + a[0];
    return c + b[2];
}

// Bytes, one of them before the pointer.
uint bytes(uchar *p, uint k)
{
    CHURN(p[0] | p[-1] << 8, k)
    p[-1] = (uchar)c;
    p[2] ^= (uchar)(c >> 9);
    return c;
}

uint chain(Record *r, uint *w, uint k)
{
    uint c = parts(r, w, k);
    c ^= places(w, k);
    c += parts(r, r->tail + 1, c);
    c ^= places(w + (k & 1u) * 0u, c);
    c += both(w, w + 3);
    c ^= both(r->head, w + 4);
    if (k == 3u) c += both(w + 1, w + 1);
    c ^= bytes((uchar *)w + 5 + (k & 3u), c);
    c += bytes(&r->tag + 5, c);
    return c;
}

uint round(Record *r, Record *q, uint *w, uint k)
{
    uint sum = chain(r, w, k);
    switch (sum >> 4 & 3u) {
        case 0: sum ^= chain(q, r->tail, sum); break;
        case 1: sum += both(q->tail, r->tail); break;
        case 2: sum ^= bytes((uchar *)q->tail + 9, 3u); break;
        default: sum ^= places(q->tail + (sum & 1u), 1u); break;
    }
    return sum + chain(q, w, sum);
}

kernel void called(global uint *out)
{
    uint id = (uint)get_global_id(0), sum = 0;
    Record r = { 1, { id, 5, 7 }, 0.5f, 9, { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, q = r;
    uint w[8] = { 1, id, 3, 4, 5, 6, 7, 8 };
    for (uint iteration = 0; iteration < 3; iteration++) {
        sum = sum * 3u + round(&r, &q, w, iteration);
        if (id & 1u) sum ^= round(&q, &r, w, sum);
        Record t = r; r = q; q = t;
    }
    // Combines all results into one number for each part.
    uint hash = sum;
    for (uint i = 0; i < 8; i++) hash = hash * 31u + w[i];
    out[4 * id] = hash;
    hash = r.tag ^ as_uint(r.scale) ^ (uint)r.wide ^ (uint)(r.wide >> 32);
    for (uint i = 0; i < 9; i++) hash = hash * 31u + r.tail[i];
    out[4 * id + 1] = hash;
    hash = q.tag ^ as_uint(q.scale) ^ (uint)q.wide ^ (uint)(q.wide >> 32);
    for (uint i = 0; i < 9; i++) hash = hash * 31u + q.tail[i];
    out[4 * id + 2] = hash;
    for (uint i = 0; i < 3; i++) hash = hash * 31u + (r.head[i] ^ q.head[i] << 5);
    out[4 * id + 3] = hash;
}
// run: called global=16 local=8
// arg out: uint[64]
// expect out: {
//     1011306245, 1488348182, 1139404724, 1560865114, 3859623012, 2777116977, 1806910800, 13095980,
//     2629534422, 2825903130, 2674177395, 2621436551, 231176670, 559468859, 3368270612, 4033025895,
//     4279867523, 296532015, 3819563719, 935770894, 2436957403, 2569617186, 3964238776, 2892536076,
//     3105233811, 1259000880, 2382946051, 3704223275, 4239504228, 2325697073, 2495375446, 3782515284,
//     1400048095, 4284787478, 2981713452, 796227112, 4120446419, 1371510018, 65977205, 4131010123,
//     4086479433, 2910365423, 631411303, 171958202, 203482939, 1513782135, 3825064037, 1540320726,
//     2851818379, 900500279, 278734186, 2091750093, 2979193840, 1225543500, 3259814063, 2395329237,
//     1507050076, 989884348, 858512881, 940754615, 3159140539, 895324198, 1441198707, 3178385803 }
