// Each line with an error is checked alone: invalid OpenCL C 1.2.
float gv; // error: program scope variable must reside in constant address space
__constant int noinit; // error: variable in constant address space must be initialized
__constant int bad = get_x(); // error: implicit declaration of function 'get_x' is invalid in OpenCL
__local int lv; // error: program scope variable must reside in constant address space
struct S { int a; };
struct Inc;
int rec(int n) { return n ? rec(n - 1) : 0; } // error: recursion is not supported in OpenCL: 'rec' calls itself
int undefd(int);
private int ps() { return 1; } // error: return type cannot be qualified with address space
local int *lp(local int *p) { return p; }
void h(__local int *p, int q) { 
  __local int x; // error: non-kernel function variable cannot be declared in local address space
  static int y; // error: variables in function scope cannot be declared 'static' in OpenCL C 1.2
  __constant int z = 3; // error: non-kernel function variable cannot be declared in constant address space
  p = &q; // error: assigning '__private int *' to '__local int *' changes address space of pointer
}
__kernel int badret() { return 1; } // error: kernel must have void return type
__kernel void pp(__global int **p) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
__kernel void priv(int *p) {} // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
__kernel void bf(__global int *out, struct { int a; int *p; } s) {} // error: struct kernel parameters may not contain pointers: 'struct (anonymous)' has a member of type '__private int *'
struct BF { int a : 3; }; // error: bit-fields are not supported in OpenCL
int (*fp)(int); // error: pointers to functions are not allowed
__kernel void t(__global int *out, __constant int *c, __global const int *ci, int n)
{
  out[0] = undefinedv; // error: use of undeclared identifier 'undefinedv'
  undeff(1); // error: implicit declaration of function 'undeff' is invalid in OpenCL
  undefd(1); // error: undefined reference to function 'undefd'
  c[0] = 1; // error: read-only variable is not assignable
  *ci = 2; // error: read-only variable is not assignable
  const int k = 1;
  k = 2; // error: cannot assign to variable 'k' with const-qualified type 'const int'
  k++; // error: cannot assign to variable 'k' with const-qualified type 'const int'
  int a[n]; // error: variable length arrays are not supported in OpenCL
  int b[-1]; // error: array declared with a negative size
  float4 v; int4 iv; 
  v + iv; // error: cannot convert between vector type 'float4' and vector type 'int4' as implicit conversion would cause truncation
  v = iv; // error: assigning to 'float4' from incompatible type 'int4'
  v.q; // error: illegal vector component name 'q'
  v.xyzwx; // error: vector component access has invalid length 5; supported: 1,2,3,4,8,16
  v.s4; // error: vector component access exceeds type 'float4'
  v.xx = (float2)1; // error: vector is not assignable (contains duplicate components)
  struct S s;
  s.b = 1; // error: no member named 'b' in 'struct S'
  s->a = 1; // error: member reference type 'struct S' is not a pointer; did you mean to use '.'?
  out.x = 1; // error: member reference base type '__global int *' is not a structure or union
  struct Inc inc; // error: variable has incomplete type 'struct Inc'
  if (s) {} // error: statement requires expression of scalar type ('struct S' invalid)
  while (v) {} // error: statement requires expression of scalar type ('float4' invalid)
  switch (1.0f) {} // error: statement requires expression of integer type ('float' invalid)
  switch (n) { case 1: case 1: break; case n: break; default: default: ; } // error: duplicate case value '1' // error: expression is not an integer constant expression // error: multiple default labels in one switch
  break; // error: 'break' statement not in loop or switch statement
  continue; // error: 'continue' statement not in loop statement
  case 3: ; // error: 'case' statement not in switch statement
  goto nowhere; // error: use of undeclared label 'nowhere'
  h(out, 1); // error: passing '__global int *' to parameter of type '__local int *' changes address space of pointer
  h(0); // error: too few arguments to function call, expected 2, have 1
  h(0, 1, 2); // error: too many arguments to function call, expected 2, have 3
  1 = n; // error: expression is not assignable
  n(); // error: called object type 'int' is not a function or function pointer
  &1; // error: cannot take the address of an rvalue of type 'int'
  *n; // error: indirection requires pointer operand ('int' invalid)
  n[n]; // error: subscripted value is not an array, pointer, or vector
  out % 2; // error: invalid operands to binary expression ('__global int *' and 'int')
  1.0f % 2; // error: invalid operands to binary expression ('float' and 'int')
  1.0f & 2; // error: invalid operands to binary expression ('float' and 'int')
  (float4)(1, 2, 3); // error: too few elements in vector initialization (expected 4 elements, have 3)
  (int4)v; // error: invalid conversion between ext-vector type 'int4' and 'float4'; use convert_int4 or as_int4
  as_int(v); // error: invalid reinterpretation: sizes of 'int' and 'float4' must match
  convert_int4(1.0f); // error: invalid argument type 'float' to function 'convert_int4', expecting a vector of 4 elements
  sin(s); // error: no matching function for call to 'sin' with arguments of type 'struct S'
  sin(); // error: too few arguments to function call 'sin', expected 1, have 0
  __local float loc = 1; // error: '__local' variable cannot have an initializer
  { __local float l2; } // error: variables in the local address space can only be declared in the outermost scope of a kernel function
  __local int *lpp = out; // error: initializing '__local int *' with an expression of type '__global int *' changes address space of pointer
  __local int *lp3 = (__local int *)out; // error: casting '__global int *' to type '__local int *' changes address space of pointer
  int dup; float dup; // error: redefinition of 'dup'
  { float4 x; x = 1; }
  return 1; // error: void function 't' should not return a value
  dot(v, iv); // error: no matching function for call to 'dot' with arguments of type 'float4', 'int4'
  atomic_add(&n, 1); // error: no matching function for call to 'atomic_add' with arguments of type '__private int *', 'int'
  barrier(); // error: too few arguments to function call 'barrier', expected 1, have 0
  vload4(out); // error: too few arguments to function call 'vload4', expected 2, have 1
  n = out; // error: incompatible pointer to integer conversion assigning to 'int' from '__global int *'
  out = n; // error: incompatible integer to pointer conversion assigning to '__global int *' from 'int'
  sizeof(struct Inc); // error: invalid application of 'sizeof' to an incomplete type 'struct Inc'
  void vv; // error: variable has incomplete type 'void'
  int ar[2] = { 1, 2, 3 };
  int ar2[2] = 3; // error: array initializer must be an initializer list
  struct S s2 = { .zz = 1 }; // error: field designator 'zz' does not refer to any field in type 'struct S'
  int ar3[2] = { [5] = 1 }; // error: array designator index (5) exceeds array bounds (2)
}

