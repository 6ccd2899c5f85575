// Initialisers: designators in all forms, ranges, nested and missing braces, compound literals, strings.
typedef struct { int x, y; } point;
typedef struct { point a; struct { int b[3]; } inner; union { int u; float f; }; int last; } shape;
typedef struct { char name[8]; int values[4]; } entry;

int sum(const int *list, int count)
{
    int total = 0;
    for (int i = 0; i < count; ++i)
        total += list[i] * (i + 1);
    return total;
}
int dot_of(const point *p) { return p->x * 10 + p->y; }
int whole(shape s) { return s.a.x + 10 * s.a.y + 100 * s.inner.b[0] + 1000 * s.inner.b[1] + 10000 * s.inner.b[2] + 100000 * s.u + 1000000 * s.last; }

constant shape fixed[] = {[1] = {.last = 9, .inner.b[2] = 3, .a = {1, 2}}, [0].a.y = 5, [2] = {{1, 2}, {{3, 4, 5}}, {6}, 7}};
constant int sparse[] = {[2 ... 4] = 7, [7] = 1, 2};
constant entry entries[2] = {{"abc", {1, 2}}, {.values[1 ... 2] = 4, .name = "de"}};

kernel void lists(global int *out, int n)
{
    int a[] = {1, 2, 3};
    int b[5] = {[1] = 2, 3, [0] = 9};
    int c[8] = {[0 ... 3] = n, [4 ... 6] = 2, [7] = 3};
    int d[2][3] = {1, 2, 3, 4};
    int e[2][2] = {[1] = {[1] = 5}, [0][1] = 6};
    point p = {y: 3, x: n};
    point q = {.y = n};
    point list[] = {[1].x = 1, [1].y = 2, {3, 4}};
    shape s = {{1, 2}, {{3, 4, 5}}, {6}, 7};
    shape t = {1, 2, 3, 4, 5, 6, 7};
    shape u = {.inner = {.b = {[1] = n}}, .last = 1, .a.x = 2};
    point from_helper[2] = {p, {q.y, p.x}};
    out[0] = sum(a, 3) + 100 * (sizeof(a) / sizeof(a[0]));
    out[1] = sum(b, 5);
    out[2] = sum(c, 8);
    out[3] = sum(&d[0][0], 6);
    out[4] = sum((int *)e, 4);
    out[5] = dot_of(&p) + 100 * dot_of(&q);
    out[6] = dot_of(&list[0]) + 100 * dot_of(&list[1]) + 10000 * dot_of(list + 2);
    out[7] = whole(s);
    out[8] = whole(t);
    out[9] = whole(u);
    out[10] = dot_of(&from_helper[0]) + 100 * dot_of(&from_helper[1]);
    out[11] = dot_of(&(point){n, 1}) + sum((int[]){1, 2, n}, 3) * 100;
    out[12] = whole((shape){.u = n}) + ((point){.x = 4}).x;
    out[13] = whole(fixed[0]);
    out[14] = whole(fixed[1]);
    out[15] = whole(fixed[2]);
    out[16] = sparse[0] + sparse[2] + 10 * sparse[4] + 100 * sparse[7] + 1000 * sparse[8] + 10000 * (sizeof(sparse) / sizeof(int));
    out[17] = entries[0].name[2] + entries[0].name[3] + 256 * entries[0].values[1] + 4096 * entries[1].values[2] + 65536 * entries[1].name[0];
    int *pointer = (int[3]){[2] = 8};
    pointer[0] = 1;
    out[18] = sum(pointer, 3);
    char text[] = "ab" "cd";
    char cut[3] = "abc";
    out[19] = sizeof(text) * 1000 + text[3] + cut[2];
    // A designator may name an aggregate without braces: the following values continue inside it.
    point tail[3] = {[1] = n, 7, 8};
    shape inner = {.inner = 1, 2, .a = n, 6};
    out[20] = dot_of(&tail[1]) + 100 * dot_of(&tail[2]) + dot_of(&tail[0]);
    out[21] = whole(inner);
}
// run: lists global=1
// arg out: int[22]
// arg n: int = 4
// expect out: {
//   314, 9 + 4 + 9, 40 + 36 + 24, 1 + 4 + 9 + 16, 12 + 20, 443, 340000 + 1200, 7654321, 7654321, 1004002,
//   43 + 4400, 41 + 1700, 400004, 50, 9030021, 7654321, 70 + 7 * 0 + 100 + 2000 + 90000 + 7, 99 + 512 + 16384 + 6553600, 25, 5199,
//   47 + 8000, 2164}
