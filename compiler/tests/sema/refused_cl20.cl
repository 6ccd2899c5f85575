// Address spaces: invalid OpenCL C 2.0.
// build: -cl-std=CL2.0
global int baz;
global float bfl;
constant int *global ptr = &baz; // error: initializing '__constant int *' with an expression of type '__global int *' changes address space of pointer
global event_t ev; // error: the 'event_t' type cannot be used to declare a program scope variable
local int lv; // error: program scope variable must reside in global or constant address space
private int pv; // error: program scope variable must reside in global or constant address space
constant int ci = 3;
kernel void k(global int *out, constant int *c, local int *l, int n) {
  int *g = out; 
  g = c; // error: assigning '__constant int *' to '__generic int *' changes address space of pointer
  c = g; // error: assigning '__generic int *' to '__constant int *' changes address space of pointer
  c = (constant int *)g; // error: casting '__generic int *' to type '__constant int *' changes address space of pointer
  g = (int *)c; // error: casting '__constant int *' to type '__generic int *' changes address space of pointer
  global int *o = g; // error: initializing '__global int *' with an expression of type '__generic int *' changes address space of pointer
  l = g; // error: assigning '__generic int *' to '__local int *' changes address space of pointer
  o = l; // error: use of undeclared identifier 'o'
  ci = 3; // error: cannot assign to variable 'ci' in '__constant' address space
  global int gx; // error: function scope variable cannot be declared in global address space
  generic int ge; // error: automatic variable qualified with an invalid address space
  to_global(c); // error: no matching function for call to 'to_global' with arguments of type '__constant int *'
  static local int sl; // error: static variable must reside in global or constant address space
}
kernel void k2(int *p) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
kernel void k3(generic int *p) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
kernel void k4(private int *p) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
kernel void k5(int a[4]) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
private int f1() { return 1; } // error: return type cannot be qualified with address space
local int * private f2() { return 0; } // error: return type cannot be qualified with address space
int global; // error: 'global' names an address space and cannot be an identifier