// More errors, at file scope or each in a separate function.
void voidparam(int a, void b) {} // error: argument may not have 'void' type
kernel void twice(global int *p) {}
kernel void twice(global int *p) {} // error: redefinition of 'twice'
int conflict(int a);
float conflict(int a) { return 0; } // error: conflicting types for 'conflict'
int samename(int a) { return a; }
int samename(float a) { return 1; } // error: conflicting types for 'samename'
kernel void boolarg(bool b) {} // error: 'bool' cannot be used as the type of a kernel parameter
kernel void sizearg(size_t n) {} // error: 'size_t' cannot be used as the type of a kernel parameter
kernel void eventarg(event_t e) {} // error: 'event_t' cannot be used as the type of a kernel parameter
void localparam(local int x) {} // error: parameter may not be qualified with an address space
void variadic(int n, ...) {} // error: invalid prototype, variadic arguments are not allowed in OpenCL
enum Unknown forward; // error: variable has incomplete type 'enum Unknown'
struct Dup { int a; float a; }; // error: duplicate member 'a'
struct HasVoid { void v; }; // error: field has incomplete type 'void'
struct Self { struct Self inner; }; // error: field has incomplete type 'struct Self'
int arrayret()[3]; // error: function cannot return array type 'int[3]'
typedef int T1; typedef float T1; // error: redefinition of 'T1'
constant int arr0[2] = { 1, n }; // error: use of undeclared identifier 'n'
constant float4 cv = sin(1.0f); // error: initializer element is not a compile-time constant
__attribute__((reqd_work_group_size(0, 1, 1))) kernel void zero(global int *p) {} // error: 'reqd_work_group_size' attribute must be greater than 0
__attribute__((reqd_work_group_size(8, 1))) kernel void two(global int *p) {} // error: 'reqd_work_group_size' attribute requires exactly 3 arguments
struct __attribute__((aligned(3))) Three { int a; }; // error: requested alignment is not a power of 2
_Static_assert(sizeof(int) == 5, "size"); // error: static assertion failed: size
int nonvoid(int a) { return; } // error: non-void function 'nonvoid' should return a value
kernel void images(read_only image1d_t *im) {} // error: pointer to type
void fnptr(int (*f)(int)) {} // error: pointers to functions are not allowed
int block(int a) { int (^b)(int); return a; } // error: blocks are not supported: OpenCL C 2.0 or newer is required
void casts(global int *g, int i, float f, struct Dup2 { int a; } d) {
  (local int *)g; // error: casting '__global int *' to type '__local int *' changes address space of pointer
  (int *)f; // error: 'float' cannot be cast to type '__private int *'
  (float)g; // error: '__global int *' cannot be cast to type 'float'
  (struct Dup2)i; // error: used type 'struct Dup2' where arithmetic or pointer type is required
  (int)d; // error: operand of type 'struct Dup2' where arithmetic or pointer type is required
  d = 1; // error: assigning to 'struct Dup2' from incompatible type 'int'
  i = d; // error: assigning to 'int' from incompatible type 'struct Dup2'
  &i = 0; // error: expression is not assignable
  i++ = 1; // error: expression is not assignable
  (i) ? d : i; // error: incompatible operand types ('struct Dup2' and 'int')
  g = (constant int *)g; // error: casting '__global int *' to type '__constant int *' changes address space of pointer
  float4 v = 0; v.xyz = (float2)1; // error: assigning to 'float3' from incompatible type 'float2'
  select((float4)1, (float4)2, (float4)3); // error: no matching function for call to 'select' with arguments of type 'float4', 'float4', 'float4'
  select(1, 2, 3.0f); // error: no matching function for call to 'select' with arguments of type 'int', 'int', 'float'
  mul24(1.5f, 2); // error: no matching function for call to 'mul24' with arguments of type 'float', 'int'
  upsample((short)1, (short)2, 1); // error: too many arguments to function call 'upsample', expected 2, have 3
  nan(1.5f); // error: no matching function for call to 'nan' with arguments of type 'float'
  shuffle((float4)1, (int4)1); // error: no matching function for call to 'shuffle' with arguments of type 'float4', 'int4'
  printf(g); // error: format of 'printf' must be a string literal in constant memory
  async_work_group_copy(g, g, 1, 0); // error: no matching function for call to 'async_work_group_copy' with arguments of type '__global int *', '__global int *', 'int', 'int'
  atomic_xchg((local double *)0, 1.0); // error: no matching function for call to 'atomic_xchg' with arguments of type '__local double *', 'double'
  vstore4((float4)1, 0, (constant float *)0); // error: no matching function for call to 'vstore4' with arguments of type 'float4', 'int', '__constant float *'
  convert_int_sat_foo(1.0f); // error: implicit declaration of function 'convert_int_sat_foo' is invalid in OpenCL
  as_float3((float2)1); // error: invalid reinterpretation: sizes of 'float3' and 'float2' must match
  __builtin_nothing(1); // error: use of unknown builtin '__builtin_nothing'
  "text"[0] = 'a'; // error: read-only variable is not assignable
  case 1: i = 2; // error: 'case' statement not in switch statement
  for (int q = 0; d; q++) ; // error: statement requires expression of scalar type ('struct Dup2' invalid)
  int *pp = g; // error: initializing '__private int *' with an expression of type '__global int *' changes address space of pointer
  int i2 = 1, i2 = 2; // error: redefinition of 'i2'
}
