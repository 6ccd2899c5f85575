// Structures: members, nesting, arrays in them, copies, initialisers, in global memory and by value.

typedef struct {
    float x, y;
} point;

struct particle {
    point position;
    point velocity;
    int id;
    int tags[3];
};

kernel void advance(global struct particle *p, float dt)
{
    size_t i = get_global_id(0);
    struct particle q = p[i];
    q.position.x += q.velocity.x * dt;
    q.position.y += q.velocity.y * dt;
    q.tags[q.id % 3] = q.id;
    p[i] = q;
}
// Eight words each: four floats (as bits) and four integers.
// run: advance global=3
// arg p: int[24] = {bits(1), bits(2), bits(4), bits(8), i / 8, 0, 0, 0}
// arg dt: float = 0.5
// expect p: {bits(3), bits(6), bits(4), bits(8), i / 8, i / 8 % 3 == 0 ? i / 8 : 0, i / 8 % 3 == 1 ? i / 8 : 0, i / 8 % 3 == 2 ? i / 8 : 0}

point swap(point a)
{
    point b = {a.y, a.x};
    a.x = 100;      // the caller's structure does not change
    return b;
}

void scale(point *a, float by)
{
    a->x *= by;
    (*a).y *= by;
}

kernel void helpers(global float *out)
{
    point a = {1, 2};
    point b = swap(a);
    scale(&b, 10);
    point c[2] = {{3, 4}, {.y = 6, .x = 5}};
    c[1] = swap(c[1]);
    struct { point inner[2]; int n; } nest = {{{7, 8}}, 9};
    nest.inner[1] = b;
    out[0] = a.x; out[1] = a.y; out[2] = b.x; out[3] = b.y;
    out[4] = c[0].x; out[5] = c[1].x; out[6] = c[1].y;
    out[7] = nest.inner[0].y; out[8] = nest.inner[1].x; out[9] = nest.n;
}
// run: helpers global=1
// arg out: float[10]
// expect out: {1, 2, 20, 10, 3, 6, 5, 8, 20, 9}
