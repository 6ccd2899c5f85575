// Several functions in one declaration that also defines their result type; assertions between members.
struct pair { int x; _Static_assert(sizeof(int) == 4, "the size of int"); int y; } swapped(struct pair *p), twice(int x);

struct pair swapped(struct pair *p)
{
    return (struct pair){p->y, p->x};
}

struct pair twice(int x)
{
    return (struct pair){x, x};
}

kernel void k(global int *out)
{
    struct pair p = {1, 2}, q = swapped(&p), r = twice(7);
    out[0] = q.x;
    out[1] = q.y;
    out[2] = r.x + r.y;
}
// run: k global=1
// arg out: int[3]
// expect out: {2, 1, 14}
