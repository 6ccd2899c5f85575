// A prototype may name a structure that is completed before the definition and the calls (C99 6.7.5.3).

struct S;
int first(struct S s);
struct S second(int x);
struct S unused(struct S s);
struct Never;
struct Never never(struct Never n);
struct S { int a; };
int first(struct S s) { return s.a + 1; }

kernel void run(global int *o)
{
    struct S s = {4};
    o[0] = first(s) + second(6).a;
}
// run: run global=1
// arg o: int[1]
// expect o: 12

struct S second(int x)
{
    struct S s;
    s.a = x + 1;
    return s;
}
