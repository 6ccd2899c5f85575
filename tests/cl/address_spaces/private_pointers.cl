// Pointers to private memory: through helpers, arrays, structures, unions, and casts between element types.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
typedef struct { int a; float b; int c[3]; } record;
typedef union { uint word; uchar bytes[4]; ushort halves[2]; float real; } punned;

void add(int *to, const int *from) { *to += *from; }
int *second(int *list) { return &list[1]; }
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int total(const int *list, int count)
{
    int sum = 0;
    for (const int *p = list; p != list + count; ++p)
        sum += *p;
    return sum;
}
void fill(record *r, int x) { r->a = x; r->b = x * 0.5f; for (int i = 0; i < 3; ++i) r->c[i] = x + i; }

kernel void pointers(global int *out)
{
    int i = get_global_id(0);
    int list[4] = {i, 2 * i, 3 * i, 4 * i};
    int *p = list;
    add(p, second(list));
    swap(&list[2], p + 3);
    record r;
    fill(&r, i);
    float *f = &r.b;
    int *row[2] = {r.c, list};
    punned u;
    u.real = 1.0f;
    uchar *bytes = (uchar *)&u;
    short *halves = (short *)&list[1];
    global int *o = out + 8 * i;
    o[0] = list[0];
    o[1] = list[2] * 100 + list[3];
    o[2] = total(list, 4);
    o[3] = r.a + (int)(*f * 2) + row[0][2];
    o[4] = row[1][1];
    o[5] = bytes[3] * 256 + bytes[2];
    o[6] = halves[0] + halves[1];
    o[7] = *(int *)&u.halves[1 - 1];
}
// run: pointers global=5
// arg out: int[40]
// expect out if i % 8 == 0: 3 * (i / 8)
// expect out if i % 8 == 1: 403 * (i / 8)
// expect out if i % 8 == 2: 12 * (i / 8)
// expect out if i % 8 == 3: 3 * (i / 8) + 2
// expect out if i % 8 == 4: 2 * (i / 8)
// expect out if i % 8 == 5: 0x3f80
// expect out if i % 8 == 6: 2 * (i / 8)
// expect out if i % 8 == 7: 0x3f800000
