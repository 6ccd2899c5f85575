// The names of address spaces are reserved words, not identifiers.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
void f(void)
{
    int global = 1;       // error: 'global' names an address space
    int __global = 1;     // error: '__global' names an address space
    int local = 1;        // error: 'local' names an address space
    int __local = 1;      // error: '__local' names an address space
    int constant = 1;     // error: 'constant' names an address space
    int __constant = 1;   // error: '__constant' names an address space
    int private = 1;      // error: 'private' names an address space
    int __private = 1;    // error: '__private' names an address space
    int generic = 1;      // error: 'generic' names an address space
    int __generic = 1;    // error: '__generic' names an address space
}
void g(int local)         // error: 'local' names an address space
{
}
struct s {
    int global;           // error: 'global' names an address space
};
