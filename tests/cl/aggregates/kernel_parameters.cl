// Structures that kernels cannot take by value.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
struct with_bool { int a; bool b; };
struct with_size { size_t n; };
struct nested { struct with_size inner[2]; };
struct with_pointer { global int *p; };
kernel void a(struct with_bool s) {}        // error: it has a member of type 'bool'
kernel void b(struct with_size s) {}        // error: it has a member of type 'size_t'
kernel void c(struct nested s) {}           // error: it has a member of type 'size_t'
kernel void d(struct with_pointer s) {}     // error: may not contain pointers
kernel void e(global struct with_bool *s) {}
kernel void f(bool b) {}                    // error: 'bool' cannot be used as the type of a kernel parameter
kernel void g(size_t n) {}                  // error: 'size_t' cannot be used as the type of a kernel parameter
kernel void h(ptrdiff_t n) {}               // error: 'ptrdiff_t' cannot be used as the type of a kernel parameter
kernel void i(intptr_t n) {}                // error: 'intptr_t' cannot be used as the type of a kernel parameter
kernel void j(uintptr_t n) {}               // error: 'uintptr_t' cannot be used as the type of a kernel parameter
kernel void k(event_t e) {}                 // error: 'event_t' cannot be used as the type of a kernel parameter
