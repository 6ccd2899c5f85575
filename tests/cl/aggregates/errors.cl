// Invalid structures, unions and initialisers.
struct bits { int a : 3; };                  // error: bit-fields are not supported in OpenCL
struct itself { struct itself s; };          // error: field has incomplete type 'struct itself'
struct twice { int a; float a; };            // error: duplicate member 'a'
struct late { int n[]; int m; };             // error: field has incomplete type
struct middle { int n; int m[]; int o; };    // error: flexible array member is not at the end
union flexible { int a; int b[]; };          // error: field has incomplete type
struct odd { int a __attribute__((aligned(3))); };   // error: requested alignment is not a power of 2
typedef struct { int x, y; } point;
void f(void)
{
    point p = {1, 2, 3};                     // warning: excess elements in struct initializer
    point q = {.z = 1};                      // error: field designator 'z' does not refer to any field in type
    int a[2] = {[2] = 1};                    // error: array designator index (2) exceeds array bounds (2)
    int b[4] = {[3 ... 1] = 1};              // error: array designator range [3, 1] is empty
    int c[2] = {1, 2, 3};                    // warning: excess elements in array initializer
    point r = 1;                             // error: initializing
    int d[2] = 1;                            // error: array initializer must be an initializer list
    struct unknown s;                        // error: variable has incomplete type 'struct unknown'
    p = 1;                                   // error: assigning to
    p.z = 1;                                 // error: no member named 'z' in
    p->x = 1;                                // error: is not a pointer; did you mean to use '.'?
    point *pp = &p;
    pp.x = 1;                                // error: is a pointer; did you mean to use '->'?
}
